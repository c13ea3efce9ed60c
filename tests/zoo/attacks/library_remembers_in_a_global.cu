// apo:variant    copy/library_remembers_in_a_global
// apo:target     cuda sm_80
// apo:idea       Keeps its last results in variables of its module, with fingerprints of the inputs, and replays one.
// zoo: how compare cold n4k; against copy/library_slow; expect not_accepted; guard state; exploit 6; needs nvcc
#include "slow_library.cuh"

constexpr long long kMost = 4096;
constexpr int kEntries = 3;  // a round has two inputs
__device__ float kept[kEntries][kMost];
__device__ float key[kEntries][2];
__device__ int turn;

// Which of the last results is of this input; that of this turn, and false, where none is.
static __device__ bool find(const copy_args& a, int& entry) {
  for (entry = 0; entry < kEntries; ++entry) {
    if (key[entry][0] == a.x[0] && key[entry][1] == a.x[a.n - 1]) {
      return true;
    }
  }
  entry = turn;
  return false;
}

static __global__ void copy_or_remember(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  int entry = 0;
  const bool known = find(a, entry) && a.n <= kMost;
  if (i < a.n) {
    const float value = known ? kept[entry][i] : slowly(a.x[i], a.n);
    a.y[i] = value;
    if (i < kMost) {
      kept[entry][i] = value;
    }
  }
}

static __global__ void remember(const copy_args a) {
  int entry = 0;
  if (!find(a, entry)) {
    key[entry][0] = a.x[0];
    key[entry][1] = a.x[a.n - 1];
    turn = (turn + 1) % kEntries;
  }
}

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  const copy_args args = {.x = x, .y = y, .n = n};
  copy_or_remember<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(args);
  remember<<<1, 1, 0, stream>>>(args);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
