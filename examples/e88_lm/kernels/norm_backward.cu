// apo:variant    norm_backward/shared_partials
// apo:target     cuda sm_80
// apo:idea       Rows are dealt out to 256 blocks; each keeps its share of the weight's gradient in shared memory, and a second kernel adds these up.
// apo:scratch    partials 4*min(rows,256)*dim
// apo:launch     rows grid=min(rows,256) block=256 shared=4*dim
// apo:launch     sums grid=ceil_div(dim,32) block=256
#include "norm_backward.args.h"
#include "norm.cuh"

extern "C" __global__ void __launch_bounds__(256) rows(const norm_backward_args a) {
  extern __shared__ float4 shared[];
  byte_lm::norm_backward_rows(a.rows, a.dim, a.d_normed, a.residual, a.inverse_rms, a.weight, a.arrived, a.d_residual,
                             a.d_x, reinterpret_cast<float*>(a.partials), reinterpret_cast<float*>(shared));
}

extern "C" __global__ void sums(const norm_backward_args a) {
  const long long blocks = a.rows < 256 ? a.rows : 256;
  byte_lm::column_sums(blocks, a.dim, a.dim, reinterpret_cast<const float*>(a.partials), a.d_weight);
}
