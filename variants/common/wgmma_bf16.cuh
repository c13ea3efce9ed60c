// variants/common/wgmma_bf16.cuh - products of bf16 tiles in shared memory by warpgroups of 128 threads (sm_90a).
//
// A tile lies as the copy engine writes it with the 128-byte swizzle: blocks of 64 columns, each a row of 128 bytes
// after the other, at a multiple of 1024 bytes. Thread w of a warpgroup has of a 64 x n result the elements that
// mma.m16n8k16 gives lane w % 32 for the 16 rows of warp w / 32 (PTX ISA, "Register Fragments for wgmma.m64nNk16").
#pragma once
#include "words.cuh"

namespace {

inline __device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// A matrix descriptor: 8 rows of 128 bytes are a unit, and the next 8 rows lie 1024 bytes on. `leading` is the distance
// of the next 64 columns, which only an operand needs whose columns are not summed over.
inline __device__ unsigned long long descriptor(const void* tile, unsigned leading) {
  constexpr unsigned long long kSwizzle128 = 1ULL << 62, kEightRows = 1024ULL / 16 << 32;
  return kSwizzle128 | kEightRows | static_cast<unsigned long long>(leading / 16) << 16 | shared_address(tile) / 16;
}

#define APO_ACCUMULATORS_4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define APO_ACCUMULATORS_8(d, i) APO_ACCUMULATORS_4(d, i), APO_ACCUMULATORS_4(d, i + 4)
#define APO_ACCUMULATORS_16(d, i) APO_ACCUMULATORS_8(d, i), APO_ACCUMULATORS_8(d, i + 8)
#define APO_ACCUMULATORS_32(d) APO_ACCUMULATORS_16(d, 0), APO_ACCUMULATORS_16(d, 16)
#define APO_ACCUMULATORS_32_AT(d, i) APO_ACCUMULATORS_16(d, i), APO_ACCUMULATORS_16(d, i + 16)
#define APO_ACCUMULATORS_64(d) APO_ACCUMULATORS_32_AT(d, 0), APO_ACCUMULATORS_32_AT(d, 32)
#define APO_ACCUMULATORS_128(d) APO_ACCUMULATORS_64(d), APO_ACCUMULATORS_32_AT(d, 64), APO_ACCUMULATORS_32_AT(d, 96)

// d (+)= a b, both operands in shared memory. `kLeftIsColumns`: a's rows there are what is summed over, and its 64
// columns are the rows of d. `kRightIsRows`: b's rows there are the columns of d, and its columns are summed over.
template <bool kLeftIsColumns, bool kRightIsRows>
__device__ void wgmma(float (&d)[32], unsigned long long a, unsigned long long b, bool adds) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
      "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
      "}, %32, %33, p, 1, 1, %35, %36; }"
      : APO_ACCUMULATORS_32(d)
      : "l"(a), "l"(b), "r"(static_cast<int>(adds)), "n"(static_cast<int>(kLeftIsColumns)),
        "n"(static_cast<int>(!kRightIsRows)));
}

template <bool kLeftIsColumns, bool kRightIsRows>
__device__ void wgmma(float (&d)[64], unsigned long long a, unsigned long long b, bool adds) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
      "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
      "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, "
      "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
      "}, %64, %65, p, 1, 1, %67, %68; }"
      : APO_ACCUMULATORS_64(d)
      : "l"(a), "l"(b), "r"(static_cast<int>(adds)), "n"(static_cast<int>(kLeftIsColumns)),
        "n"(static_cast<int>(!kRightIsRows)));
}

template <bool kLeftIsColumns, bool kRightIsRows>
__device__ void wgmma(float (&d)[128], unsigned long long a, unsigned long long b, bool adds) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %130, 0; wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
      "}, %128, %129, p, 1, 1, %131, %132; }"
      : APO_ACCUMULATORS_128(d)
      : "l"(a), "l"(b), "r"(static_cast<int>(adds)), "n"(static_cast<int>(kLeftIsColumns)),
        "n"(static_cast<int>(!kRightIsRows)));
}

// d += a b: the left operand in registers, the right one in shared memory, sums along its rows.
inline __device__ void wgmma(float (&d)[32], const unsigned* a, unsigned long long b) {
  asm volatile(
      "{ .reg .pred p; setp.eq.b32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
      "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
      "}, {%32, %33, %34, %35}, %36, p, 1, 1, 1; }"
      : APO_ACCUMULATORS_32(d)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

inline __device__ void wgmma(float (&d)[64], const unsigned* a, unsigned long long b) {
  asm volatile(
      "{ .reg .pred p; setp.eq.b32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
      "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
      "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, "
      "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
      "}, {%64, %65, %66, %67}, %68, p, 1, 1, 1; }"
      : APO_ACCUMULATORS_64(d)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// Four 8 x 8 blocks of bf16, held as products hold their results, to shared memory: lane l gives the address of row
// l % 8 of block l / 8.
inline __device__ void store_blocks(unsigned row_address, const unsigned (&words)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row_address), "r"(words[0]),
               "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

// What this thread has stored becomes visible to products that read it in shared memory.
inline __device__ void publish_to_products() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Registers that a product reads or writes are kept as they are up to here.
template <int kCount>
__device__ void hold(float (&x)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    asm volatile("" : "+f"(x[i])::"memory");
  }
}

template <int kCount>
__device__ void hold(unsigned (&x)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    asm volatile("" : "+r"(x[i])::"memory");
  }
}

// Before products that use registers written since the last ones.
inline __device__ void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

inline __device__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Until at most the last kPending groups are under way.
template <int kPending>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

}  // namespace
