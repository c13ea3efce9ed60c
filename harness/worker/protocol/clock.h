// harness/worker/protocol/clock.h - the clocks that times are read from.
#pragma once

#include <time.h>

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace apo {

inline std::int64_t read_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// Not slewed, and the same in parent and worker.
inline std::int64_t raw_ns() {
  return read_ns(CLOCK_MONOTONIC_RAW);
}

// Reads the time stamp counter after everything before it has finished and before anything after it has begun.
inline std::uint64_t read_ticks() {
#if defined(__x86_64__)
  _mm_lfence();
  const std::uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
#elif defined(__aarch64__)
  std::uint64_t ticks = 0;
  asm volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(ticks)::"memory");
  return ticks;
#else
  return static_cast<std::uint64_t>(raw_ns());
#endif
}

}  // namespace apo
