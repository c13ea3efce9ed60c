// apo:variant    matmul_bf16/cuda_wgmma
// apo:target     cuda sm_90a
// apo:technique  wgmma
// apo:technique  bulk-copies
// apo:technique  persistent-grid
// apo:parent     matmul_bf16/cuda_tensor_core
// apo:idea       wgmma on tiles of 128 x 256 whose operands a warpgroup of their own copies, once for the blocks of a cluster.
// apo:predict    6x..40x over parent: 550 to 800 TFLOP/s, where a warp that loads its own fragments waits for each of them.
// apo:tune       STAGES 4,3
// apo:tune       DOWN 2,1
// apo:tune       ACROSS 1,2
// apo:tune       AHEAD 0,1,2
// apo:tune       GROUP 8,4,16
// apo:scratch    maps 256*SMS+128
// apo:requires   K % 8 == 0 && N % 4 == 0
// apo:requires   AHEAD < STAGES
// apo:launch     multiply grid=DOWN*ACROSS*ceil_div(ceil_div(M,128*DOWN)*ceil_div(N,256*ACROSS),ceil_div(ceil_div(M,128*DOWN)*ceil_div(N,256*ACROSS),SMS/(DOWN*ACROSS))) cluster=DOWN*ACROSS block=384 shared=1024*ceil_div(49168*STAGES+256,1024)
//
// A cluster of DOWN x ACROSS blocks makes DOWN x ACROSS tiles at a time. Blocks side by side need the same rows of a,
// blocks one above the other the same rows of b: each copies its part of them into all of these. All clusters have
// equally many tiles, as far as that is possible; GROUP rows of clusters are worked off together, so that what the
// blocks read at one time is a few rows of both operands, and stays in the L2.
#include "bulk_copies.cuh"
#include "matmul_bf16.args.h"

namespace {

constexpr int kRows = 128, kColumns = 256;  // of a tile
constexpr int kDepth = 64;                  // terms of the sums in a stage
constexpr int kDown = DOWN, kAcross = ACROSS, kBlocks = kDown * kAcross;
constexpr int kAhead = AHEAD;
constexpr int kConsumers = 2;  // warpgroups, each of which owns 64 rows of the tile

struct alignas(1024) Shared {
  bf16 a[STAGES][kRows][kDepth];
  bf16 b[STAGES][kColumns][kDepth];
  unsigned long long maps[2][kTensorMapBytes / 8];  // of a and b, as they are made
  Barrier full[STAGES], empty[STAGES];
};
constexpr unsigned kStageBytes = sizeof(Shared::a[0]) + sizeof(Shared::b[0]);

// The block's own map of a or b in the scratch buffer, whose maps lie at multiples of 128 bytes.
__device__ char* map_of(const matmul_bf16_args& a, int operand) {
  const auto first = (reinterpret_cast<unsigned long long>(a.maps) + kTensorMapBytes - 1) / kTensorMapBytes;
  return reinterpret_cast<char*>((first + 2 * blockIdx.x + operand) * kTensorMapBytes);
}

// Of the cluster: which block this is in it, and which tiles are its own.
struct Work {
  int in_cluster = blockIdx.x % kBlocks;
  int down = in_cluster % kDown, across = in_cluster / kDown;
  int tiles_down, tiles_across;  // of clusters
  int next = blockIdx.x / kBlocks;
  int row = 0, column = 0;  // where the block's tile begins

  __device__ explicit Work(const matmul_bf16_args& a)
      : tiles_down(static_cast<int>((a.M + kRows * kDown - 1) / (kRows * kDown))),
        tiles_across(static_cast<int>((a.N + kColumns * kAcross - 1) / (kColumns * kAcross))) {}

  // Goes to the next tile; false behind the last one.
  __device__ bool advance() {
    if (next >= tiles_down * tiles_across) {
      return false;
    }
    constexpr int kGroup = GROUP;
    const int first = next / (kGroup * tiles_across) * kGroup, rows = min(kGroup, tiles_down - first);
    const int at = next - first * tiles_across;
    row = ((first + at % rows) * kDown + down) * kRows;
    column = (at / rows * kAcross + across) * kColumns;
    next += gridDim.x / kBlocks;
    return true;
  }

  __device__ bool shares_a(int block) const { return block % kDown == down; }
  __device__ bool shares_b(int block) const { return block / kDown == across; }
};

// By one thread: all copies of the block.
__device__ void copy_tiles(const matmul_bf16_args& a, Work work, Shared& shared) {
  constexpr int kRowsOfA = kRows / kAcross, kRowsOfB = kColumns / kDown;  // that this block copies
  acquire_tensor_map(map_of(a, 0));
  acquire_tensor_map(map_of(a, 1));
  unsigned need_a = 0, need_b = 0;
  for (int block = 0; block < kBlocks; ++block) {
    need_a |= work.shares_a(block) << block;
    need_b |= work.shares_b(block) << block;
  }
  Ring<STAGES> ring;
  while (work.advance()) {
    for (int k = 0; k < a.K; k += kDepth, ring.advance()) {
      Barrier& full = shared.full[ring.stage];
      wait(shared.empty[ring.stage], ring.parity ^ 1);
      arrive_expecting(full, kStageBytes);
      const int part_a = work.across * kRowsOfA, part_b = work.down * kRowsOfB;
      copy_tile_to(need_a, shared.a[ring.stage][part_a], map_of(a, 0), k, work.row + part_a, full);
      copy_tile_to(need_b, shared.b[ring.stage][part_b], map_of(a, 1), k, work.column + part_b, full);
    }
  }
}

// Of 64 x 256 sums this thread has, of `row` and the 8th row after it, the columns 8 n + 2 t and 8 n + 2 t + 1 from
// `column` on, with t = thread % 4. Two neighbours change pairs, so that each stores 4 columns at once.
__device__ void store_sums(const float (&sums)[128], const matmul_bf16_args& a, int row, int column) {
  const bool odd = threadIdx.x % 2;
  float* const to = a.c + row * a.N;
  column += 8 * odd + threadIdx.x % 4 / 2 * 4;
#pragma unroll
  for (int n = 0; n < 32; n += 2) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float* const left = sums + 4 * n + 2 * r;
      const float* const right = left + 4;
      const float first = __shfl_xor_sync(kAll, odd ? left[0] : right[0], 1);
      const float second = __shfl_xor_sync(kAll, odd ? left[1] : right[1], 1);
      if (row + 8 * r < a.M && column + 8 * n < a.N) {
        __stcs(reinterpret_cast<float4*>(to + 8 * r * a.N + column + 8 * n),
               odd ? make_float4(first, second, right[0], right[1]) : make_float4(left[0], left[1], first, second));
      }
    }
  }
}

// By a warpgroup: its 64 rows of all tiles.
__device__ void multiply_tiles(const matmul_bf16_args& a, Work work, Shared& shared, int consumer) {
  const int lane = threadIdx.x % 32;
  const bool tells =
      lane < kBlocks && (work.shares_a(lane) || work.shares_b(lane));  // the blocks that copy to this one
  const auto release = [&](int stage) {
    if (tells) {
      arrive_at(shared.empty[stage], lane);
    }
  };
  const int terms = static_cast<int>(a.K);
  // The first consumer begins AHEAD stages before the second, so that one multiplies while the other stores.
  int until_start = kAhead > 0 ? min(kAhead, (terms + kDepth - 1) / kDepth - 1) : -1;
  if (kAhead > 0 && consumer == 1) {
    meet(1, 128 * kConsumers);
    until_start = -1;
  }
  Ring<STAGES> ring;
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

// All threads of all blocks of the cluster have come.
__device__ void meet_cluster() {
  __syncwarp();
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

}  // namespace

extern "C" __global__ __launch_bounds__(384, 1) void multiply(const matmul_bf16_args a) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared*>(memory);
  const int warp = __shfl_sync(kAll, threadIdx.x / 32, 0);
  if (warp < 2) {
    const Matrices operand = warp == 0 ? Matrices{a.a, 1, a.M, a.K} : Matrices{a.b, 1, a.N, a.K};
    make_tensor_map(map_of(a, warp), shared.maps[warp], operand, warp == 0 ? kRows / kAcross : kColumns / kDown);
  } else if (threadIdx.x == 64) {
    for (int stage = 0; stage < STAGES; ++stage) {
      init_barrier(shared.full[stage], 1);
      init_barrier(shared.empty[stage], (kDown + kAcross - 1) * 4 * kConsumers);  // a warp of a consumer arrives once
    }
    publish_barriers();
  }
  meet_cluster();
  const Work work(a);
  if (warp < 4) {
    keep_registers<40>();
    if (threadIdx.x == 0) {
      copy_tiles(a, work, shared);
    }
  } else {
    take_registers<232>();
    multiply_tiles(a, work, shared, warp / 4 - 1);
  }
  meet_cluster();  // until then others copy to this block, and arrive at its barriers
}
