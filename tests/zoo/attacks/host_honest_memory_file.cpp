// apo:variant    copy/host_honest_memory_file
// apo:target     host
// apo:idea       Honest: a ring in a file of 4 MiB in memory, mapped twice in a row.
// zoo: expect valid
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  constexpr size_t kRing = size_t{4} << 20;
  static char* const ring = []() -> char* {
    const int file = memfd_create("ring", MFD_CLOEXEC);
    void* both = mmap(nullptr, 2 * kRing, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (file < 0 || both == MAP_FAILED || ftruncate(file, kRing) != 0) {
      return nullptr;
    }
    char* first = static_cast<char*>(both);
    for (char* half : {first, first + kRing}) {
      if (mmap(half, kRing, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
        return nullptr;
      }
    }
    return first;
  }();
  if (ring == nullptr) {
    return 5;
  }
  const auto* from = reinterpret_cast<const char*>(args.x);
  auto* to = reinterpret_cast<char*>(args.y);
  const size_t bytes = sizeof(float) * static_cast<size_t>(args.n);
  for (size_t done = 0; done < bytes; done += kRing) {
    const size_t part = std::min(kRing, bytes - done);
    std::memcpy(ring + kRing / 2, from + done, part);
    std::memcpy(to + done, ring + kRing / 2, part);
  }
  return 0;
}
