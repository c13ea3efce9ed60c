// apo:variant    e88_backward/chunk_prefetch
// apo:target     host
// apo:technique  chunk-prefetch
// apo:parent     e88_backward/simple
// apo:idea       The inputs of CHUNK steps are converted and packed at once; the recurrence reads fp32 from L1.
// apo:predict    1.0x..1.08x over parent: loads and conversions are 10 (N+V) of 16 N V operations and 2 N V tanh.
// apo:tune       CHUNK 16,4,8
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 2*B*H*16*N*V
#include "e88_backward.args.h"
#include "scalar_chunks.h"

void e88_backward(const e88_backward_args& a) {
  between_norm_passes(a, [&] { all_sequences(a, [&](int64_t b, int64_t h) { run_sequence(a, b, h); }); });
}
