// apo:variant    activate_backward/eight_a_thread
// apo:target     cuda sm_80
// apo:idea       A thread takes eight elements of one part: 16 bytes in of each operand, 16 bytes out.
// apo:launch     activate_backward grid=rows,ceil_div(width,256) block=128
#include "activate_backward.args.h"
#include "activations.cuh"

extern "C" __global__ void activate_backward(const activate_backward_args a) {
  byte_lm::activate_backward_eight(a.width, a.qkv, 3 * a.width, a.dq, a.dk, a.dv, a.d_gate, a.d_projection,
                                  4 * a.width, a.d_projection + 3 * a.width, 4 * a.width);
}
