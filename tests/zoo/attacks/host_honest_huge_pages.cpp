// apo:variant    copy/host_honest_huge_pages
// apo:target     host
// apo:idea       Honest: works in a buffer of huge pages, where the system has them.
// zoo: how compare warm n4k; against copy/host_slow; expect faster
#include <sys/mman.h>

#include <cstring>

#include "copy.args.h"

namespace {

constexpr size_t kBytes = size_t{4} << 20;

float* huge_buffer() {
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  madvise(memory, kBytes, MADV_HUGEPAGE);  // without it the pages are small ones
  return static_cast<float*>(memory);
}

}  // namespace

int copy(const float* x, float* y, int64_t n) {
  static float* const buffer = huge_buffer();
  if (buffer == nullptr) {
    return 1;
  }
  constexpr int64_t kPart = kBytes / sizeof(float);
  for (int64_t begin = 0; begin < n; begin += kPart) {
    const size_t bytes = sizeof(float) * static_cast<size_t>(n - begin < kPart ? n - begin : kPart);
    std::memcpy(buffer, x + begin, bytes);
    std::memcpy(y + begin, buffer, bytes);
  }
  return 0;
}
