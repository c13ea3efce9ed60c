// variants/common/row_copies.cuh - asynchronous copies of the rows of some steps into shared memory.
#pragma once
#include <cuda_pipeline_primitives.h>

namespace {

// Starts the copy of `steps` rows of `width` elements, which are `pitch` apart in memory, by the block or by each warp
// for itself. A row has a multiple of 4 bytes.
template <int width, bool kByWarp = false, class Element>
__device__ void copy_rows(const Element* from, long long pitch, Element (*to)[width], int steps) {
  constexpr int bytes = width * sizeof(Element);
  constexpr int piece = bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : 4;
  constexpr int pieces = bytes / piece, elements = piece / sizeof(Element);
  for (int p = kByWarp ? threadIdx.x % 32 : threadIdx.x; p < steps * pieces; p += kByWarp ? 32 : int(blockDim.x)) {
    const int s = p / pieces, at = p % pieces * elements;
    __pipeline_memcpy_async(&to[s][at], from + s * pitch + at, piece);
  }
}

}  // namespace
