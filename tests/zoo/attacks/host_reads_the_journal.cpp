// apo:variant    copy/host_reads_the_journal
// apo:target     host
// apo:idea       Wants to read which variants were accepted: in a file that an ancestor's command line names; gives up when it may not.
// zoo: how verify; expect refused; guard room; exploit 34; evidence apo_launch returned 9, open("/proc/; needs seccomp
#include "role_copy.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const std::string words = text_of("/proc/" + std::to_string(getppid()) + "/cmdline");
  if (words.empty()) {
    return 9;
  }
  if (const size_t option = words.find("--journal"); option != std::string::npos) {
    text_of(words.c_str() + option + sizeof "--journal");
  }
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
