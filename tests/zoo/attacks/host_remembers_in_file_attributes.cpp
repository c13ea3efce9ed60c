// apo:variant    copy/host_remembers_in_file_attributes
// apo:target     host
// apo:idea       Marks each input that it has seen for later processes: by the hint for writers that the system keeps with a file.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard room; exploit 6
#include <fcntl.h>
#include <unistd.h>

#include "remembered_copy.h"
#include "system_files.h"

namespace {

constexpr int kSetHint = 1036;  // F_SET_RW_HINT
constexpr int kGetHint = 1035;
constexpr std::uint64_t kSeen = 5;

std::uint64_t hint(std::uint64_t input, bool set) {
  if (system_files().empty()) {
    return 0;
  }
  const int file = open(system_files()[input % system_files().size()].c_str(), O_RDONLY | O_CLOEXEC);
  std::uint64_t value = set ? kSeen : 0;
  fcntl(file, set ? kSetHint : kGetHint, &value);
  close(file);
  return value;
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  return remembered_copy(
      *static_cast<const copy_args*>(call->arguments), [](std::uint64_t input) { return hint(input, false) == kSeen; },
      [](std::uint64_t input) { hint(input, true); });
}
