// apo:variant    e88_forward/simple
// apo:target     host
// apo:technique  stepwise-recurrence
// apo:idea       The original's phases in plain scalar code: a norm pass, one step at a time, and a gate pass.
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    ungated 4*B*T*H*V
#include <algorithm>
#include <bit>
#include <cmath>

#include "e88_forward.args.h"

namespace {

constexpr int64_t kSegment = 16;  // steps between two checkpoints

float load(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// Round to nearest even; NaN stays NaN.
uint16_t store(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return static_cast<uint16_t>((value == value ? rounded : bits | 0x400000u) >> 16);
}

void load(const uint16_t* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) {
    to[i] = load(from[i]);
  }
}

void store(const float* from, int64_t count, uint16_t* to) {
  for (int64_t i = 0; i < count; ++i) {
    to[i] = store(from[i]);
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

// delta = v - S^T k
void retrieve(const float* S, const float* k, const float* v, float* delta) {
  std::copy_n(v, kV, delta);
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t j = 0; j < kV; ++j) {
      delta[j] -= S[i * kV + j] * k[i];
    }
  }
}

void update(float* S, const float* k, const float* delta, float decay) {
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t j = 0; j < kV; ++j) {
      S[i * kV + j] = std::tanh(decay * S[i * kV + j] + k[i] * delta[j]);
    }
  }
}

// y = S^T q
void query(const float* S, const float* q, float* y) {
  std::fill_n(y, kV, 0.0f);
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t j = 0; j < kV; ++j) {
      y[j] += S[i * kV + j] * q[i];
    }
  }
}

void run_sequence(const e88_forward_args& a, int64_t b, int64_t h) {
  const int64_t sequence = b * a.H + h;
  float S[kN * kV], v[kV], delta[kV], y[kV];
  load(a.s0 + sequence * kN * kV, kN * kV, S);
  for (int64_t t = 0; t < a.T; ++t) {
    const int64_t row = (b * a.T + t) * a.H + h;
    if (t % kSegment == 0) {
      store(S, kN * kV, a.checkpoints + (t / kSegment * a.B * a.H + sequence) * kN * kV);
    }
    const float* k = static_cast<const float*>(a.unit_k) + row * kN;
    const float* q = static_cast<const float*>(a.unit_q) + row * kN;
    load(a.v + row * kV, kV, v);
    retrieve(S, k, v, delta);
    update(S, k, delta, load(a.decay[row]));
    query(S, q, y);
    std::copy_n(y, kV, static_cast<float*>(a.ungated) + row * kV);
    store(y, kV, a.y_cache + row * kV);
  }
  store(S, kN * kV, a.s_final + sequence * kN * kV);
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
