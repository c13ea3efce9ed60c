// harness/profile/roofs/roof_kernels.inl - the loops of roof_kernels.h for the instruction set that the including file
// is built for. Each including file is compiled with its own flags, so it may call nothing that the linker could share
// with others: no standard library here, and everything is static.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "harness/profile/roofs/roof_kernels.h"

namespace apo {
namespace {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
using Vector = float __attribute__((vector_size(kLanes * sizeof(float)), may_alias));

// Latency 4 times 2 pipes needs 8 chains; 12 leave room for 16 vector registers and slower pipes.
constexpr int kChains = 12;

inline Vector splat(float value) {
  return value - Vector{};
}

inline Vector clamped(Vector x, float limit) {
#if defined(__AVX512F__)
  return _mm512_max_ps(_mm512_min_ps(x, splat(limit)), splat(-limit));
#elif defined(__AVX2__)
  return _mm256_max_ps(_mm256_min_ps(x, splat(limit)), splat(-limit));
#elif defined(__x86_64__)
  return _mm_max_ps(_mm_min_ps(x, splat(limit)), splat(-limit));
#else
  const Vector low = x < splat(-limit) ? splat(-limit) : x;
  return low > splat(limit) ? splat(limit) : low;
#endif
}

// Relative error at most 2^-14.
inline Vector reciprocal(Vector x) {
#if defined(__AVX512F__)
  return _mm512_rcp14_ps(x);
#elif defined(__AVX2__)
  const Vector estimate = _mm256_rcp_ps(x);
  return estimate * (2.0f - x * estimate);
#elif defined(__x86_64__)
  const Vector estimate = _mm_rcp_ps(x);
  return estimate * (2.0f - x * estimate);
#else
  return 1.0f / x;
#endif
}

// The minimax rational of degree 5/4 for tanh on [-4.8, 4.8] (Remez, relative error 2^-14.6); beyond, tanh(4.8) is
// within 2^-13.9 of 1.
inline Vector approximate_tanh(Vector x) {
  const Vector y = clamped(x, 4.8f);
  const Vector square = y * y;
  const Vector numerator = (6.89910899e-4f * square + 0.103027984f) * square + 0.999958873f;
  const Vector denominator = (0.0130090294f * square + 0.436100364f) * square + 1.0f;
  return y * numerator * reciprocal(denominator);
}

inline float sum_of(Vector values) {
  float sum = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    sum += values[lane];
  }
  return sum;
}

float vector_fma(std::int64_t steps, float factor, float addend) {
  Vector chains[kChains];
  for (int i = 0; i < kChains; ++i) {
    chains[i] = splat(static_cast<float>(i));
  }
  const Vector a = splat(factor);
  const Vector b = splat(addend);
  for (std::int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) {
      chains[i] = chains[i] * a + b;
    }
  }
  float sum = 0;
  for (int i = 0; i < kChains; ++i) {
    sum += sum_of(chains[i]);
  }
  return sum;
}

float scalar_fma(std::int64_t steps, float factor, float addend) {
  float chains[kChains];
  for (int i = 0; i < kChains; ++i) {
    chains[i] = static_cast<float>(i);
  }
  for (std::int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) {
      chains[i] = chains[i] * factor + addend;
    }
  }
  float sum = 0;
  for (int i = 0; i < kChains; ++i) {
    sum += chains[i];
  }
  return sum;
}

const Vector& vector_at(const float* pointer) {
  return *reinterpret_cast<const Vector*>(pointer);
}
Vector& vector_at(float* pointer) {
  return *reinterpret_cast<Vector*>(pointer);
}

float tanh_sum(const float* x, std::size_t count) {
  Vector sums[4] = {};
  for (std::size_t i = 0; i < count; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (std::size_t part = 0; part < 4; ++part) {
      sums[part] += approximate_tanh(vector_at(x + i + part * kLanes));
    }
  }
  return sum_of(sums[0] + sums[1] + sums[2] + sums[3]);
}

void tanh_values(const float* x, float* y, std::size_t count) {
  for (std::size_t i = 0; i < count; i += kLanes) {
    vector_at(y + i) = approximate_tanh(vector_at(x + i));
  }
}

void copy(float* to, const float* from, std::size_t count) {
  for (std::size_t i = 0; i < count; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (std::size_t part = 0; part < 4; ++part) {
      vector_at(to + i + part * kLanes) = vector_at(from + i + part * kLanes);
    }
  }
}

void copy_streaming(float* to, const float* from, std::size_t count) {
#if defined(__x86_64__)
  for (std::size_t i = 0; i < count; i += kLanes) {
#if defined(__AVX512F__)
    _mm512_stream_ps(to + i, vector_at(from + i));
#elif defined(__AVX2__)
    _mm256_stream_ps(to + i, vector_at(from + i));
#else
    _mm_stream_ps(to + i, vector_at(from + i));
#endif
  }
  _mm_sfence();
#else
  copy(to, from, count);
#endif
}

constexpr RoofKernels roof_kernels(const char* isa) {
  return {.isa = isa,
          .lanes = kLanes,
          .fma_per_step = kChains,
          .vector_fma = vector_fma,
          .scalar_fma = scalar_fma,
          .tanh_sum = tanh_sum,
          .tanh_values = tanh_values,
          .copy = copy,
          .copy_streaming = copy_streaming};
}

}  // namespace
}  // namespace apo
