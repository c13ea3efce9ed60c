// variants/e88_backward/scalar_chunks.h - CHUNK_PREFETCH: the inputs of CHUNK steps are converted and packed at once,
// and the recurrence reads fp32 from L1; S alone is cached, in bf16.
#pragma once
#include "scalar_phases.h"

namespace {

constexpr int64_t kEntry = kN * kV;  // cached per step: S_{t-1}; the rest stands in the chunk
static_assert(kSegment % CHUNK == 0);

// CHUNK steps of every input of one sequence, converted and packed.
struct Chunk {
  float k[CHUNK][kN], q[CHUNK][kN], v[CHUNK][kV], d_output[CHUNK][kV], g[CHUNK][kV], y[CHUNK][kV], decay[CHUNK];
};

void prefetch(const e88_backward_args& a, int64_t b, int64_t h, int64_t first, int64_t steps, Chunk& chunk) {
  for (int64_t s = 0; s < steps; ++s) {
    const int64_t row = (b * a.T + first + s) * a.H + h;
    std::copy_n(static_cast<const float*>(a.unit_k) + row * kN, kN, chunk.k[s]);
    std::copy_n(static_cast<const float*>(a.unit_q) + row * kN, kN, chunk.q[s]);
    load(a.v + row * kV, chunk.v[s]);
    load(a.d_output + row * kV, chunk.d_output[s]);
    load(a.g + row * kV, chunk.g[s]);
    load(a.y_cache + row * kV, chunk.y[s]);
    chunk.decay[s] = load(a.decay[row]);
  }
}

void replay_step(const Chunk& chunk, int64_t s, float* S, uint16_t* entry) {
  float delta[kV];
  store(S, kN * kV, entry);
  retrieve(S, chunk.k[s], chunk.v[s], delta);
  update(S, chunk.k[s], delta, chunk.decay[s], S);
}

// dy = d_output * silu(g), dg = d_output * y * silu'(g); without a gate o = y.
void gate_gradient(const Chunk& chunk, int64_t s, float* dy, uint16_t* dg) {
  for (int64_t j = 0; j < kV; ++j) {
    const float d_output = chunk.d_output[s][j], g = chunk.g[s][j];
    const float sigmoid = 1.0f / (1.0f + std::exp(-g));
    const float slope = sigmoid * (1.0f + g * (1.0f - sigmoid));
    dy[j] = kGATE ? d_output * g * sigmoid : d_output;
    dg[j] = store(kGATE ? d_output * chunk.y[s][j] * slope : 0.0f);
  }
}

void reverse_step(const e88_backward_args& a, int64_t row, const Chunk& chunk, int64_t s, const uint16_t* entry,
                  float* dS) {
  const float *k = chunk.k[s], *q = chunk.q[s], *v = chunk.v[s], decay = chunk.decay[s];
  float S[kN * kV], S_next[kN * kV], slope[kN * kV], delta[kV], dy[kV], d_delta[kV] = {};
  load(entry, S);
  gate_gradient(chunk, s, dy, a.dg + row * kV);
  retrieve(S, k, v, delta);
  update(S, k, delta, decay, S_next);
  reverse(a, row, S, S_next, k, q, delta, dy, decay, slope, d_delta, dS);
}

void run(const e88_backward_args& a, int64_t b, int64_t h) {
  const int64_t sequence = b * a.H + h;
  uint16_t* history = static_cast<uint16_t*>(a.history) + sequence * kSegment * kEntry;
  float S[kN * kV], dS[kN * kV];
  Chunk chunk;
  load(a.d_s_final + sequence * kN * kV, dS);
  for (int64_t first = (a.T - 1) / kSegment * kSegment; first >= 0; first -= kSegment) {
    load(a.checkpoints + (first / kSegment * a.B * a.H + sequence) * kN * kV, S);
    const int64_t end = std::min(first + kSegment, a.T);
    int64_t start = first;
    for (; start < end; start += CHUNK) {
      const int64_t steps = std::min(CHUNK, end - start);
      prefetch(a, b, h, start, steps, chunk);
      for (int64_t s = 0; s < steps; ++s) {
        replay_step(chunk, s, S, history + (start - first + s) * kEntry);
      }
    }
    const int64_t last = start - CHUNK;  // still packed
    for (start = last; start >= first; start -= CHUNK) {
      const int64_t steps = std::min(CHUNK, end - start);
      if (start != last) {
        prefetch(a, b, h, start, steps, chunk);
      }
      for (int64_t s = steps - 1; s >= 0; --s) {
        const int64_t row = (b * a.T + start + s) * a.H + h;
        reverse_step(a, row, chunk, s, history + (start - first + s) * kEntry, dS);
      }
    }
  }
  store(dS, a.ds0 + sequence * kN * kV);
}

}  // namespace
