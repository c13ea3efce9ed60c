// apo:variant    decay_backward/a_head_a_thread
// apo:target     cuda sm_80
// apo:idea       A thread sums a head over the rows of its block; a second kernel adds the blocks up.
// apo:scratch    partials 8*min(rows,256)*heads
// apo:launch     rows grid=min(rows,256) block=128
// apo:launch     sums grid=ceil_div(heads,32),2 block=256
#include "decay_backward.args.h"
#include "decay.cuh"

extern "C" __global__ void rows(const decay_backward_args a) {
  byte_lm::decay_backward_rows(a.rows, a.heads, a.alpha, a.heads, a.a_log, a.dt_bias, a.d_decay, a.d_alpha, a.heads,
                              reinterpret_cast<float*>(a.partials));
}

extern "C" __global__ void sums(const decay_backward_args a) {
  const long long blocks = a.rows < 256 ? a.rows : 256;
  const float* partials = reinterpret_cast<const float*>(a.partials) + blockIdx.y * a.heads;
  byte_lm::column_sums(blocks, a.heads, 2 * a.heads, partials, blockIdx.y == 0 ? a.d_a_log : a.d_dt_bias);
}
