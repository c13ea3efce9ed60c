// apo:variant    spin/roofs
// apo:target     cuda sm_80
// apo:technique  roof-kernels
// apo:idea       Each kernel keeps one unit of the GPU busy and the others idle enough; what it reaches is that unit's roof.
// apo:tune       COPY_STEPS 256
// apo:tune       FMA_STEPS 768
// apo:tune       SPECIAL_STEPS 768
// apo:tune       LIBM_STEPS 1536
// apo:tune       SHUFFLE_STEPS 1024
// apo:tune       SHARED_STEPS 768
// apo:tune       TENSOR_STEPS 1536
// apo:tune       LATENCY_STEPS 4096
// apo:launch     fill_input        grid=4*SMS block=256
// apo:launch     copy_vectors      grid=4*SMS block=256
// apo:launch     fp32_fma          grid=4*SMS block=256
// apo:launch     special_tanh      grid=4*SMS block=256
// apo:launch     special_ex2       grid=4*SMS block=256
// apo:launch     libm_tanh         grid=4*SMS block=256
// apo:launch     shuffle           grid=4*SMS block=256
// apo:launch     shared_bandwidth  grid=4*SMS block=256
// apo:launch     tensor_bf16       grid=2*SMS block=256
// apo:launch     barrier           grid=SMS block=256
// apo:launch     fma_latency       grid=SMS block=32
// apo:launch     special_latency   grid=SMS block=32
// apo:launch     shuffle_latency   grid=SMS block=32
// apo:launch     shared_latency    grid=SMS block=32
// apo:launch     launch_latency    grid=1 block=32
//
// The work of a thread in one step stands in harness/profile/roofs/gpu_roofs.cpp; the two have to agree, and a test counts
// the instructions. Values come from memory, so that nothing folds, and stay between 2^-40 and 2^40 in magnitude but
// never settle: a pipe that repeats one number draws less power than real work, and the clock would show it.
#include "spin.args.h"

constexpr unsigned kAll = 0xffffffffu;

__device__ unsigned thread_index() {
  return blockDim.x * blockIdx.x + threadIdx.x;
}

// n < 2^31 here, and more than all threads together.
__device__ float input(const spin_args& a, int which) {
  return a.x[(thread_index() + 37u * static_cast<unsigned>(which)) % static_cast<unsigned>(a.n)];
}

__device__ void keep(const spin_args& a, float value) {
  a.y[thread_index()] = value;
}

// A frictionless oscillator, one multiply-add a half turn: (u, v) runs round an ellipse for ever (symplectic Euler,
// stable for |rate| < 2), so that a chain of multiply-adds neither settles nor overflows.
struct Oscillator {
  float u, v;
  __device__ void forward(float rate) { u = fmaf(v, rate, u); }
  __device__ void back(float rate) { v = fmaf(u, -rate, v); }
};

// 0.5 to 1 for an input of magnitude 0.25 to 1.
__device__ float rate_of(const spin_args& a) {
  return 0.5f * (1.0f + fabsf(input(a, 100)));
}

// Writes the input: the host would take longer to draw it and to send it. Magnitudes 0.25 to 1.
extern "C" __global__ void fill_input(const spin_args a) {
  auto* x = const_cast<float*>(a.x);
  for (unsigned i = thread_index(); i < a.n; i += blockDim.x * gridDim.x) {
    unsigned bits = i * 2654435761u + 12345u;
    bits ^= bits >> 15;
    bits *= 2246822519u;
    bits ^= bits >> 13;
    const float magnitude = 0.25f + 0.75f * static_cast<float>(bits >> 8) * 0x1p-24f;
    x[i] = (bits & 1) != 0 ? magnitude : -magnitude;
  }
}

__device__ float4 load_past_l1(const float4* from) {
  float4 v;
  asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(from));
  return v;
}

__device__ void store(float4* to, float4 v) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w));
}

// The grid walks round the tensor, four vectors a thread and step, as often as the steps reach. 4 * SMS * 256 vectors
// fit the tensor, so that a place is at most one round ahead.
extern "C" __global__ void __launch_bounds__(256, 4) copy_vectors(const spin_args a) {
  const auto* x = reinterpret_cast<const float4*>(a.x);
  auto* y = reinterpret_cast<float4*>(a.y);
  const int vectors = static_cast<int>(a.n / 4);
  const int stride = static_cast<int>(blockDim.x * gridDim.x);
  int at = static_cast<int>(thread_index());
#pragma unroll 1
  for (int step = 0; step < COPY_STEPS; ++step) {
    float4 moved[4];
    int place[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      place[j] = at;
      at += stride;
      at -= at >= vectors ? vectors : 0;
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      moved[j] = load_past_l1(x + place[j]);
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      store(y + place[j], moved[j]);
    }
  }
}

// 256 multiply-adds a step.
extern "C" __global__ void __launch_bounds__(256, 4) fp32_fma(const spin_args a) {
  Oscillator o[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    o[i] = {input(a, 2 * i), input(a, 2 * i + 1)};
  }
  const float rate = rate_of(a);
#pragma unroll 1
  for (int step = 0; step < FMA_STEPS; ++step) {
#pragma unroll
    for (int turn = 0; turn < 16; ++turn) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        o[i].forward(rate);
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        o[i].back(rate);
      }
    }
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    sum += o[i].u + o[i].v;
  }
  keep(a, sum);
}

struct Tanh {
  __device__ float operator()(float x) const {
    float y;
    asm volatile("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
  }
};

// .ftz: without it ptxas adds a test for denormal arguments, which is no work of the special-function unit.
struct Ex2 {
  __device__ float operator()(float x) const {
    float y;
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
  }
};

struct LibmTanh {
  __device__ float operator()(float x) const { return tanhf(x); }
};

// 4 * TURNS functions a step, each of a new argument: two multiply-adds and an addition beside it leave the issue slots
// half empty.
template <int STEPS, int TURNS, class Function>
__device__ void evaluate(const spin_args& a, Function function) {
  Oscillator o[4];
  float sum[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    o[i] = {input(a, 2 * i), input(a, 2 * i + 1)};
    sum[i] = 0;
  }
  const float rate = rate_of(a);
#pragma unroll 1
  for (int step = 0; step < STEPS; ++step) {
#pragma unroll
    for (int turn = 0; turn < TURNS; ++turn) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        o[i].forward(rate);
        o[i].back(rate);
        sum[i] += function(o[i].u);
      }
    }
  }
  keep(a, sum[0] + sum[1] + sum[2] + sum[3]);
}

extern "C" __global__ void __launch_bounds__(256, 4) special_tanh(const spin_args a) {
  evaluate<SPECIAL_STEPS, 8>(a, Tanh{});
}

extern "C" __global__ void __launch_bounds__(256, 4) special_ex2(const spin_args a) {
  evaluate<SPECIAL_STEPS, 8>(a, Ex2{});
}

// What CUDA's library makes of tanhf without fast math.
extern "C" __global__ void __launch_bounds__(256, 4) libm_tanh(const spin_args a) {
  evaluate<LIBM_STEPS, 2>(a, LibmTanh{});
}

// 40 shuffles a step.
extern "C" __global__ void __launch_bounds__(256, 4) shuffle(const spin_args a) {
  float v[4] = {input(a, 0), input(a, 1), input(a, 2), input(a, 3)};
#pragma unroll 1
  for (int step = 0; step < SHUFFLE_STEPS; ++step) {
#pragma unroll
    for (int turn = 0; turn < 10; ++turn) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        v[i] = __shfl_xor_sync(kAll, v[i], 1 << (turn % 5));
      }
    }
  }
  keep(a, v[0] + v[1] + v[2] + v[3]);
}

// 16 reads of 16 bytes a step; the lanes of a warp read 512 bytes in a row, wherever that begins.
extern "C" __global__ void __launch_bounds__(256, 4) shared_bandwidth(const spin_args a) {
  constexpr unsigned kVectors = 1024;
  __shared__ float4 tile[kVectors];
  for (unsigned i = threadIdx.x; i < kVectors; i += blockDim.x) {
    const int which = static_cast<int>(i);
    tile[i] = {input(a, which), input(a, which + 1), input(a, which + 2), input(a, which + 3)};
  }
  __syncthreads();
  const auto shift = 1 + 2 * static_cast<unsigned>(a.n & 7);  // unknown here, so that no read repeats an earlier one
  unsigned at = threadIdx.x;
  float4 sum = {0, 0, 0, 0};
#pragma unroll 1
  for (int step = 0; step < SHARED_STEPS; ++step) {
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      const float4 v = tile[at];
      at = (at + shift) % kVectors;
      sum.x += v.x;
      sum.y += v.y;
      sum.z += v.z;
      sum.w += v.w;
    }
  }
  keep(a, sum.x + sum.y + sum.z + sum.w);
}

__device__ unsigned bf16_pair(const spin_args& a, int which) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(input(a, which), input(a, which + 1));
  return *reinterpret_cast<const unsigned*>(&pair);
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define APO_SUMS_4(i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3])
#define APO_SUMS_16(i) APO_SUMS_4(i), APO_SUMS_4(i + 4), APO_SUMS_4(i + 8), APO_SUMS_4(i + 12)

// sum += left right, of 64 x 128 x 16: the right operand is 16 columns of 128 rows in shared memory.
__device__ void multiply(float (&sum)[64], const unsigned (&left)[4], unsigned long long right) {
  asm volatile(
      "{ .reg .pred p; setp.eq.b32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
      "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
      "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, "
      "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
      "}, {%64, %65, %66, %67}, %68, p, 1, 1, 0; }"
      : APO_SUMS_16(0), APO_SUMS_16(16), APO_SUMS_16(32), APO_SUMS_16(48)
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right));
}

// Two products of 64 x 128 x 16 a warpgroup and step, which are 32 of 16 x 8 x 16 a warp. The sums grow to some 10^5,
// which fp32 holds.
extern "C" __global__ void __launch_bounds__(256, 2) tensor_bf16(const spin_args a) {
  __shared__ __align__(1024) unsigned tile[128 * 64 / 2];  // rows of 128 bytes with the 128-byte swizzle
  for (int i = 0; i < 16; ++i) {
    tile[256 * i + threadIdx.x] = bf16_pair(a, 2 * i);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  constexpr unsigned long long kSwizzle128 = 1ULL << 62, kEightRows = 1024ULL / 16 << 32;
  const unsigned long long right = kSwizzle128 | kEightRows | static_cast<unsigned>(__cvta_generic_to_shared(tile)) / 16;
  const unsigned left[4] = {bf16_pair(a, 0), bf16_pair(a, 2), bf16_pair(a, 4), bf16_pair(a, 6)};
  float sum[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    sum[i] = input(a, i);
  }
#pragma unroll 1
  for (int step = 0; step < TENSOR_STEPS; ++step) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    multiply(sum, left, right + step % 2 * 4);  // 16 columns are two units of 16 bytes
    multiply(sum, left, right + step % 2 * 4 + 2);
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  float total = 0;
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    asm volatile("" : "+f"(sum[i])::"memory");
    total += sum[i];
  }
  keep(a, total);
}
#else
// 32 products of 16 x 8 x 16 a warp and step. The sums grow to some 10^5, which fp32 holds.
extern "C" __global__ void __launch_bounds__(256, 2) tensor_bf16(const spin_args a) {
  const unsigned left[4] = {bf16_pair(a, 0), bf16_pair(a, 2), bf16_pair(a, 4), bf16_pair(a, 6)};
  unsigned right[4][2];
  float sum[8][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    right[i][0] = bf16_pair(a, 8 + 4 * i);
    right[i][1] = bf16_pair(a, 10 + 4 * i);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      sum[i][j] = input(a, 4 * i + j);
    }
  }
#pragma unroll 1
  for (int step = 0; step < TENSOR_STEPS; ++step) {
#pragma unroll
    for (int turn = 0; turn < 4; ++turn) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(sum[i][0]), "+f"(sum[i][1]), "+f"(sum[i][2]), "+f"(sum[i][3])
            : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[(i + turn) % 4][0]),
              "r"(right[(i + turn) % 4][1]));
      }
    }
  }
  float total = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    total += sum[i][0] + sum[i][1] + sum[i][2] + sum[i][3];
  }
  keep(a, total);
}
#endif

// 32 barriers a step, of one block on its SM.
extern "C" __global__ void __launch_bounds__(256) barrier(const spin_args a) {
#pragma unroll 1
  for (int step = 0; step < LATENCY_STEPS; ++step) {
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      __syncthreads();
    }
  }
  keep(a, input(a, 0));
}

// The next four: 32 operations a step, each of the result of the one before, in one warp of its SM.
extern "C" __global__ void __launch_bounds__(32) fma_latency(const spin_args a) {
  Oscillator o = {input(a, 0), input(a, 1)};
  const float rate = rate_of(a);
#pragma unroll 1
  for (int step = 0; step < LATENCY_STEPS; ++step) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      o.forward(rate);
      o.back(rate);
    }
  }
  keep(a, o.u + o.v);
}

extern "C" __global__ void __launch_bounds__(32) special_latency(const spin_args a) {
  float v = input(a, 0);  // the n-th tanh of itself is about sqrt(3 / 2n): it does not vanish
#pragma unroll 1
  for (int step = 0; step < LATENCY_STEPS; ++step) {
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      v = Tanh{}(v);
    }
  }
  keep(a, v);
}

extern "C" __global__ void __launch_bounds__(32) shuffle_latency(const spin_args a) {
  float v = input(a, 0);
#pragma unroll 1
  for (int step = 0; step < LATENCY_STEPS; ++step) {
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      v = __shfl_xor_sync(kAll, v, 1 << (i % 5));
    }
  }
  keep(a, v);
}

// Each read gives the address of the next one; the lanes keep to banks of their own.
extern "C" __global__ void __launch_bounds__(32) shared_latency(const spin_args a) {
  constexpr unsigned kWords = 1024;
  __shared__ unsigned next[kWords];
  const auto base = static_cast<unsigned>(__cvta_generic_to_shared(next));
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < kWords; i += 32) {
    next[i] = base + 4 * ((i + 32 * (1 + static_cast<unsigned>(a.n & 7))) % kWords);
  }
  __syncwarp();
  unsigned at = base + 4 * threadIdx.x;
#pragma unroll 1
  for (int step = 0; step < LATENCY_STEPS; ++step) {
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
    }
  }
  keep(a, static_cast<float>(at));
}

// What a launch costs when the launch before it has nothing to do either.
extern "C" __global__ void launch_latency(const spin_args) {}
