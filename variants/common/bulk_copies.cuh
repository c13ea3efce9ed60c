// variants/common/bulk_copies.cuh - the copy engine of sm_90: barriers that count bytes, tensor maps, copies of tiles.
#pragma once
#include "wgmma_bf16.cuh"

namespace {

using Barrier = unsigned long long;  // an mbarrier in shared memory

inline __device__ void init_barrier(Barrier& barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(arrivals) : "memory");
}

// Makes initialised barriers known to the copy engine; __syncthreads() makes them known to the block.
inline __device__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

inline __device__ void arrive(Barrier& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier)) : "memory");
}

inline __device__ void arrive_expecting(Barrier& barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(bytes)
               : "memory");
}

// At the barrier that lies in that block of the cluster where `barrier` lies in this one. Publishes no ordinary stores
// to that block: a release for the cluster would wait for all of memory.
inline __device__ void arrive_at(Barrier& barrier, unsigned block) {
  asm volatile(
      "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; "
      "mbarrier.arrive.shared::cluster.b64 _, [there]; }" ::"r"(shared_address(&barrier)),
      "r"(block)
      : "memory");
}

// Until the phase of this parity is complete.
inline __device__ void wait(Barrier& barrier, unsigned parity) {
  asm volatile(
      "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again; }" ::"r"(
          shared_address(&barrier)),
      "r"(parity)
      : "memory");
}

// Barriers of the block by number: `threads` have come, of which those that pass() do not wait.
inline __device__ void meet(int number, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

inline __device__ void pass(int number, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// Stages of a ring of buffers, and the parity of the round.
template <int kStages>
struct Ring {
  int stage = 0;
  unsigned parity = 0;

  __device__ void advance() {
    ++stage;
    if (stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// Matrices of bf16, one a head; D % 8 == 0.
struct Matrices {
  const bf16* of;
  long long heads, rows, D;
};

constexpr int kTensorMapBytes = 128;

// By one warp: the map of tiles of `rows` x 64 with the 128-byte swizzle, zeros beyond the matrix. Made from zeros,
// field by field, since device code cannot call the driver. `words` is 128 bytes of shared memory, aligned to 128.
inline __device__ void make_tensor_map(void* to, unsigned long long* words, const Matrices& from, int rows) {
  const int lane = threadIdx.x % 32;
  if (lane < kTensorMapBytes / 8) {
    words[lane] = 0;
  }
  __syncwarp();
  if (lane == 0) {
    const unsigned long long map = __cvta_generic_to_shared(words);
    const unsigned long long row_bytes = 2 * from.D, head_bytes = row_bytes * from.rows;
#define APO_REPLACE(field, type, constraint, value)                                                                  \
  asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], %1;" ::"l"(map), constraint(value) \
               : "memory")
#define APO_REPLACE_AT(field, at, type, constraint, value)                                                 \
  asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], " at ", %1;" ::"l"(map), \
               constraint(value)                                                                           \
               : "memory")
    APO_REPLACE("global_address", "b64", "l", from.of);
    APO_REPLACE("rank", "b32", "r", 2);  // less one
    APO_REPLACE_AT("box_dim", "0", "b32", "r", 64);
    APO_REPLACE_AT("box_dim", "1", "b32", "r", rows);
    APO_REPLACE_AT("box_dim", "2", "b32", "r", 1);
    APO_REPLACE_AT("global_dim", "0", "b32", "r", static_cast<unsigned>(from.D));
    APO_REPLACE_AT("global_dim", "1", "b32", "r", static_cast<unsigned>(from.rows));
    APO_REPLACE_AT("global_dim", "2", "b32", "r", static_cast<unsigned>(from.heads));
    APO_REPLACE_AT("global_stride", "0", "b64", "l", row_bytes);
    APO_REPLACE_AT("global_stride", "1", "b64", "l", head_bytes);
    APO_REPLACE_AT("element_stride", "0", "b32", "r", 1);
    APO_REPLACE_AT("element_stride", "1", "b32", "r", 1);
    APO_REPLACE_AT("element_stride", "2", "b32", "r", 1);
    APO_REPLACE("elemtype", "b32", "n", 1);           // 16 bits, whatever they are
    APO_REPLACE("interleave_layout", "b32", "n", 0);  // none
    APO_REPLACE("swizzle_mode", "b32", "n", 3);       // 128 bytes
    APO_REPLACE("fill_mode", "b32", "n", 0);          // zeros
#undef APO_REPLACE
#undef APO_REPLACE_AT
  }
  __syncwarp();
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(
          __cvta_generic_to_global(to)),
      "l"(__cvta_generic_to_shared(words))
      : "memory");
}

// Before the first copy by a map that an earlier kernel has made.
inline __device__ void acquire_tensor_map(const void* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

// Starts to copy the map's tile at [head][row][column]; `done` gets its bytes.
inline __device__ void copy_tile(void* to, const void* map, int column, int row, int head, Barrier& done) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], "
      "[%5];" ::"r"(shared_address(to)),
      "l"(map), "r"(column), "r"(row), "r"(head), "r"(shared_address(&done))
      : "memory");
}

// The same into each block of the cluster whose bit is set in `blocks`, to the place and with the barrier there.
inline __device__ void copy_tile_to(unsigned blocks, void* to, const void* map, int column, int row, Barrier& done) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1, {%2, %3, %4}], [%5], %6;" ::"r"(shared_address(to)),
      "l"(map), "r"(column), "r"(row), "r"(0), "r"(shared_address(&done)), "h"(static_cast<unsigned short>(blocks))
      : "memory");
}

// Starts to copy bytes that follow one another: a multiple of 16, aligned to 16.
inline __device__ void copy_bytes(void* to, const void* from, unsigned bytes, Barrier& done) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(&done))
               : "memory");
}

// Gives registers back, or takes them: a multiple of 8, by all warps of a warpgroup.
template <int kRegisters>
__device__ void keep_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

template <int kRegisters>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace
