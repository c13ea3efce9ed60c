// apo:variant    lse_backward/cuda_two_kernels
// apo:target     cuda sm_80
// apo:technique  streamed-scores
// apo:parent     lse_backward/cuda_materialised
// apo:idea       A warp owns a query, then a key: it walks along all others and keeps no weight; fp32 on CUDA cores.
// apo:predict    1.0x..8x over parent: the weights, 4 bytes of memory for each pair, stay in registers; products become 4.
// apo:requires   D <= 1024 && heads*group*S <= 8589934592 && heads*keys <= 8589934592
// apo:launch     to_queries grid=ceil_div(heads*group*S,4) block=128
// apo:launch     to_keys grid=ceil_div(heads*keys,4) block=128
#include "scores.cuh"

namespace {

// A lane has every 32nd element of a row of up to 32 kParts elements.
template <int kParts>
struct Row {
  float of[kParts];

  __device__ void take(const bf16* from, long long D) {
    for (int part = 0; part < kParts; ++part) {
      const int d = 32 * part + threadIdx.x % 32;
      of[part] = d < D ? load(from[d]) : 0;
    }
  }
  __device__ float dot(const Row& other) const {
    float sum = 0;
    for (int part = 0; part < kParts; ++part) {
      sum += of[part] * other.of[part];
    }
    return sum_of_lanes(sum);
  }
  __device__ void add(float factor, const Row& other) {
    for (int part = 0; part < kParts; ++part) {
      of[part] += factor * other.of[part];
    }
  }
  __device__ void put(float factor, bf16* to, long long D) const {
    for (int part = 0; part < kParts; ++part) {
      const int d = 32 * part + threadIdx.x % 32;
      if (d < D) {
        to[d] = store(factor * of[part]);
      }
    }
  }
};

template <int kParts>
__device__ void query(const lse_backward_args& a, long long row) {
  const bf16* keys = a.k + row / (a.group * a.S) * a.keys * a.D;
  Row<kParts> own, other, sum = {};
  own.take(a.q + row * a.D, a.D);
  for (long long j = 0; j < a.keys; ++j) {
    if (!is_hidden(a, row % a.S, j)) {
      other.take(keys + j * a.D, a.D);
      sum.add(weight_of(a, own.dot(other), a.lse[row]), other);
    }
  }
  sum.put(a.scale * a.dlse[row], a.dq + row * a.D, a.D);
}

template <int kParts>
__device__ void key(const lse_backward_args& a, long long at) {
  const long long rows = a.group * a.S, first = at / a.keys * rows;
  Row<kParts> own, other, sum = {};
  own.take(a.k + at * a.D, a.D);
  for (long long row = first; row < first + rows; ++row) {
    if (!is_hidden(a, row % a.S, at % a.keys)) {
      other.take(a.q + row * a.D, a.D);
      sum.add(a.dlse[row] * weight_of(a, own.dot(other), a.lse[row]), other);
    }
  }
  sum.put(a.scale, a.dk + at * a.D, a.D);
}

}  // namespace

extern "C" __global__ void to_queries(const lse_backward_args a) {
  const long long row = 4LL * blockIdx.x + threadIdx.x / 32;
  if (row >= a.heads * a.group * a.S) {
    return;
  }
  if (a.D <= 128) {
    query<4>(a, row);
  } else {
    query<32>(a, row);
  }
}

extern "C" __global__ void to_keys(const lse_backward_args a) {
  const long long at = 4LL * blockIdx.x + threadIdx.x / 32;
  if (at >= a.heads * a.keys) {
    return;
  }
  if (a.D <= 128) {
    key<4>(a, at);
  } else {
    key<32>(a, at);
  }
}
