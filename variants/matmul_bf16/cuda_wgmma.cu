// apo:variant    matmul_bf16/cuda_wgmma
// apo:target     cuda sm_90a
// apo:technique  wgmma
// apo:technique  bulk-copies
// apo:technique  persistent-grid
// apo:technique  split-items
// apo:parent     matmul_bf16/cuda_tensor_core
// apo:idea       wgmma on tiles of 128 x 256, whose operands a warpgroup of their own copies, once for both blocks of a cluster.
// apo:predict    6x..40x over parent: 550 to 800 TFLOP/s, where a warp that loads its own fragments waits for each of them.
// apo:tune       DOWN 2,1
// apo:tune       AHEAD 2,0,1
// apo:tune       STRETCHES 0,1
// apo:scratch    maps 256*SMS+128
// apo:scratch    parts 131072*SMS*STRETCHES+64
// apo:requires   K % 8 == 0 && N % 4 == 0
// apo:launch     multiply grid=DOWN*(STRETCHES?min(ceil_div(M,128*DOWN)*ceil_div(N,256),SMS/DOWN):ceil_div(ceil_div(M,128*DOWN)*ceil_div(N,256),ceil_div(ceil_div(M,128*DOWN)*ceil_div(N,256),SMS/DOWN))) cluster=DOWN block=384 shared=197632
//
// A block has a warpgroup that copies and two that multiply, each of which owns 64 rows of the tile: 128 sums a thread.
// DOWN blocks, a cluster, make tiles one above the other. They need the same rows of b: each copies its part of these
// into all of them. kGroup rows of clusters are worked off together, so that what all blocks read at one time is a few
// rows of both operands, and stays in the L2.
//
// All clusters have equally many tiles, as far as that is possible. With STRETCHES the tiles that do not divide by
// them, and one more of each cluster, are cut: a cluster takes an equal stretch of all stages of these, so that a tile
// is cut once at most. It begins with the first stages of a tile, whose sums it leaves for its successor, goes on with
// whole ones, and ends with the tile that its predecessor began: results are those of whole tiles to the bit. Then no
// two clusters store at the same time, but for the last tiles, and none is idle: 256 tiles of 4096 x 4096 are 3.88 for
// each of 66 clusters, where 64 clusters have 4.
#include "bulk_copies.cuh"
#include "matmul_bf16.args.h"

namespace {

constexpr int kRows = 128, kColumns = 256;  // of a tile
constexpr int kDepth = 64;                  // terms of the sums in a stage
constexpr int kStages = 4, kGroup = 8;
constexpr int kDown = DOWN, kAhead = AHEAD;
constexpr int kRowsOfB = kColumns / kDown;  // that a block copies
constexpr int kConsumers = 2;
static_assert(kAhead < kStages);

struct alignas(1024) Shared {
  bf16 a[kStages][kRows][kDepth];
  bf16 b[kStages][kColumns][kDepth];
  unsigned long long maps[2][kTensorMapBytes / 8];  // of a and b, as they are made
  Barrier full[kStages], empty[kStages];
};
static_assert(sizeof(Shared) == 197632);

// The tiles of a block, and the pieces of those that are cut.
struct Work {
  int down = blockIdx.x % kDown, cluster = blockIdx.x / kDown, clusters = gridDim.x / kDown;
  int tiles_down, tiles_across;  // of clusters
  int stages;                    // of a tile
  int cut, begin, end;           // tiles that are cut, the first ones, and the cluster's stretch of their stages
  int turn = 0;
  int row = 0, column = 0;                 // where the block's tile begins
  int from = 0, to = 0;                    // stages of the piece
  bool is_begun = false, is_left = false;  // by the cluster before; for the one behind

  __device__ explicit Work(const matmul_bf16_args& a)
      : tiles_down(static_cast<int>((a.M + kRows * kDown - 1) / (kRows * kDown))),
        tiles_across(static_cast<int>((a.N + kColumns - 1) / kColumns)),
        stages(static_cast<int>((a.K + kDepth - 1) / kDepth)) {
    const int left = tiles_down * tiles_across % clusters;
    cut = STRETCHES && left > 0 ? clusters + left : 0;  // no more than there are: clusters are no more than tiles
    begin = cluster * (cut * stages) / clusters;
    end = (cluster + 1) * (cut * stages) / clusters;
  }

  // Goes to the next piece; false behind the last one. A stretch is at least as long as a tile.
  __device__ bool advance() {
    const int whole = (begin + stages - 1) / stages, behind = end / stages, all = tiles_down * tiles_across;
    const int at = turn++ - (end % stages > 0), others = at - (behind - whole);
    int tile = others < 0 ? whole + at : cut + cluster + others * clusters;
    from = 0;
    to = stages;
    is_left = at < 0;
    is_begun = tile >= all;
    if (is_left) {
      tile = behind;
      to = end % stages;
    } else if (is_begun) {
      tile = whole - 1;
      from = begin % stages;
      if (from == 0 || cut + cluster + (others - 1) * clusters >= all) {
        return false;
      }
    }
    const int first = tile / (kGroup * tiles_across) * kGroup, rows = min(kGroup, tiles_down - first);
    const int in_group = tile - first * tiles_across;
    row = ((first + in_group % rows) * kDown + down) * kRows;
    column = in_group / rows * kColumns;
    return true;
  }
};

// By one thread: all copies of the block, by maps of tiles of kRows and kRowsOfB rows.
__device__ void copy_tiles(Work work, const void* map_a, const void* map_b, Shared& shared) {
  Ring<kStages> ring;
  while (work.advance()) {
    for (int k = work.from * kDepth; k < work.to * kDepth; k += kDepth, ring.advance()) {
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

// Warps whose sums wait for the block of the cluster behind; 0 between calls. No GPU of sm_90a has more SMs.
__device__ unsigned sums_left[144 * 4 * kConsumers];

// Where a thread of the block leaves its sums, four in a row, the next four 128 places on.
__device__ float4* place_of_sums(const matmul_bf16_args& a, int block, int consumer) {
  return static_cast<float4*>(a.parts) + ((block * kConsumers + consumer) * 32 * 128 + threadIdx.x % 128);
}

__device__ unsigned& flag_of_sums(int block, int consumer) {
  return sums_left[(block * kConsumers + consumer) * 4 + threadIdx.x / 32 % 4];
}

__device__ void leave_sums(const float (&sums)[128], const matmul_bf16_args& a, int consumer) {
  float4* const to = place_of_sums(a, blockIdx.x, consumer);
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    __stcg(to + 128 * i, make_float4(sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]));
  }
  __threadfence();
  __syncwarp();
  if (threadIdx.x % 32 == 0) {
    atomicExch(&flag_of_sums(blockIdx.x, consumer), 1);
  }
}

// What the block of the cluster before has left, which began earlier and left it before it waited for anybody; zeros if
// the piece is the first of its tile. No branch round the loads: products on registers of a branch wait for each other.
__device__ void begin_sums(float (&sums)[128], const matmul_bf16_args& a, int consumer, bool is_begun) {
  const int block = blockIdx.x - kDown;
  if (is_begun) {
    if (threadIdx.x % 32 == 0) {
      while (atomicExch(&flag_of_sums(block, consumer), 0) == 0) {
        __nanosleep(100);
      }
    }
    __syncwarp();
    __threadfence();
  }
  const float4* const from = place_of_sums(a, block, consumer);
#pragma unroll
  for (int i = 0; i < 128; i += 4) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %5, 0; @p ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4]; }"
                 : "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
                 : "l"(from + 32 * i), "r"(static_cast<int>(is_begun))
                 : "memory");
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
  const int lane = threadIdx.x % 32;
  const auto release = [&](int stage) {
    if (kDown == 1 && lane == 0) {
      arrive(shared.empty[stage]);
    } else if (kDown > 1 && lane < kDown) {
      arrive_at(shared.empty[stage], lane);
    }
  };
  // The first consumer begins kAhead stages before the second, so that one multiplies while the other stores.
  int until_start = min(kAhead, work.stages - 1);
  if (kAhead > 0 && consumer == 1) {
    meet(1, 128 * kConsumers);
    until_start = -1;
  }
  Ring<kStages> ring;
  while (work.advance()) {
    float sums[128] = {};
    if (STRETCHES) {
      begin_sums(sums, a, consumer, work.is_begun);
    }
    int last = 0;
    for (int stage = work.from; stage < work.to; ++stage, ring.advance()) {
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
      if (stage > work.from) {
        wait_for_products<1>();
        release(last);
      }
      last = ring.stage;
    }
    wait_for_products<0>();
    release(last);
    hold(sums);
    if (STRETCHES && work.is_left) {
      leave_sums(sums, a, consumer);
    } else {
      store_sums(sums, a, work.row + 64 * consumer + threadIdx.x / 32 % 4 * 16 + lane / 4, work.column);
    }
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
      copy_tiles(work, map_a, map_b, shared);
    }
  } else {
    take_registers<232>();
    multiply_tiles(a, work, shared, warp / 4 - 1);
  }
  meet_cluster();  // until then others copy to this block, and arrive at its barriers
}
