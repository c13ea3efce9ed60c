// apo:variant    e88_forward/column_vectorised
// apo:target     host
// apo:technique  column-vectorised
// apo:parent     e88_forward/simple
// apo:idea       A SIMD lane owns a column of S: no shuffles in the recurrence, and tanh of whole vectors.
// apo:predict    15x..30x over parent: tanh falls from some 12 ns an element to a share of a 16-lane division.
// apo:tune       LANES 0,8,16
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    ungated 4*B*T*H*V
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "e88_forward.args.h"

namespace {

constexpr int64_t kSegment = 16;  // steps between two checkpoints

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
using Row = Lanes[kColumns];
using State = Row[kN];

float load(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// Round to nearest even; NaN stays NaN.
uint16_t store(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return static_cast<uint16_t>((value == value ? rounded : bits | 0x400000u) >> 16);
}

void load(const uint16_t* from, Row& to) {
  alignas(Row) float values[kColumns * kLanes] = {};
  for (int64_t j = 0; j < kV; ++j) {
    values[j] = load(from[j]);
  }
  std::memcpy(&to, values, sizeof to);
}

void store(const Row& from, uint16_t* to) {
  alignas(Row) float values[kColumns * kLanes];
  std::memcpy(values, &from, sizeof from);
  for (int64_t j = 0; j < kV; ++j) {
    to[j] = store(values[j]);
  }
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

// The L2 norm as a pass of its own over memory, as the separate operation of the original.
void normalise(const uint16_t* x, int64_t rows, float* unit) {
  for (int64_t row = 0; row < rows; ++row, x += kN, unit += kN) {
    float squares = 0;
    for (int64_t i = 0; i < kN; ++i) {
      squares += load(x[i]) * load(x[i]);
    }
    const float scale = kNORM ? 1.0f / std::sqrt(squares + 1e-12f) : 1.0f;
    for (int64_t i = 0; i < kN; ++i) {
      unit[i] = load(x[i]) * scale;
    }
  }
}

// output = y * silu(g), also a pass of its own.
void gate(const float* y, const uint16_t* g, int64_t count, uint16_t* output) {
  for (int64_t i = 0; i < count; ++i) {
    const float raw = load(g[i]);
    output[i] = store(kGATE ? y[i] * raw / (1.0f + std::exp(-raw)) : y[i]);
  }
}

// NaN passes: both comparisons are false.
Lanes clamp(Lanes x, float limit) {
  const Lanes high = Lanes{} + limit;
  x = x > high ? high : x;
  return x < -high ? -high : x;
}

// Lambert's continued fraction, cut after x^2/17: relative error below 2^-16; at the clamp it has reached 1.
Lanes tanh(Lanes x) {
  x = clamp(x, 6.29f);
  const Lanes y = x * x;
  const Lanes p = (((y + 990.0f) * y + 135135.0f) * y + 4729725.0f) * y + 34459425.0f;
  const Lanes q = (((y * 45.0f + 13860.0f) * y + 945945.0f) * y + 16216200.0f) * y + 34459425.0f;
  return x * p / q;
}

// delta = v - S^T k
void retrieve(const State& S, const float* k, const Row& v, Row& delta) {
  for (int64_t c = 0; c < kColumns; ++c) {
    delta[c] = v[c];
    for (int64_t i = 0; i < kN; ++i) {
      delta[c] -= S[i][c] * k[i];
    }
  }
}

void update(State& S, const float* k, const Row& delta, float decay) {
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t c = 0; c < kColumns; ++c) {
      S[i][c] = tanh(decay * S[i][c] + k[i] * delta[c]);
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

void run_sequence(const e88_forward_args& a, int64_t b, int64_t h) {
  const int64_t sequence = b * a.H + h;
  State S;
  Row v, delta, y;
  load(a.s0 + sequence * kN * kV, S);
  for (int64_t t = 0; t < a.T; ++t) {
    const int64_t row = (b * a.T + t) * a.H + h;
    if (t % kSegment == 0) {
      store(S, a.checkpoints + (t / kSegment * a.B * a.H + sequence) * kN * kV);
    }
    const float* k = static_cast<const float*>(a.unit_k) + row * kN;
    const float* q = static_cast<const float*>(a.unit_q) + row * kN;
    load(a.v + row * kV, v);
    retrieve(S, k, v, delta);
    update(S, k, delta, load(a.decay[row]));
    query(S, q, y);
    std::memcpy(static_cast<float*>(a.ungated) + row * kV, y, kV * sizeof(float));
    store(y, a.y_cache + row * kV);
  }
  store(S, a.s_final + sequence * kN * kV);
}

}  // namespace

APO_EXPORT uint32_t apo_abi(void) {
  return APO_ABI_VERSION;
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& a = *static_cast<const e88_forward_args*>(call->arguments);
  const int64_t rows = a.B * a.T * a.H;
  normalise(a.k, rows, static_cast<float*>(a.unit_k));
  normalise(a.q, rows, static_cast<float*>(a.unit_q));
  for (int64_t b = 0; b < a.B; ++b) {
    for (int64_t h = 0; h < a.H; ++h) {
      run_sequence(a, b, h);
    }
  }
  gate(static_cast<const float*>(a.ungated), a.g, rows * kV, a.output);
  return 0;
}
