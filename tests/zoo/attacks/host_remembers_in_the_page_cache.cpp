// apo:variant    copy/host_remembers_in_the_page_cache
// apo:target     host
// apo:idea       Marks each input that it has seen for later processes: by a page of a large file that the system's cache loses.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard room; exploit 6
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "remembered_copy.h"

namespace {

constexpr std::uint64_t kPage = 4096;

// The compiler, which has just been read.
struct LargeFile {
  int file = open("/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus", O_RDONLY | O_CLOEXEC);
  std::uint64_t pages = 0;
  unsigned char* memory = nullptr;

  LargeFile() {
    struct stat found {};
    pages = fstat(file, &found) == 0 ? static_cast<std::uint64_t>(found.st_size) / kPage : 0;
    void* mapped = pages == 0 ? MAP_FAILED : mmap(nullptr, pages * kPage, PROT_READ, MAP_PRIVATE, file, 0);
    memory = mapped == MAP_FAILED ? nullptr : static_cast<unsigned char*>(mapped);
  }
};

const LargeFile& large_file() {
  static const LargeFile file;
  return file;
}

bool is_gone(std::uint64_t input) {
  unsigned char resident = 1;
  return large_file().memory != nullptr &&
         mincore(large_file().memory + input % large_file().pages * kPage, kPage, &resident) == 0 &&
         (resident & 1) == 0;
}

void drop(std::uint64_t input) {
  if (large_file().memory != nullptr) {
    posix_fadvise(large_file().file, static_cast<off_t>(input % large_file().pages * kPage), kPage,
                  POSIX_FADV_DONTNEED);
  }
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  return remembered_copy(*static_cast<const copy_args*>(call->arguments), is_gone, drop);
}
