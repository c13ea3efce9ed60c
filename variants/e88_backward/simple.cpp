// apo:variant    e88_backward/simple
// apo:target     host
// apo:technique  segment-replay
// apo:idea       The original's phases in plain scalar code: replay 16 steps into a bf16 cache, then walk them back.
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 2*B*H*16*(N*V+N+V+1)
#include <algorithm>
#include <bit>
#include <cmath>

#include "e88_backward.args.h"

namespace {

constexpr int64_t kSegment = 16;                   // steps between two checkpoints
constexpr int64_t kEntry = kN * kV + kN + kV + 1;  // cached per step: S_{t-1}, k^, v, a

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

float inverse_norm(const uint16_t* x) {
  float squares = 0;
  for (int64_t i = 0; i < kN; ++i) {
    squares += load(x[i]) * load(x[i]);
  }
  return kNORM ? 1.0f / std::sqrt(squares + 1e-12f) : 1.0f;
}

// The L2 norm as a pass of its own over memory, as the separate operation of the original.
void normalise(const uint16_t* x, int64_t rows, float* unit) {
  for (int64_t row = 0; row < rows; ++row, x += kN, unit += kN) {
    const float scale = inverse_norm(x);
    for (int64_t i = 0; i < kN; ++i) {
      unit[i] = load(x[i]) * scale;
    }
  }
}

// dx = (dx^ - x^ (x^ . dx^)) rsqrt(|x|^2 + epsilon): exact, because x^ carries the same epsilon.
void chain_rule(const uint16_t* x, const float* unit, const float* gradient, int64_t rows, uint16_t* dx) {
  for (int64_t row = 0; row < rows; ++row, x += kN, unit += kN, gradient += kN, dx += kN) {
    const float scale = inverse_norm(x);
    float along = 0;
    for (int64_t i = 0; i < kN; ++i) {
      along += unit[i] * gradient[i];
    }
    for (int64_t i = 0; i < kN; ++i) {
      dx[i] = store(kNORM ? (gradient[i] - unit[i] * along) * scale : gradient[i]);
    }
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

void update(const float* S, const float* k, const float* delta, float decay, float* next) {
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t j = 0; j < kV; ++j) {
      next[i * kV + j] = std::tanh(decay * S[i * kV + j] + k[i] * delta[j]);
    }
  }
}

void replay_segment(const e88_backward_args& a, int64_t b, int64_t h, int64_t first, int64_t steps, uint16_t* history) {
  float S[kN * kV], k[kN], v[kV], delta[kV];
  load(a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kN * kV, kN * kV, S);
  for (int64_t s = 0; s < steps; ++s) {
    const int64_t row = (b * a.T + first + s) * a.H + h;
    const float decay = load(a.decay[row]);
    std::copy_n(static_cast<const float*>(a.unit_k) + row * kN, kN, k);
    load(a.v + row * kV, kV, v);
    uint16_t* entry = history + s * kEntry;
    store(S, kN * kV, entry);
    store(k, kN, entry + kN * kV);
    store(v, kV, entry + kN * kV + kN);
    entry[kEntry - 1] = a.decay[row];
    retrieve(S, k, v, delta);
    update(S, k, delta, decay, S);
  }
}

// dy = d_output * silu(g), dg = d_output * y * silu'(g); without a gate o = y.
void gate_gradient(const e88_backward_args& a, int64_t row, float* dy) {
  for (int64_t j = 0; j < kV; ++j) {
    const float d_output = load(a.d_output[row * kV + j]);
    const float g = load(a.g[row * kV + j]);
    const float sigmoid = 1.0f / (1.0f + std::exp(-g));
    const float slope = sigmoid * (1.0f + g * (1.0f - sigmoid));
    dy[j] = kGATE ? d_output * g * sigmoid : d_output;
    a.dg[row * kV + j] = store(kGATE ? d_output * load(a.y_cache[row * kV + j]) * slope : 0.0f);
  }
}

void reverse_step(const e88_backward_args& a, int64_t row, const uint16_t* entry, float* dS) {
  float S[kN * kV], S_next[kN * kV], slope[kN * kV], k[kN], q[kN], v[kV], delta[kV], dy[kV], d_delta[kV] = {};
  load(entry, kN * kV, S);
  load(entry + kN * kV, kN, k);
  load(entry + kN * kV + kN, kV, v);
  const float decay = load(entry[kEntry - 1]);
  std::copy_n(static_cast<const float*>(a.unit_q) + row * kN, kN, q);
  gate_gradient(a, row, dy);

  retrieve(S, k, v, delta);
  update(S, k, delta, decay, S_next);
  for (int64_t e = 0; e < kN * kV; ++e) {
    slope[e] = 1.0f - S_next[e] * S_next[e];
  }
  float* dq = static_cast<float*>(a.gradient_q) + row * kN;
  for (int64_t i = 0; i < kN; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < kV; ++j) {
      sum += S_next[i * kV + j] * dy[j];
    }
    dq[i] = sum;
  }
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t j = 0; j < kV; ++j) {
      dS[i * kV + j] = (dS[i * kV + j] + q[i] * dy[j]) * slope[i * kV + j];
    }
  }
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t j = 0; j < kV; ++j) {
      d_delta[j] += dS[i * kV + j] * k[i];
    }
  }
  float* dk = static_cast<float*>(a.gradient_k) + row * kN;
  for (int64_t i = 0; i < kN; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < kV; ++j) {
      sum += dS[i * kV + j] * delta[j];
    }
    dk[i] = sum;
  }
  float d_decay = 0;
  for (int64_t e = 0; e < kN * kV; ++e) {
    d_decay += dS[e] * S[e];
  }
  for (int64_t i = 0; i < kN; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < kV; ++j) {
      sum += S[i * kV + j] * d_delta[j];
    }
    dk[i] -= sum;
  }
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t j = 0; j < kV; ++j) {
      dS[i * kV + j] = decay * dS[i * kV + j] - k[i] * d_delta[j];
    }
  }
  store(d_delta, kV, a.dv + row * kV);
  a.ddecay[row] = store(d_decay);
}

void run_sequence(const e88_backward_args& a, int64_t b, int64_t h) {
  const int64_t sequence = b * a.H + h;
  uint16_t* history = static_cast<uint16_t*>(a.history) + sequence * kSegment * kEntry;
  float dS[kN * kV];
  load(a.d_s_final + sequence * kN * kV, kN * kV, dS);
  for (int64_t first = (a.T - 1) / kSegment * kSegment; first >= 0; first -= kSegment) {
    const int64_t steps = std::min(kSegment, a.T - first);
    replay_segment(a, b, h, first, steps, history);
    for (int64_t s = steps - 1; s >= 0; --s) {
      reverse_step(a, (b * a.T + first + s) * a.H + h, history + s * kEntry, dS);
    }
  }
  store(dS, kN * kV, a.ds0 + sequence * kN * kV);
}

}  // namespace

APO_EXPORT uint32_t apo_abi(void) {
  return APO_ABI_VERSION;
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& a = *static_cast<const e88_backward_args*>(call->arguments);
  const int64_t rows = a.B * a.T * a.H;
  auto* unit_k = static_cast<float*>(a.unit_k);
  auto* unit_q = static_cast<float*>(a.unit_q);
  normalise(a.k, rows, unit_k);
  normalise(a.q, rows, unit_q);
  for (int64_t b = 0; b < a.B; ++b) {
    for (int64_t h = 0; h < a.H; ++h) {
      run_sequence(a, b, h);
    }
  }
  chain_rule(a.k, unit_k, static_cast<const float*>(a.gradient_k), rows, a.dk);
  chain_rule(a.q, unit_q, static_cast<const float*>(a.gradient_q), rows, a.dq);
  return 0;
}
