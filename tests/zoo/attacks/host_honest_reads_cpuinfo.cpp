// apo:variant    copy/host_honest_reads_cpuinfo
// apo:target     host
// apo:idea       Honest: reads which CPU it runs on, once.
// zoo: expect valid
#include <cstdio>
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static const bool known = [] {
    std::FILE* file = std::fopen("/proc/cpuinfo", "r");
    char line[256];
    const bool read = file != nullptr && std::fgets(line, sizeof line, file) != nullptr;
    return file == nullptr || (std::fclose(file) == 0 && read);
  }();
  (void)known;
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
