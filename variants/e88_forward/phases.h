// variants/e88_forward/phases.h - the phases of simple: norm passes, every sequence step by step, a gate pass, with
// what the toggles change in them. Include e88_scalar.h or e88_vector.h first: they say what a State is and how a step
// updates it.
#pragma once
#include "e88.h"

namespace {

// The L2 norm of all rows of k or q as a pass of its own over memory, as the separate operation of the original.
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

// output = y * silu(g), of one row or of all
void gate(const float* y, const uint16_t* g, int64_t count, uint16_t* output) {
  for (int64_t i = 0; i < count; ++i) {
    const float raw = load(g[i]);
    output[i] = store(kGATE ? y[i] * raw / (1.0f + std::exp(-raw)) : y[i]);
  }
}

// FUSED_L2_NORM: k and q are normalised where the step loads them, so that no fp32 copy goes through memory.
[[gnu::always_inline]] inline void norm_pass([[maybe_unused]] const e88_forward_args& a) {
#if !FUSED_L2_NORM
  normalise(a.k, a.B * a.T * a.H, static_cast<float*>(a.unit_k));
  normalise(a.q, a.B * a.T * a.H, static_cast<float*>(a.unit_q));
#endif
}

// FUSED_GATE: the gate is applied to y as the step ends, so that no fp32 copy of y goes through memory and back.
[[gnu::always_inline]] inline void gate_pass([[maybe_unused]] const e88_forward_args& a) {
#if !FUSED_GATE
  gate(static_cast<const float*>(a.ungated), a.g, a.B * a.T * a.H * kV, a.output);
#endif
}

#if COLUMN_VECTORISED
void gate(const Row& y, const uint16_t* g, int64_t count, uint16_t* output) {
  float values[kV];
  copy_row(y, values);
  gate(values, g, count, output);
}
#endif

// CHUNK_PREFETCH: the inputs of CHUNK steps are converted and packed at once; the recurrence reads fp32 from L1.
#if CHUNK_PREFETCH
static_assert(kSegment % CHUNK == 0);

// CHUNK steps of every input of one sequence, converted and packed.
struct Chunk {
  float k[CHUNK][kN], q[CHUNK][kN];
  Row v[CHUNK];
  float decay[CHUNK];
};

void prefetch(const e88_forward_args& a, int64_t b, int64_t h, int64_t first, int64_t steps, Chunk& chunk) {
  for (int64_t s = 0; s < steps; ++s) {
    const int64_t row = (b * a.T + first + s) * a.H + h;
#if FUSED_L2_NORM
    normalise(a.k + row * kN, chunk.k[s]);
    normalise(a.q + row * kN, chunk.q[s]);
#else
    std::copy_n(static_cast<const float*>(a.unit_k) + row * kN, kN, chunk.k[s]);
    std::copy_n(static_cast<const float*>(a.unit_q) + row * kN, kN, chunk.q[s]);
#endif
    load(a.v + row * kV, chunk.v[s]);
    chunk.decay[s] = load(a.decay[row]);
  }
}

void run_sequence(const e88_forward_args& a, int64_t b, int64_t h) {
  const int64_t sequence = b * a.H + h;
  State S;
  Row delta, y;
  Chunk chunk;
  load(a.s0 + sequence * kN * kV, S);
  for (int64_t first = 0; first < a.T; first += CHUNK) {
    if (first % kSegment == 0) {
      store(S, a.checkpoints + (first / kSegment * a.B * a.H + sequence) * kN * kV);
    }
    const int64_t steps = std::min(CHUNK, a.T - first);
    prefetch(a, b, h, first, steps, chunk);
    for (int64_t s = 0; s < steps; ++s) {
      const int64_t row = (b * a.T + first + s) * a.H + h;
      retrieve(S, chunk.k[s], chunk.v[s], delta);
      update(S, chunk.k[s], delta, chunk.decay[s], S);
      query(S, chunk.q[s], y);
#if !FUSED_GATE
      copy_row(y, static_cast<float*>(a.ungated) + row * kV);
#endif
      store(y, a.y_cache + row * kV);
#if FUSED_GATE
      gate(y, a.g + row * kV, kV, a.output + row * kV);
#endif
    }
  }
  store(S, a.s_final + sequence * kN * kV);
}
#else
void run_sequence(const e88_forward_args& a, int64_t b, int64_t h) {
  const int64_t sequence = b * a.H + h;
  State S;
#if FUSED_L2_NORM
  float k[kN], q[kN];
#endif
  Row v, delta, y;
  load(a.s0 + sequence * kN * kV, S);
  for (int64_t t = 0; t < a.T; ++t) {
    const int64_t row = (b * a.T + t) * a.H + h;
    if (t % kSegment == 0) {
      store(S, a.checkpoints + (t / kSegment * a.B * a.H + sequence) * kN * kV);
    }
#if FUSED_L2_NORM
    normalise(a.k + row * kN, k);
    normalise(a.q + row * kN, q);
#else
    const float* k = static_cast<const float*>(a.unit_k) + row * kN;
    const float* q = static_cast<const float*>(a.unit_q) + row * kN;
#endif
    load(a.v + row * kV, v);
    retrieve(S, k, v, delta);
    update(S, k, delta, load(a.decay[row]), S);
    query(S, q, y);
#if !FUSED_GATE
    copy_row(y, static_cast<float*>(a.ungated) + row * kV);
#endif
    store(y, a.y_cache + row * kV);
#if FUSED_GATE
    gate(y, a.g + row * kV, kV, a.output + row * kV);
#endif
  }
  store(S, a.s_final + sequence * kN * kV);
}
#endif

}  // namespace
