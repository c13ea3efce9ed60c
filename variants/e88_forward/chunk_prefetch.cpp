// apo:variant    e88_forward/chunk_prefetch
// apo:target     host
// apo:technique  chunk-prefetch
// apo:parent     e88_forward/simple
// apo:idea       The inputs of CHUNK steps are converted and packed at once; the recurrence reads fp32 from L1.
// apo:predict    1.0x..1.06x over parent: loads and conversions are 6 (N+V) of 7 N V operations and N V tanh.
// apo:tune       CHUNK 16,4,8
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    ungated 4*B*T*H*V
#include "e88_forward.args.h"
#include "e88_scalar.h"
#include "phases.h"

namespace {

static_assert(kSegment % CHUNK == 0);

// CHUNK steps of every input of one sequence, converted and packed.
struct Chunk {
  float k[CHUNK][kN], q[CHUNK][kN], v[CHUNK][kV], decay[CHUNK];
};

void prefetch(const e88_forward_args& a, int64_t b, int64_t h, int64_t first, int64_t steps, Chunk& chunk) {
  for (int64_t s = 0; s < steps; ++s) {
    const int64_t row = (b * a.T + first + s) * a.H + h;
    std::copy_n(static_cast<const float*>(a.unit_k) + row * kN, kN, chunk.k[s]);
    std::copy_n(static_cast<const float*>(a.unit_q) + row * kN, kN, chunk.q[s]);
    load(a.v + row * kV, chunk.v[s]);
    chunk.decay[s] = load(a.decay[row]);
  }
}

void run_sequence(const e88_forward_args& a, int64_t b, int64_t h) {
  const int64_t sequence = b * a.H + h;
  float S[kN * kV], delta[kV], y[kV];
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
      std::copy_n(y, kV, static_cast<float*>(a.ungated) + row * kV);
      store(y, a.y_cache + row * kV);
    }
  }
  store(S, a.s_final + sequence * kN * kV);
}

}  // namespace

void e88_forward(const e88_forward_args& a) {
  norm_pass(a);
  all_sequences(a, [&](int64_t b, int64_t h) { run_sequence(a, b, h); });
  gate_pass(a);
}
