// apo:variant    e88_forward/cuda_simple
// apo:target     cuda sm_80
// apo:technique  stepwise-recurrence
// apo:idea       The original's phases, 256 threads a sequence: a norm pass, one step at a time with barriers between its phases, a gate pass.
// apo:requires   B*H <= 2147483647
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    ungated 4*B*T*H*V
// apo:launch     normalise grid=min(ceil_div(B*T*H,8),32*SMS) block=256
// apo:launch     forward grid=B*H block=256 shared=4*(N*(V+1)+2*N+2*V)
// apo:launch     gate grid=min(ceil_div(B*T*H*V,256),32*SMS) block=256
#include "e88_forward.args.h"
#include "phases.cuh"

extern "C" __global__ void normalise(const e88_forward_args a) {
  normalise_all(a);
}

extern "C" __global__ void __launch_bounds__(256, 6) forward(const e88_forward_args a) {
  extern __shared__ float shared[];
  forward_by_phases(a, *reinterpret_cast<SimpleWork*>(shared));
}

extern "C" __global__ void gate(const e88_forward_args a) {
  gate_all(a);
}
