// variants/e88_backward/tiled_phases.h - a segment on SIMD lanes; partial sums of ROWS rows stay in registers.
#pragma once
#include <numeric>

#include "vector_phases.h"

namespace {

constexpr int64_t kTile = kN % ROWS == 0 ? ROWS : 1;  // rows whose partial sums share the registers
constexpr int64_t kKeyLanes = (kN + kLanes - 1) / kLanes * kLanes;
using Keys = Lanes[kKeyLanes / kLanes];  // k, q and their gradients; lanes past N stay zero

float at(const Keys& keys, int64_t i) {
  return keys[i / kLanes][i % kLanes];
}

// Lane l of the result is the sum over the lanes of rows[l]; the rows are used up.
template <int32_t step = kLanes / 2>
Lanes sum_rows(Lanes* rows) {
  if constexpr (step == 0) {
    return rows[0];
  } else {
    constexpr Index own = kLane + (kLane & step) / step * static_cast<int32_t>(kLanes);
    constexpr Index other = own ^ step;
    for (int32_t row = 0; row < step; ++row) {
      const Lanes low = rows[row], high = rows[row + step];
      rows[row] = __builtin_shuffle(low, high, own) + __builtin_shuffle(low, high, other);
    }
    return sum_rows<step / 2>(rows);
  }
}

// sum() with its steps unrolled before anything else is optimised.
template <int32_t step = kLanes / 2>
float sum_tree(Lanes x) {
  if constexpr (step == 0) {
    return x[0];
  } else {
    constexpr Index other = kLane ^ step;
    return sum_tree<step / 2>(x + __builtin_shuffle(x, other));
  }
}

float dot(const Keys& x, const Keys& y) {
  Lanes products = {};
  for (int64_t i = 0; i < kKeyLanes / kLanes; ++i) {
    products += x[i] * y[i];
  }
  return sum_tree(products);
}

// One segment of one sequence: inputs converted and packed, k^ and q^ normalised, the gate already differentiated.
struct Segment {
  Keys k[kSegment], q[kSegment];
  Row v[kSegment], dy[kSegment], delta[kSegment];
  float k_scale[kSegment], q_scale[kSegment], decay[kSegment];
};

float normalise(const uint16_t* from, Keys& unit) {
  load<kN>(from, unit);
  const float scale = kNORM ? 1.0f / std::sqrt(dot(unit, unit) + 1e-12f) : 1.0f;
  for (Lanes& lanes : unit) {
    lanes *= scale;
  }
  return scale;
}

// dx = (dx^ - x^ (x^ . dx^)) rsqrt(|x|^2 + epsilon): exact, because x^ carries the same epsilon.
void chain_rule(const Keys& unit, float scale, Keys& gradient, uint16_t* dx) {
  if (kNORM) {
    const float along = dot(unit, gradient);
    for (int64_t i = 0; i < kKeyLanes / kLanes; ++i) {
      gradient[i] = (gradient[i] - unit[i] * along) * scale;
    }
  }
  store<kN>(gradient, dx);
}

void pack(const e88_backward_args& a, int64_t row, int64_t s, Segment& segment) {
  segment.k_scale[s] = normalise(a.k + row * kN, segment.k[s]);
  segment.q_scale[s] = normalise(a.q + row * kN, segment.q[s]);
  load<kV>(a.v + row * kV, segment.v[s]);
  segment.decay[s] = load(a.decay[row]);
  gate_gradient(a, row, segment.dy[s]);
}

// states[s] becomes S before step s. Each row is read once a step: its new value also feeds the next retrieval.
template <Lanes (*tanh_of)(Lanes)>
void replay(Segment& segment, int64_t steps, State* states) {
  Row retrieved = {};
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t c = 0; c < kColumns; ++c) {
      retrieved[c] += states[0][i][c] * at(segment.k[0], i);
    }
  }
  for (int64_t s = 0; s < steps; ++s) {
    const Keys& k = segment.k[s];
    const Keys& next_k = segment.k[std::min(s + 1, steps - 1)];
    Row& delta = segment.delta[s];
    for (int64_t c = 0; c < kColumns; ++c) {
      delta[c] = segment.v[s][c] - retrieved[c];
      retrieved[c] = Lanes{};
    }
    for (int64_t i = 0; i < kN; ++i) {
      for (int64_t c = 0; c < kColumns; ++c) {
        const Lanes next = tanh_of(segment.decay[s] * states[s][i][c] + at(k, i) * delta[c]);
        states[s + 1][i][c] = next;
        retrieved[c] += next * at(next_k, i);
      }
    }
  }
}

void reverse_step(const e88_backward_args& a, int64_t row, const Segment& segment, int64_t s, const State& S,
                  const State& S_next, State& dS) {
  const Keys &k = segment.k[s], &q = segment.q[s];
  const Row &dy = segment.dy[s], &delta = segment.delta[s];
  Lanes dq_rows[kKeyLanes], dk_rows[kKeyLanes], d_decay[kTile] = {};
  std::fill(dq_rows + kN, dq_rows + kKeyLanes, Lanes{});
  std::fill(dk_rows + kN, dk_rows + kKeyLanes, Lanes{});
  Row d_delta = {};
  for (int64_t first = 0; first < kN; first += kTile) {
    Lanes dq_tile[kTile] = {}, dk_tile[kTile] = {};
    for (int64_t c = 0; c < kColumns; ++c) {
      for (int64_t r = 0; r < kTile; ++r) {
        const int64_t i = first + r;
        const Lanes next = S_next[i][c];
        const Lanes gradient = (dS[i][c] + at(q, i) * dy[c]) * (1.0f - next * next);
        dS[i][c] = gradient;
        dq_tile[r] += next * dy[c];
        dk_tile[r] += gradient * delta[c];
        d_decay[r] += gradient * S[i][c];
        d_delta[c] += gradient * at(k, i);
      }
    }
    std::copy_n(dq_tile, kTile, dq_rows + first);
    std::copy_n(dk_tile, kTile, dk_rows + first);
  }
  for (int64_t i = 0; i < kN; ++i) {
    Lanes along = {};
    for (int64_t c = 0; c < kColumns; ++c) {
      along += S[i][c] * d_delta[c];
      dS[i][c] = segment.decay[s] * dS[i][c] - at(k, i) * d_delta[c];
    }
    dk_rows[i] -= along;
  }
  Keys dk, dq;
  for (int64_t i = 0; i < kKeyLanes; i += kLanes) {
    dk[i / kLanes] = sum_rows(dk_rows + i);
    dq[i / kLanes] = sum_rows(dq_rows + i);
  }
  chain_rule(k, segment.k_scale[s], dk, a.dk + row * kN);
  chain_rule(q, segment.q_scale[s], dq, a.dq + row * kN);
  store<kV>(d_delta, a.dv + row * kV);
  a.ddecay[row] = store(sum_tree(std::accumulate(d_decay + 1, d_decay + kTile, d_decay[0])));
}

// `states` has room for kSegment + 1 states.
template <Lanes (*tanh_of)(Lanes)>
void run_sequence(const e88_backward_args& a, int64_t sequence, State* states) {
  const int64_t b = sequence / a.H, h = sequence % a.H;
  Segment segment;
  State dS;
  for (int64_t i = 0; i < kN; ++i) {
    load<kV>(a.d_s_final + (sequence * kN + i) * kV, dS[i]);
  }
  for (int64_t first = (a.T - 1) / kSegment * kSegment; first >= 0; first -= kSegment) {
    const int64_t steps = std::min(kSegment, a.T - first);
    const uint16_t* checkpoint = a.checkpoints + (first / kSegment * a.B * a.H + sequence) * kN * kV;
    for (int64_t i = 0; i < kN; ++i) {
      load<kV>(checkpoint + i * kV, states[0][i]);
    }
    for (int64_t s = 0; s < steps; ++s) {
      pack(a, (b * a.T + first + s) * a.H + h, s, segment);
    }
    replay<tanh_of>(segment, steps, states);
    for (int64_t s = steps - 1; s >= 0; --s) {
      reverse_step(a, (b * a.T + first + s) * a.H + h, segment, s, states[s], states[s + 1], dS);
    }
  }
  for (int64_t i = 0; i < kN; ++i) {
    store<kV>(dS[i], a.ds0 + (sequence * kN + i) * kV);
  }
}

}  // namespace
