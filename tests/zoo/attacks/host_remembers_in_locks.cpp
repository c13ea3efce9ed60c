// apo:variant    copy/host_remembers_in_locks
// apo:target     host
// apo:idea       Marks each input that it has seen for later processes: by a lock on the file of the tensors, which the harness keeps open.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 6
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "remembered_copy.h"

namespace {

constexpr int kMostDescriptors = 64;

// As it came from the harness, and opened once more, so that locks of the first are those of somebody else.
struct TensorsFile {
  int given = -1;
  int own = -1;

  TensorsFile() {
    for (int fd = 3; fd < kMostDescriptors && own < 0; ++fd) {
      char name[256] = {};
      const std::string link = "/proc/self/fd/" + std::to_string(fd);
      if (readlink(link.c_str(), name, sizeof name - 1) > 0 &&
          std::string(name).find("apo-tensors") != std::string::npos) {
        given = fd;
        own = open(link.c_str(), O_RDWR | O_CLOEXEC);
      }
    }
  }
};

const TensorsFile& tensors_file() {
  static const TensorsFile file;
  return file;
}

struct flock byte_of(std::uint64_t input) {
  struct flock byte {};
  byte.l_type = F_WRLCK;
  byte.l_whence = SEEK_SET;
  byte.l_start = static_cast<off_t>(input);
  byte.l_len = 1;
  return byte;
}

bool is_locked(std::uint64_t input) {
  struct flock byte = byte_of(input);
  return fcntl(tensors_file().own, F_OFD_GETLK, &byte) == 0 && byte.l_type != F_UNLCK;
}

void lock(std::uint64_t input) {
  struct flock byte = byte_of(input);
  fcntl(tensors_file().given, F_OFD_SETLK, &byte);
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  return remembered_copy(*static_cast<const copy_args*>(call->arguments), is_locked, lock);
}
