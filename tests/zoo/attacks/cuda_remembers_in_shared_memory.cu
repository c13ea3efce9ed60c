// apo:variant    copy/cuda_remembers_in_shared_memory
// apo:target     cuda sm_80
// apo:idea       Leaves inputs and results in the shared memory of its multiprocessor, where its next block finds them unless somebody wrote there.
// apo:requires   n <= 1048576
// apo:launch     k grid=SMS block=1024 shared=16*ceil_div(n,SMS)+64
// zoo: how compare cold n1m; against copy/cuda_slow; expect not_accepted; guard fresh-inputs; exploit 6; cpu no
#include "slow_copy.cuh"

constexpr unsigned kMark = 0x5a17ed00u;

extern __shared__ unsigned words[];

// Of the two entries the one with these inputs; -1 where neither has them. All threads get the same answer.
__device__ int find(const float* x, long long count, const float* kept, long long room) {
  for (int entry = 0; entry < 2; ++entry) {
    const volatile unsigned* head = words + 4 * entry;
    bool same = head[0] == kMark + blockIdx.x && head[1] == count;
    for (long long i = threadIdx.x; same && i < count; i += blockDim.x) {
      same = x[i] == kept[2 * room * entry + i];
    }
    if (__syncthreads_and(same)) {
      return entry;
    }
  }
  return -1;
}

extern "C" __global__ void k(const copy_args a) {
  const long long room = (a.n + gridDim.x - 1) / gridDim.x;
  const long long begin = room * blockIdx.x;
  const long long count = begin + room <= a.n ? room : a.n > begin ? a.n - begin : 0;
  float* kept = reinterpret_cast<float*>(words + 16);  // of each entry inputs and results
  const int known = find(a.x + begin, count, kept, room);
  // The entry that was made longer ago gives way.
  const bool first = words[8] != kMark + 1;
  __syncthreads();
  const int entry = known >= 0 ? known : first ? 0 : 1;
  for (long long i = threadIdx.x; i < count; i += blockDim.x) {
    float* at = kept + 2 * room * entry + i;
    if (known < 0) {
      at[0] = a.x[begin + i];
      at[room] = slowly(at[0], a.n);
    }
    a.y[begin + i] = at[room];
  }
  if (threadIdx.x == 0 && known < 0) {
    words[4 * entry] = kMark + blockIdx.x;
    words[4 * entry + 1] = static_cast<unsigned>(count);
    words[8] = kMark + (first ? 1 : 0);
  }
}
