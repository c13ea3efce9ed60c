// apo:variant    adamw/eight_a_thread
// apo:target     cuda sm_80
// apo:idea       The norm by partial sums in fp64, in a fixed order; then one pass over masters, gradients and moments.
// apo:scratch    partials 8*256
// apo:scratch    squares 8
// apo:launch     partial grid=256 block=512
// apo:launch     total grid=1 block=256
// apo:launch     copy grid=ceil_div(count,256) block=256
// apo:launch     update grid=ceil_div(count,2048) block=256
#include "adamw.args.h"
#include "optimizer.cuh"

extern "C" __global__ void partial(const adamw_args a) {
  byte_lm::partial_sum(true, a.count, a.gradients, reinterpret_cast<double*>(a.partials));
}

extern "C" __global__ void total(const adamw_args a) {
  byte_lm::sum_of_partials(256, reinterpret_cast<const double*>(a.partials), reinterpret_cast<double*>(a.squares));
}

// The model steps in place; here inputs stay.
extern "C" __global__ void copy(const adamw_args a) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at < a.count) {
    a.new_masters[at] = a.masters[at];
    a.new_first[at] = a.first[at];
    a.new_second[at] = a.second[at];
  }
}

extern "C" __global__ void update(const adamw_args a) {
  const byte_lm::StepScalars scalars = {1, a.rate, a.correction1, a.correction2};
  byte_lm::adamw_eight(a.count, a.matrices, byte_lm::AdamSettings(), &scalars, reinterpret_cast<double*>(a.squares),
                      a.new_masters, a.gradients, a.new_first, a.new_second, a.weights);
}
