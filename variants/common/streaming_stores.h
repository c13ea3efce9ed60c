// variants/common/streaming_stores.h - stores that bypass the cache, so that the lines are not read before they are
// overwritten.
#pragma once
#include <cstdint>
#include <cstring>

#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace {

constexpr int64_t kLineBytes = 64;

// Bytes that are computed and then stored. In longer blocks, the loads of the next one wait for the stores; a single
// line is unrolled before it can be vectorised.
constexpr int64_t kStreamedBytes = 256;

template <class T, int64_t kCount>
struct Block {
  T values[static_cast<size_t>(kCount)];
};

// How many elements lie before the next line.
template <class T>
int64_t elements_before_line(const T* to) {
  const auto past = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % uintptr_t{kLineBytes});
  return (kLineBytes - past) % kLineBytes / static_cast<int64_t>(sizeof(T));
}

// Stores whole lines, to where one begins.
template <class T, int64_t kCount>
void stream(const Block<T, kCount>& block, T* to) {
  constexpr int64_t kBytes = sizeof block;
  static_assert(kBytes % kLineBytes == 0);
  const T* from = block.values;
#if defined(__AVX__)
  for (int64_t i = 0; i < kBytes / 32; ++i) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to) + i,
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + i));
  }
#elif defined(__SSE2__)
  for (int64_t i = 0; i < kBytes / 16; ++i) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + i));
  }
#else
  std::memcpy(to, from, static_cast<size_t>(kBytes));
#endif
}

// Streaming stores are not ordered with what the caller does next.
inline void finish_streams() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace
