// variants/common/broadcast.cuh - the binary backward on a GPU: derivatives, and where A's elements find theirs of B.
#pragma once
#include "words.cuh"

namespace {

inline __device__ float gradient_of_a(long long op, float a, float b) {
  if (op < 2) {
    return 1;
  }
  if (op == 2) {
    return b;
  }
  return op == 3 ? 1 / b : a == b ? 0.5f : (a < b) == (op == 5) ? 1.0f : 0.0f;
}

inline __device__ float gradient_of_b(long long op, float a, float b) {
  if (op < 2) {
    return op == 0 ? 1.0f : -1.0f;
  }
  if (op == 2) {
    return a;
  }
  return op == 3 ? -a / (b * b) : a == b ? 0.5f : (a < b) == (op == 5) ? 0.0f : 1.0f;
}

// Arguments without an `op` are those of pow_backward, whose one operation is A^B.
template <class Args>
constexpr bool kIsPower = !requires(const Args& args) { args.op; };

// The derivatives of the operation of `args`. Those of A^B have one power: A^(B-1) = A^B / A. Both call log2 and exp2 of
// the same numbers, which the compiler does once, in one instruction of the special-function unit each.
template <class Args>
__device__ float derivative_by_a(const Args& args, float a, float b) {
  if constexpr (kIsPower<Args>) {
    return b * __fdividef(exp2f(b * __log2f(a)), a);
  } else {
    return gradient_of_a(args.op, a, b);
  }
}
template <class Args>
__device__ float derivative_by_b(const Args& args, float a, float b) {
  if constexpr (kIsPower<Args>) {
    constexpr float kLn2 = 0.69314718f;
    return exp2f(b * __log2f(a)) * (__log2f(a) * kLn2);
  } else {
    return gradient_of_b(args.op, a, b);
  }
}

inline __device__ void put(float value, float* to) {
  *to = value;
}
inline __device__ void put(float value, bf16* to) {
  *to = store(value);
}

// The tensors A and B are empty where no gradient needs them.
template <class Args>
__device__ bool reads_a(const Args& args) {
  if constexpr (kIsPower<Args>) {
    return true;
  } else {
    return args.op >= 4 || (args.op >= 2 && args.need_dB);
  }
}
template <class Args>
__device__ bool reads_b(const Args& args) {
  if constexpr (kIsPower<Args>) {
    return true;
  } else {
    return args.op >= 3 || (args.op == 2 && args.need_dA);
  }
}

// Row-major dimensions, the outermost first. B's stride is 0 where it repeats.
struct Broadcast {
  int rank;
  long long extent[8], stride[8], b_stride[8];
  long long elements, b_elements;

  template <class Args>
  __device__ static Broadcast as_given(const Args& a) {
    const long long extents[8] = {a.d0, a.d1, a.d2, a.d3, a.d4, a.d5, a.d6, a.d7};
    Broadcast shape;
    shape.rank = 0;
    for (int d = 0; d < 8; ++d) {
      if (shape.rank > 0 || extents[d] != 1) {
        shape.add(extents[d], a.kept >> (7 - d) & 1);
      }
    }
    shape.finish();
    return shape;
  }

  // Without any dimension of 1, and with neighbours that B keeps, or repeats along, merged into one.
  template <class Args>
  __device__ static Broadcast compressed(const Args& a) {
    const long long extents[8] = {a.d0, a.d1, a.d2, a.d3, a.d4, a.d5, a.d6, a.d7};
    Broadcast shape;
    shape.rank = 0;
    for (int d = 0; d < 8; ++d) {
      const long long kept = a.kept >> (7 - d) & 1;
      if (extents[d] == 1) {
        continue;
      }
      if (shape.rank > 0 && shape.b_stride[shape.rank - 1] == kept) {
        shape.extent[shape.rank - 1] *= extents[d];
      } else {
        shape.add(extents[d], kept);
      }
    }
    shape.finish();
    return shape;
  }

  // The element of B that the element `i` of A uses.
  __device__ long long offset_in_b(long long i) const {
    long long offset = 0;
    for (int d = rank - 1; d >= 0; --d) {
      offset += i % extent[d] * b_stride[d];
      i /= extent[d];
    }
    return offset;
  }

 private:
  __device__ void add(long long count, long long kept) {
    extent[rank] = count;
    b_stride[rank++] = kept;  // until finish()
  }
  // Reads the extent once, and whatever `kept` is: nvcc 13.0 compiles `kept ? extent[d] : 1` after the stores to a load
  // of b_stride[d] where it unrolls the loop (experiments/nvidia-h200/gradients.md).
  __device__ void finish() {
    elements = b_elements = 1;
    for (int d = rank - 1; d >= 0; --d) {
      const long long count = extent[d], kept = b_stride[d];
      stride[d] = elements;
      b_stride[d] = kept * b_elements;
      elements *= count;
      b_elements *= kept != 0 ? count : 1;
    }
  }
};

// Both gradients of an element, into a dB that the lanes of a warp add to: once where all of them share an element of
// B, else each its own.
template <class Args, class Sum>
__device__ void add_gradients(const Args& a, long long i, long long at_a, long long at_b, Sum* sums, unsigned lanes) {
  const float left = reads_a(a) ? load(a.A[at_a]) : 0, right = reads_b(a) ? load(a.B[at_b]) : 0;
  if (a.need_dA) {
    put(load(a.g[i]) * gradient_of_a(a.op, left, right), a.dA + at_a);
  }
  if (a.need_dB) {
    float term = load(a.g[i]) * gradient_of_b(a.op, left, right);
    if (lanes == kAll && __all_sync(kAll, at_b == __shfl_sync(kAll, at_b, 0))) {
      term = sum_of_lanes(term);
      if (threadIdx.x % 32 == 0) {
        atomicAdd(sums + at_b, term);
      }
    } else {
      atomicAdd(sums + at_b, term);
    }
  }
}

// The index of this thread's element, and the lanes of its warp that have one.
inline __device__ long long own_element(long long elements, unsigned& lanes) {
  const long long i = 1LL * blockIdx.x * blockDim.x + threadIdx.x;
  lanes = __ballot_sync(kAll, i < elements);
  return i;
}

template <class To>
__device__ void zero_fill(To* to, long long count) {
  for (long long i = 1LL * blockIdx.x * blockDim.x + threadIdx.x; i < count; i += 1LL * gridDim.x * blockDim.x) {
    put(0, to + i);
  }
}

template <class Args>
__device__ void zero_gradients(const Args& a) {
  __shared__ Broadcast shape;
  if (threadIdx.x == 0) {
    shape = Broadcast::compressed(a);
  }
  __syncthreads();
  zero_fill(a.dA, a.need_dA ? shape.elements : 0);
  zero_fill(a.dB, a.need_dB ? shape.b_elements : 0);
}

// Zeroes dB where it is a sum, because B repeats.
template <class Args>
__device__ void zero_sums(const Args& a) {
  __shared__ Broadcast shape;
  if (threadIdx.x == 0) {
    shape = Broadcast::compressed(a);
  }
  __syncthreads();
  zero_fill(a.dB, a.need_dB && shape.elements != shape.b_elements ? shape.b_elements : 0);
}

}  // namespace
