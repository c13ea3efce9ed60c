// apo:variant    embedding_gradient/sorted_rows
// apo:target     cuda sm_80
// apo:idea       Rows sorted by token: a block adds up the rows of its byte in order, without atomics.
// apo:launch     copy grid=dim block=256
// apo:launch     add grid=256,ceil_div(dim,256) block=256
#include "embedding.cuh"
#include "embedding_gradient.args.h"

// The model adds to what the logits' GEMM left; here that is an input, which stays.
extern "C" __global__ void copy(const embedding_gradient_args a) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  a.d_embedding[at] = a.before[at];
}

extern "C" __global__ void add(const embedding_gradient_args a) {
  byte_lm::embedding_gradient_column(a.dim, a.order, a.starts, a.d_residual, a.d_embedding);
}
