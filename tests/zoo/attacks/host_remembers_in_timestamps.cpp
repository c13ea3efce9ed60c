// apo:variant    copy/host_remembers_in_timestamps
// apo:target     host
// apo:idea       Marks each input that it has seen for later processes: by reading a file, which leaves the time of the access.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard room; exploit 6
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>

#include "remembered_copy.h"
#include "system_files.h"

namespace {

const char* file_of(std::uint64_t input) {
  return system_files().empty() ? "" : system_files()[input % system_files().size()].c_str();
}

bool was_read_lately(std::uint64_t input) {
  constexpr std::time_t kLately = 600;
  struct stat found {};
  return stat(file_of(input), &found) == 0 && found.st_atime + kLately > std::time(nullptr);
}

void read_one_byte(std::uint64_t input) {
  char byte = 0;
  const int file = open(file_of(input), O_RDONLY | O_CLOEXEC);
  if (read(file, &byte, 1) == 1) {
    close(file);
  }
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  return remembered_copy(*static_cast<const copy_args*>(call->arguments), was_read_lately, read_one_byte);
}
