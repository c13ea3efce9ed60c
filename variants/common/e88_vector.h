// variants/common/e88_vector.h - a step of the E88 recurrence on SIMD lanes: a lane owns a column of the state.
// Needs the family's args.h with LANES, where 0 means as many as the CPU's vectors hold.
#pragma once
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "e88.h"

namespace {

#if defined(__AVX512F__)
constexpr int64_t kNativeLanes = 16;
#elif defined(__AVX__)
constexpr int64_t kNativeLanes = 8;
#else
constexpr int64_t kNativeLanes = 4;
#endif
constexpr int64_t kLanes = LANES > 0 ? LANES : kNativeLanes;
constexpr int64_t kColumns = (kV + kLanes - 1) / kLanes;  // vectors in a row of the state; lanes past V stay zero

typedef float Lanes __attribute__((vector_size(4 * kLanes)));
typedef uint32_t Bits __attribute__((vector_size(4 * kLanes)));
typedef int32_t Index __attribute__((vector_size(4 * kLanes)));
using Row = Lanes[kColumns];
using State = Row[kN];

// `count` elements; the lanes past them become zero.
template <int64_t count, class Vectors>
void load(const uint16_t* from, Vectors& to) {
  alignas(Vectors) float values[std::extent_v<Vectors> * kLanes] = {};
  for (int64_t i = 0; i < count; ++i) {
    values[i] = load(from[i]);
  }
  std::memcpy(&to, values, sizeof to);
}

template <int64_t count, class Vectors>
void store(const Vectors& from, uint16_t* to) {
  alignas(Vectors) float values[std::extent_v<Vectors> * kLanes];
  std::memcpy(values, &from, sizeof from);
  for (int64_t i = 0; i < count; ++i) {
    to[i] = store(values[i]);
  }
}

void load(const uint16_t* from, Row& to) {
  load<kV>(from, to);
}

void store(const Row& from, uint16_t* to) {
  store<kV>(from, to);
}

void load(const uint16_t* from, State& to) {
  for (int64_t i = 0; i < kN; ++i) {
    load(from + i * kV, to[i]);
  }
}

void store(const State& from, uint16_t* to) {
  for (int64_t i = 0; i < kN; ++i) {
    store(from[i], to + i * kV);
  }
}

// NaN passes: both comparisons are false.
Lanes clamp(Lanes x, float limit) {
  const Lanes high = Lanes{} + limit;
  x = x > high ? high : x;
  return x < -high ? -high : x;
}

struct Fraction {
  Lanes numerator, denominator;
};

// Lambert's continued fraction, cut after x^2/17: relative error below 2^-16; at the clamp it has reached 1.
[[gnu::always_inline]] inline Fraction tanh_fraction(Lanes x) {
  x = clamp(x, 6.29f);
  const Lanes y = x * x;
  const Lanes p = (((y + 990.0f) * y + 135135.0f) * y + 4729725.0f) * y + 34459425.0f;
  const Lanes q = (((y * 45.0f + 13860.0f) * y + 945945.0f) * y + 16216200.0f) * y + 34459425.0f;
  return {x * p, q};
}

Lanes tanh(Lanes x) {
  const Fraction fraction = tanh_fraction(x);
  return fraction.numerator / fraction.denominator;
}

// 1 / (1 + e^-x): e^-x = 2^n e^r with |r| <= ln(2)/2; adding 1.5 * 2^23 leaves n in the low bits.
Lanes sigmoid(Lanes x) {
  x = -clamp(x, 87.0f);
  const Lanes shifted = x * 1.44269504f + 12582912.0f;
  const Lanes n = shifted - 12582912.0f;
  const Lanes r = x - n * 0.693145752f - n * 1.42860677e-6f;
  const Lanes e = ((((r * (1.0f / 120) + 1.0f / 24) * r + 1.0f / 6) * r + 0.5f) * r + 1.0f) * r + 1.0f;
  const auto power = std::bit_cast<Lanes>((std::bit_cast<Bits>(shifted) << 23) + 0x3f800000u);
  return 1.0f / (1.0f + e * power);
}

template <int32_t... lane>
constexpr Index count_up(std::integer_sequence<int32_t, lane...>) {
  return Index{lane...};
}
constexpr Index kLane = count_up(std::make_integer_sequence<int32_t, kLanes>());

// delta = v - S^T k
void retrieve(const State& S, const float* k, const Row& v, Row& delta) {
  for (int64_t c = 0; c < kColumns; ++c) {
    delta[c] = v[c];
    for (int64_t i = 0; i < kN; ++i) {
      delta[c] -= S[i][c] * k[i];
    }
  }
}

// next = tanh(decay S + k delta^T); next may be S.
void update(const State& S, const float* k, const Row& delta, float decay, State& next) {
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t c = 0; c < kColumns; ++c) {
      next[i][c] = tanh(decay * S[i][c] + k[i] * delta[c]);
    }
  }
}

// y = S^T q
void query(const State& S, const float* q, Row& y) {
  for (int64_t c = 0; c < kColumns; ++c) {
    y[c] = Lanes{};
    for (int64_t i = 0; i < kN; ++i) {
      y[c] += S[i][c] * q[i];
    }
  }
}

// y as fp32, without the lanes past V, for a pass that reads it later
[[gnu::always_inline]] inline void copy_row(const Row& from, float* to) {
  std::memcpy(to, from, kV * sizeof(float));
}

}  // namespace
