// apo:variant    activate/eight_a_thread
// apo:target     cuda sm_80
// apo:idea       A thread takes eight elements of one part: 16 bytes in, 16 bytes out.
// apo:launch     activate grid=rows,ceil_div(width,256) block=128
#include "activate.args.h"
#include "activations.cuh"

extern "C" __global__ void activate(const activate_args a) {
  byte_lm::activate_eight(a.width, a.qkv, 3 * a.width, nullptr, 0, a.q, a.k, a.v, nullptr);
}
