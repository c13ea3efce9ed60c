// harness/worker/protocol/cold_cache.cpp - evicts caches with the instructions of this CPU.
#include "harness/worker/protocol/cold_cache.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace apo {

#if defined(__x86_64__)
namespace {

constexpr std::size_t kLine = 64;

bool has_clflushopt() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned kClflushoptBit = 1u << 23;  // leaf 7, EBX
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kClflushoptBit) != 0;
}

__attribute__((target("clflushopt"))) void flush_unordered(const std::byte* begin, const std::byte* end) {
  for (const std::byte* line = begin; line < end; line += kLine) {
    _mm_clflushopt(const_cast<std::byte*>(line));
  }
}

void flush_ordered(const std::byte* begin, const std::byte* end) {
  for (const std::byte* line = begin; line < end; line += kLine) {
    _mm_clflush(line);
  }
}

}  // namespace

void evict(const std::vector<std::span<const std::byte>>& ranges) {
  static const bool unordered = has_clflushopt();
  for (const std::span<const std::byte> range : ranges) {
    const std::byte* begin = range.data() - reinterpret_cast<std::uintptr_t>(range.data()) % kLine;
    const std::byte* end = range.data() + range.size();
    unordered ? flush_unordered(begin, end) : flush_ordered(begin, end);
  }
  _mm_mfence();
}

#else

void evict(const std::vector<std::span<const std::byte>>&) {
  constexpr long kAssumed = 64L << 20;  // where the system does not say how large its last-level cache is
  static std::vector<std::byte> sweep(2 * static_cast<std::size_t>(std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), kAssumed)),
                                      std::byte{1});
  volatile std::byte sink{};
  for (std::size_t i = 0; i < sweep.size(); i += 64) {
    sink = sweep[i];
  }
}

#endif

}  // namespace apo
