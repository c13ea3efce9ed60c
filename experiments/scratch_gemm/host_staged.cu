#include "staged.cuh"
struct alignas(64) Map { char of[128]; };
extern "C" __global__ __launch_bounds__(384, 1) void multiply(const matmul_bf16_args a, const __grid_constant__ Map map_a, const __grid_constant__ Map map_b, const __grid_constant__ Map map_c) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared*>(memory);
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map_a) : "memory");
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map_b) : "memory");
    init_barriers(shared);
  }
  __syncthreads();
  multiply_all<false>(a, &map_a, &map_b, &map_c, shared);
}
