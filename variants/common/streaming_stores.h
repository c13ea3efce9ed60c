// variants/common/streaming_stores.h - stores that bypass the cache, so that the lines are not read before they are
// overwritten.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace {

// Copies `count` elements; what is no whole vector of 16 aligned bytes goes through the cache.
template <class T>
void stream(const T* from, T* to, int64_t count) {
#if defined(__SSE2__)
  constexpr int64_t kVector = 16 / sizeof(T);
  const auto misplaced = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % 16 / sizeof(T));
  const int64_t head = std::min(count, misplaced == 0 ? 0 : kVector - misplaced);
  std::memcpy(to, from, static_cast<size_t>(head) * sizeof(T));
  int64_t i = head;
  for (; i + kVector <= count; i += kVector) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
  std::memcpy(to + i, from + i, static_cast<size_t>(count - i) * sizeof(T));
#else
  std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
#endif
}

// Streaming stores are not ordered with what the caller does next.
inline void finish_streams() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace
