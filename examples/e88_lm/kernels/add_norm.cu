// apo:variant    add_norm/a_block_a_row
// apo:target     cuda sm_80
// apo:idea       A block a row; the sum is read again from the cache for the second pass.
// apo:launch     add_norm grid=rows block=256
#include "add_norm.args.h"
#include "norm.cuh"

extern "C" __global__ void __launch_bounds__(256) add_norm(const add_norm_args a) {
  byte_lm::add_norm_row(a.dim, a.x, a.before, a.after, a.weight, a.normed, a.inverse_rms);
}
