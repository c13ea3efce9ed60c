// apo:variant    e88_backward/padded_cache
// apo:target     host
// apo:technique  padded-cache
// apo:parent     e88_backward/simple
// apo:idea       Each cached step starts on a cache line: its N*V+N+V+1 elements are padded to 64 bytes.
// apo:predict    0.99x..1.01x over parent: saves split lines at most, and the cache is a few percent of the time.
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 2*B*H*16*(N*V+N+V+32)
#include "e88_backward.args.h"
#include "scalar_phases.h"

using Cache = Bf16Cache<(kUsed + 31) / 32 * 32>;  // 32 bf16 elements are a cache line

void e88_backward(const e88_backward_args& a) {
  between_norm_passes(a, [&] { all_sequences(a, [&](int64_t b, int64_t h) { run_sequence<Cache>(a, b, h); }); });
}
