// apo:variant    decay/an_element_a_thread
// apo:target     cuda sm_80
// apo:idea       A thread an element; the whole tensor is 1.4 MB.
// apo:launch     decay grid=ceil_div(rows*heads,256) block=256
#include "decay.args.h"
#include "decay.cuh"

extern "C" __global__ void decay(const decay_args a) {
  byte_lm::decay_element(a.rows, a.heads, a.alpha, a.heads, a.a_log, a.dt_bias, a.decay);
}
