#!/usr/bin/env bash
# experiments/recordings.sh BUNDLE OUT - what a machine with a GPU has to prove of recordings, each case a row of a table.
#
# BUNDLE is from bundle.sh. Needs nvcc and cuBLAS. Cases: a kernel in a .cu file with host code, cuBLAS, several streams with
# and without their waits, a cooperative launch, memory that is updated in place, a launch and a range of a program, and what
# has to be refused. Prints a markdown table, also to OUT/recordings.md, and fails when a case ends otherwise. OUT has to be
# new or empty.
set -u
. "$(dirname "$(readlink -f "$0")")/places.sh"
cd "$out" || exit 1

head_of() { printf '// apo:variant copy/%s\n// apo:target cuda\n#include <cooperative_groups.h>\n' "$1"; }
kernel='__global__ void k(const float* x, float* y, long long n) { const long long i = 256LL * blockIdx.x + threadIdx.x; if (i < n) y[i] = x[i]; }'
launch='<<<unsigned((n + 255) / 256), 256, 0, s>>>(x, y, n);'

{ head_of host_code; echo "$kernel"; echo "void copy(const float* x, float* y, long long n, cudaStream_t s) { k$launch }"; } >host_code.cu
{ head_of two_streams; echo "$kernel"
  echo 'void copy(const float* x, float* y, long long n, cudaStream_t s) {
  static cudaStream_t own[2]; static cudaEvent_t before, after[2];
  if (!before) { cudaEventCreate(&before); for (int i = 0; i < 2; ++i) { cudaStreamCreateWithFlags(own + i, cudaStreamNonBlocking); cudaEventCreate(after + i); } }
  cudaEventRecord(before, s);
  for (int i = 0; i < 2; ++i) {
    const long long from = i * (n / 2), to = i ? n : n / 2;
    cudaStreamWaitEvent(own[i], before, 0);
    k<<<unsigned((to - from + 255) / 256 + 1), 256, 0, own[i]>>>(x + from, y + from, to - from);
    cudaEventRecord(after[i], own[i]); cudaStreamWaitEvent(s, after[i], 0);
  }
}'; } >two_streams.cu
sed 's|two_streams|early|; s|cudaStreamWaitEvent(own\[i\], before, 0);||' two_streams.cu >early.cu
sed 's|two_streams|unjoined|; s| cudaStreamWaitEvent(s, after\[i\], 0);||' two_streams.cu >unjoined.cu
{ head_of cooperative
  echo '__global__ void c(const float* x, float* y, long long n) {
  const auto grid = cooperative_groups::this_grid();
  for (long long i = grid.thread_rank(); i < n; i += grid.size()) y[i] = 0;
  grid.sync();
  for (long long i = grid.thread_rank(); i < n; i += grid.size()) y[i] = x[i];
}
void copy(const float* x, float* y, long long n, cudaStream_t s) {
  void* parameters[] = {&x, &y, &n};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(c), 32, 256, parameters, 0, s);
}'; } >cooperative.cu
{ head_of by_the_host; echo 'void copy(const float* x, float* y, long long n, cudaStream_t) {
  static float host[1 << 24]; cudaMemcpy(host, x, 4 * n, cudaMemcpyDeviceToHost); cudaMemcpy(y, host, 4 * n, cudaMemcpyHostToDevice);
}'; } >by_the_host.cu
cat >program.cu <<'P'
#include <nvtx3/nvToolsExt.h>
__global__ void axpy(const float* x, float* y, int n, float a) { const int i = blockIdx.x * 256 + threadIdx.x; if (i < n) y[i] += a * x[i]; }
__global__ void scale(float* y, int n) { const int i = blockIdx.x * 256 + threadIdx.x; if (i < n) y[i] *= 0.5f; }
int main() {
  static float host[1 << 20]; float *x, *y;
  for (int i = 0; i < 1 << 20; ++i) host[i] = 1 + i % 97;
  cudaMalloc(&x, sizeof host); cudaMalloc(&y, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice); cudaMemset(y, 0, sizeof host);
  for (int step = 0; step < 3; ++step) { nvtxRangePushA("step"); axpy<<<4096, 256>>>(x, y, 1 << 20, 2.0f); scale<<<4096, 256>>>(y, 1 << 20); nvtxRangePop(); }
  return cudaDeviceSynchronize();
}
P
nvcc -o program program.cu -ldl || exit 1

table() {
  echo "| case | has to say | does | evidence | seconds |"
  echo "|---|---|---|---|---|"
  for name in host_code two_streams cooperative; do
    row "$name" "correctness: valid" "$apo" register "$name.cu"
    row "$name beside a device variant" "verdict: " "$apo" compare copy/cuda_simple "copy/$name" --workload n1m
  done
  row "cuBLAS" "correctness: valid" "$apo" verify copy/cuda_cublas_copy
  row "cuBLAS by profile" "dram" "$apo" profile copy/cuda_cublas_copy
  row "a stream that waits for nothing" "does not wait for the caller's" "$apo" register early.cu
  row "a stream that nobody waits for" "the caller's does not wait for" "$apo" register unjoined.cu
  row "by way of the host" "cannot be recorded" "$apo" register by_the_host.cu
  row "kernels of a program" "axpy(float const*, float*, int, float)" "$apo" record -- ./program
  row "its second launch" "axpy/first.cu" "$apo" record --kernel axpy --nth 2 -- ./program
  row "its family" "planted mistakes refused" "$apo" register axpy/axpy.h
  row "the recorded operations, in place" "correctness: valid" "$apo" register axpy/recorded.cu
  sed 's|^  // write what the recorded kernel does|  const int i = blockIdx.x * 256 + threadIdx.x; if (i < p2) p1[i] += p3 * p0[i];|' axpy/first.cu >axpy/second.cu
  sed -i 's|axpy/first|axpy/second|' axpy/second.cu
  row "an edited kernel" "over axpy/recorded" "$apo" try axpy axpy/second.cu
  row "an empty kernel" "incorrect" "$apo" try axpy axpy/first.cu
  row "a range" "step/recorded.cu" "$apo" record --range step -- ./program
  row "a launch that never comes" "launched 'axpy' 3 times, not 4" "$apo" record --kernel axpy --nth 4 -- ./program
}
table | tee recordings.md
! grep -q '| NO |' recordings.md
