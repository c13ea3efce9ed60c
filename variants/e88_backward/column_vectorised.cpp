// apo:variant    e88_backward/column_vectorised
// apo:target     host
// apo:technique  column-vectorised
// apo:parent     e88_backward/simple
// apo:idea       A SIMD lane owns a column of S and dS: no shuffles in the recurrence, tanh of whole vectors.
// apo:predict    15x..30x over parent: tanh falls from some 12 ns an element to a share of a 16-lane division.
// apo:toggle     REUSED_STATE reused-state
// apo:tune       LANES 0,8,16
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history REUSED_STATE ? 4*B*H*17*(N+1)*(V+15) : 2*B*H*16*(N*V+N+V+1)
#include "e88_backward.args.h"
#include "vector_phases.h"

namespace {

// REUSED_STATE: an fp32 cache holds every state and delta of a segment, so that reverse repeats no retrieval, no tanh.
#if REUSED_STATE
// Cached per step; S is the state before it.
struct Entry {
  State S;
  Row delta;
};

struct Cache {
  using Element = Entry;
  static constexpr int64_t kEntry = 1, kEntries = kSegment + 1;

  static void replay_segment(const e88_backward_args& a, int64_t b, int64_t h, int64_t first, int64_t steps,
                             Entry* history) {
    Row v;
    load(a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kN * kV, history->S);
    for (int64_t s = 0; s < steps; ++s) {
      const int64_t row = (b * a.T + first + s) * a.H + h;
      const float* k = static_cast<const float*>(a.unit_k) + row * kN;
      Entry& entry = history[s];
      load(a.v + row * kV, v);
      retrieve(entry.S, k, v, entry.delta);
      update(entry.S, k, entry.delta, load(a.decay[row]), history[s + 1].S);
    }
  }

  static void reverse_step(const e88_backward_args& a, int64_t row, const Entry* entry, State& dS) {
    const State &S = entry->S, &S_next = entry[1].S;
    Row dy, d_delta = {};
    float dk[kN];
    const float decay = load(a.decay[row]);
    const float* k = static_cast<const float*>(a.unit_k) + row * kN;
    const float* q = static_cast<const float*>(a.unit_q) + row * kN;
    gate_gradient(a, row, dy);
    reverse(a, row, S, S_next, k, q, entry->delta, dy, decay, d_delta, dk, dS);
  }
};
#else
struct Cache {
  using Element = uint16_t;
  static constexpr int64_t kEntry = kN * kV + kN + kV + 1, kEntries = kSegment;  // per step: S_{t-1}, k^, v, a

  static void replay_segment(const e88_backward_args& a, int64_t b, int64_t h, int64_t first, int64_t steps,
                             uint16_t* history) {
    State S;
    Row v, delta;
    load(a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kN * kV, S);
    for (int64_t s = 0; s < steps; ++s) {
      const int64_t row = (b * a.T + first + s) * a.H + h;
      const float* k = static_cast<const float*>(a.unit_k) + row * kN;
      load(a.v + row * kV, v);
      uint16_t* entry = history + s * kEntry;
      store(S, entry);
      std::transform(k, k + kN, entry + kN * kV, [](float value) { return store(value); });
      store(v, entry + kN * kV + kN);
      entry[kEntry - 1] = a.decay[row];
      retrieve(S, k, v, delta);
      update(S, k, delta, load(a.decay[row]), S);
    }
  }

  static void reverse_step(const e88_backward_args& a, int64_t row, const uint16_t* entry, State& dS) {
    State S, S_next;
    Row v, delta, dy, d_delta = {};
    float k[kN], dk[kN];
    load(entry, S);
    std::transform(entry + kN * kV, entry + kN * kV + kN, k, [](uint16_t bits) { return load(bits); });
    load(entry + kN * kV + kN, v);
    const float decay = load(entry[kEntry - 1]);
    const float* q = static_cast<const float*>(a.unit_q) + row * kN;
    gate_gradient(a, row, dy);
    retrieve(S, k, v, delta);
    update(S, k, delta, decay, S_next);
    reverse(a, row, S, S_next, k, q, delta, dy, decay, d_delta, dk, dS);
  }
};
#endif

}  // namespace

void e88_backward(const e88_backward_args& a) {
  between_norm_passes(a, [&] { all_sequences(a, [&](int64_t b, int64_t h) { run_sequence<Cache>(a, b, h); }); });
}
