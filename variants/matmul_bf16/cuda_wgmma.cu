// apo:variant    matmul_bf16/cuda_wgmma
// apo:target     cuda sm_90a
// apo:technique  wgmma
// apo:technique  bulk-copies
// apo:technique  persistent-grid
// apo:parent     matmul_bf16/cuda_tensor_core
// apo:idea       wgmma on tiles of 128 x 256, whose operands a warpgroup of their own copies, once for both blocks of a cluster.
// apo:predict    6x..40x over parent: 550 to 800 TFLOP/s, where a warp that loads its own fragments waits for each of them.
// apo:tune       DOWN 1,2
// apo:tune       AHEAD 2,0,1
// apo:scratch    maps 256*SMS+128
// apo:requires   K % 8 == 0 && N % 4 == 0
// apo:launch     multiply grid=DOWN*ceil_div(ceil_div(M,128*DOWN)*ceil_div(N,256),ceil_div(ceil_div(M,128*DOWN)*ceil_div(N,256),SMS/DOWN)) cluster=DOWN block=384 shared=197632
//
// A block has a warpgroup that copies and two that multiply, each of which owns 64 rows of the tile: 128 sums a thread.
// DOWN blocks, a cluster, make tiles one above the other. They need the same rows of b: each copies its part of these
// into all of them. All clusters have equally many tiles, as far as that is possible; kGroup rows of clusters are worked
// off together, so that what all blocks read at one time is a few rows of both operands, and stays in the L2.
#include "bulk_copies.cuh"
#include "matmul_bf16.args.h"

namespace {

constexpr int kRows = 128, kColumns = 256;  // of a tile
constexpr int kDepth = 64;                  // terms of the sums in a stage
constexpr int kStages = 4, kGroup = 8;
constexpr int kDown = DOWN, kAhead = AHEAD;
constexpr int kRowsOfB = kColumns / kDown;  // that a block copies
constexpr int kConsumers = 2;

struct alignas(1024) Shared {
  bf16 a[kStages][kRows][kDepth];
  bf16 b[kStages][kColumns][kDepth];
  unsigned long long maps[2][kTensorMapBytes / 8];  // of a and b, as they are made
  Barrier full[kStages], empty[kStages];
};

// The tiles of a block.
struct Work {
  int down = blockIdx.x % kDown;  // in the cluster
  int next = blockIdx.x / kDown;  // tile of clusters
  int tiles_down, tiles_across;   // of clusters
  int row = 0, column = 0;        // where the block's tile begins

  __device__ explicit Work(const matmul_bf16_args& a)
      : tiles_down(static_cast<int>((a.M + kRows * kDown - 1) / (kRows * kDown))),
        tiles_across(static_cast<int>((a.N + kColumns - 1) / kColumns)) {}

  // Goes to the next tile; false behind the last one.
  __device__ bool advance() {
    if (next >= tiles_down * tiles_across) {
      return false;
    }
    const int first = next / (kGroup * tiles_across) * kGroup, rows = min(kGroup, tiles_down - first);
    const int at = next - first * tiles_across;
    row = ((first + at % rows) * kDown + down) * kRows;
    column = at / rows * kColumns;
    next += gridDim.x / kDown;
    return true;
  }
};

// By one thread: all copies of the block, by maps of tiles of kRows and kRowsOfB rows.
__device__ void copy_tiles(Work work, int terms, const void* map_a, const void* map_b, Shared& shared) {
  Ring<kStages> ring;
  while (work.advance()) {
    for (int k = 0; k < terms; k += kDepth, ring.advance()) {
      Barrier& full = shared.full[ring.stage];
      wait(shared.empty[ring.stage], ring.parity ^ 1);
      arrive_expecting(full, sizeof(shared.a[0]) + sizeof(shared.b[0]));
      copy_tile(shared.a[ring.stage], map_a, k, work.row, 0, full);
      const int part = work.down * kRowsOfB;
      if (kDown > 1) {
        copy_tile_to((1 << kDown) - 1, shared.b[ring.stage][part], map_b, k, work.column + part, full);
      } else {
        copy_tile(shared.b[ring.stage], map_b, k, work.column, 0, full);
      }
    }
  }
}

// Of 64 x 256 sums this thread has, of `row` and the 8th row after it, the columns 8 n + 2 t and 8 n + 2 t + 1 from
// `column` on, with t = thread % 4. Two neighbours change pairs, so that each stores 4 columns at once.
__device__ void store_sums(const float (&sums)[128], const matmul_bf16_args& a, int row, int column) {
  const bool odd = threadIdx.x % 2;
  column += 8 * odd + threadIdx.x % 4 / 2 * 4;
  float* const to = a.c + row * a.N + column;
  const long long left = a.N - column;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int columns = row + 8 * r < a.M ? static_cast<int>(left) : 0;  // from this thread's first one on
#pragma unroll
    for (int n = 0; n < 32; n += 2) {
      const float* const x = sums + 4 * n + 2 * r;
      const float first = __shfl_xor_sync(kAll, odd ? x[0] : x[4], 1);
      const float second = __shfl_xor_sync(kAll, odd ? x[1] : x[5], 1);
      const float4 four = {odd ? first : x[0], odd ? second : x[1], odd ? x[4] : first, odd ? x[5] : second};
      if (8 * n < columns) {
        __stcs(reinterpret_cast<float4*>(to + 8 * r * a.N + 8 * n), four);
      }
    }
  }
}

// By a warpgroup: its 64 rows of all tiles.
__device__ void multiply_tiles(const matmul_bf16_args& a, Work work, Shared& shared, int consumer) {
  const int lane = threadIdx.x % 32, terms = static_cast<int>(a.K);
  const auto release = [&](int stage) {
    if (kDown == 1 && lane == 0) {
      arrive(shared.empty[stage]);
    } else if (kDown > 1 && lane < kDown) {
      arrive_at(shared.empty[stage], lane);
    }
  };
  // The first consumer begins kAhead stages before the second, so that one multiplies while the other stores.
  int until_start = min(kAhead, (terms - 1) / kDepth);
  if (kAhead > 0 && consumer == 1) {
    meet(1, 128 * kConsumers);
    until_start = -1;
  }
  Ring<kStages> ring;
  while (work.advance()) {
    float sums[128] = {};
    int last = 0;
    for (int k = 0; k < terms; k += kDepth, ring.advance()) {
      wait(shared.full[ring.stage], ring.parity);
      begin_products();
#pragma unroll
      for (int i = 0; i < kDepth; i += 16) {
        wgmma<false, true>(sums, descriptor(&shared.a[ring.stage][64 * consumer][i], 0),
                           descriptor(&shared.b[ring.stage][0][i], 0), true);
      }
      commit_products();
      if (kAhead > 0 && until_start >= 0 && until_start-- == 0) {
        pass(1, 128 * kConsumers);
      }
      if (k > 0) {
        wait_for_products<1>();
        release(last);
      }
      last = ring.stage;
    }
    wait_for_products<0>();
    release(last);
    hold(sums);
    store_sums(sums, a, work.row + 64 * consumer + threadIdx.x / 32 % 4 * 16 + lane / 4, work.column);
  }
}

// All blocks of the cluster have come; what they stored is not published.
__device__ void meet_cluster() {
  if (kDown > 1) {
    __syncwarp();
    asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
}

}  // namespace

extern "C" __global__ __launch_bounds__(384, 1) void multiply(const matmul_bf16_args a) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared*>(memory);
  // The block's own maps in the scratch buffer, at multiples of 128 bytes.
  const auto first = (reinterpret_cast<unsigned long long>(a.maps) + kTensorMapBytes - 1) / kTensorMapBytes;
  char* const map_a = reinterpret_cast<char*>((first + 2 * blockIdx.x) * kTensorMapBytes);
  char* const map_b = map_a + kTensorMapBytes;
  const int warp = __shfl_sync(kAll, threadIdx.x / 32, 0);
  if (warp == 0) {
    make_tensor_map(map_a, shared.maps[0], {a.a, 1, a.M, a.K}, kRows);
  } else if (warp == 1) {
    make_tensor_map(map_b, shared.maps[1], {a.b, 1, a.N, a.K}, kRowsOfB);
  } else if (threadIdx.x == 64) {
    for (int stage = 0; stage < kStages; ++stage) {
      init_barrier(shared.full[stage], 1);
      init_barrier(shared.empty[stage], kDown * 4 * kConsumers);  // a warp of a consumer arrives once
    }
    publish_barriers();
  }
  __syncthreads();
  meet_cluster();
  const Work work(a);
  if (warp < 4) {
    keep_registers<40>();
    if (threadIdx.x == 0) {
      acquire_tensor_map(map_a);
      acquire_tensor_map(map_b);
      copy_tiles(work, static_cast<int>(a.K), map_a, map_b, shared);
    }
  } else {
    take_registers<232>();
    multiply_tiles(a, work, shared, warp / 4 - 1);
  }
  meet_cluster();  // until then others copy to this block, and arrive at its barriers
}
