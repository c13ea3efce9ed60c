// apo:variant    binary_backward/cuda_block_reduce
// apo:target     cuda sm_80
// apo:technique  block-reduce
// apo:parent     binary_backward/cuda_no_zero_fill
// apo:idea       Lanes that share an element of B are summed first, along runs within a warp and then over the warps of a block: one atomic each.
// apo:predict    0.8x..3x over parent: a row of 2048 takes 8 atomics instead of 64; a row that B keeps gains nothing and pays for the scan.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 < 2147483648
// apo:launch     zero grid=max(1,min(4*SMS,ceil_div((kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1),256))) block=256
// apo:launch     gradients grid=max(1,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256)) block=256
#include "binary_backward.args.h"
#include "magic_division.cuh"

extern "C" __global__ void zero(const binary_backward_args a) {
  zero_sums(a);
}

extern "C" __global__ void gradients(const binary_backward_args a) {
  __shared__ float sums[8];
  __shared__ long long firsts[8];
  __shared__ Broadcast shape;
  __shared__ Magic magic;
  if (threadIdx.x == 0) {
    shape = Broadcast::compressed(a);
    magic.of(shape);
  }
  __syncthreads();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  const bool repeats = shape.elements != shape.b_elements;
  long long at_b = -1;
  float term = 0;
  if (i < shape.elements) {
    at_b = magic.offset_in_b(shape, static_cast<unsigned>(i));
    const float gradient = __ldg(a.g + i);
    const float left = reads_a(a) ? __ldg(a.A + i) : 0, right = reads_b(a) ? __ldg(a.B + at_b) : 0;
    if (a.need_dA) {
      a.dA[i] = gradient * gradient_of_a(a.op, left, right);
    }
    term = gradient * gradient_of_b(a.op, left, right);
    if (a.need_dB && !repeats) {
      a.dB[i] = term;
    }
  }
  if (!a.need_dB || !repeats) {
    return;
  }
  // Runs of lanes that share an element of B, each ending before the next one's first lane.
  const long long before = __shfl_up_sync(kAll, at_b, 1);
  const bool is_first = lane == 0 || before != at_b;
  const unsigned later = __ballot_sync(kAll, is_first) & ~(2u * (1u << lane) - 1);
  const int end = later == 0 ? 32 : __ffs(later) - 1;
  for (int step = 1; step < 32; step *= 2) {  // the sum from here to the end of the run
    const float other = __shfl_down_sync(kAll, term, step);
    term += lane + step < end ? other : 0;
  }
  const bool whole = __all_sync(kAll, at_b == __shfl_sync(kAll, at_b, 0));
  if (!whole && at_b >= 0 && is_first) {
    atomicAdd(a.dB + at_b, term);
  }
  if (lane == 0) {
    sums[warp] = whole ? term : 0;
    firsts[warp] = whole ? at_b : -1;
  }
  __syncthreads();
  if (threadIdx.x < 8 && firsts[threadIdx.x] >= 0 &&
      (threadIdx.x == 0 || firsts[threadIdx.x - 1] != firsts[threadIdx.x])) {
    float sum = 0;
    for (int w = threadIdx.x; w < 8 && firsts[w] == firsts[threadIdx.x]; ++w) {
      sum += sums[w];
    }
    atomicAdd(a.dB + firsts[threadIdx.x], sum);
  }
}
