// apo:variant    binary_backward_bf16/cuda_simple
// apo:target     cuda sm_80
// apo:technique  scalar-loop
// apo:idea       A thread an element; atomics into fp32 sums, which a last kernel rounds once.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 <= 549755813632
// apo:scratch    sums 4*(kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1)
// apo:launch     zero grid=max(1,min(4*SMS,ceil_div((kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1),256))) block=256
// apo:launch     gradients grid=max(1,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256)) block=256
// apo:launch     round_sums grid=max(1,min(4*SMS,ceil_div((kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1),256))) block=256
#include "binary_backward_bf16.args.h"
#include "broadcast_scratch.cuh"

extern "C" __global__ void zero(const binary_backward_bf16_args a) {
  zero_scratch(a);
}

extern "C" __global__ void gradients(const binary_backward_bf16_args a) {
  add_to_scratch(a);
}

extern "C" __global__ void round_sums(const binary_backward_bf16_args a) {
  round_scratch(a);
}
