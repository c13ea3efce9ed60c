#!/usr/bin/env bash
# experiments/inside_step.sh BUNDLE OUT - two variants of a kernel alone and inside a recorded step, as a stream and as a graph.
#
# BUNDLE is from bundle.sh. Needs nvcc, cmake and cuBLAS. Steps: a range of a program of three kernels, and the backward pass of examples/e88_lm.
# In both, B is A with a worse body, so that the step has to lose what the kernel loses. Prints a markdown table, also to OUT/inside_step.md,
# with the documents beside it; fails where a step cannot be recorded, is wrong, or lacks a verdict. OUT has to be new or empty.
set -u
. "$(dirname "$(readlink -f "$0")")/places.sh"
cd "$out" || exit 1
cat >program.cu <<'P'
#include <nvtx3/nvToolsExt.h>
__global__ void axpy(const float* x, float* y, int n, float a) { const int i = blockIdx.x * 256 + threadIdx.x; if (i < n) y[i] += a * x[i]; }
__global__ void scale(float* y, int n) { const int i = blockIdx.x * 256 + threadIdx.x; if (i < n) y[i] *= 0.5f; }
int main() {
  static float host[1 << 20]; float *x, *y;
  for (int i = 0; i < 1 << 20; ++i) host[i] = 1 + i % 97;
  cudaMalloc(&x, sizeof host); cudaMalloc(&y, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice); cudaMemset(y, 0, sizeof host);
  for (int step = 0; step < 3; ++step) {
    nvtxRangePushA("step");
    for (int i = 0; i < 100; ++i) { axpy<<<4096, 256>>>(x, y, 1 << 20, 2.0f); scale<<<4096, 256>>>(y, 1 << 20); }
    nvtxRangePop();
  }
  return cudaDeviceSynchronize();
}
P
nvcc -o program program.cu -ldl || exit 1
"$apo" register --no-verify "$root/tests/zoo/attacks/host_plain.cpp" >/dev/null || exit 1  # makes the journal
for family in e88_forward e88_backward; do
  "$apo" export --dispatch "$family" --output tables --with-sources --fallback "$family/cuda_simple" >/dev/null || exit 1
done
cmake -S "$root/examples/e88_lm" -B build >build.log 2>&1 && cmake --build build --parallel 8 >>build.log 2>&1 || { tail -5 build.log; exit 1; }
export APO_DISPATCH=$out/tables APO_STEPS=1 APO_SEED=1
printf '#!/bin/sh\nexec "%s/build/e88_lm" --depth 3 --batch 2\n' "$out" >lm && chmod +x lm  # a step of up to 4 GiB can be recorded

{ sed 's/#pragma once//' "$root/examples/e88_lm/kernels/vectors.cuh"
  echo 'namespace byte_lm {
__global__ void column_sums_kernel(long long rows, long long columns, long long stride, const float* partials, float* out) {
  column_sums(rows, columns, stride, partials, out);
}
}'; } >sums.cu

failed=0
# recorded NAME KERNEL RANGE PROGRAM [OPTION...]: a family of the kernel, a second variant of it, and the step.
recorded() {
  local name=$1 kernel=$2 range=$3 program=$4
  shift 4
  "$apo" record --kernel "$kernel" --family "$name" "$@" -- "$program" && "$apo" record --range "$range" --to "$name.step" -- "$program" &&
    "$apo" register "$name/$name.h" && "$apo" register "$name/recorded.cu" || { echo "cannot record $name"; failed=1; }
}
# row NAME B LAUNCH
row() {
  "$apo" compare "$1/recorded" "$1/$2" --json --inside "$1.step" --launch "$3" >"$1-$3.json" 2>"$1-$3.log" || { tail -2 "$1-$3.log"; failed=1; return; }
  python3 - "$1" "$3" <"$1-$3.json" <<'T' || failed=1
import json, sys
document = json.load(sys.stdin)
alone, step, rest = document["alone"]["judgement"], document["step"]["judgement"], document["rest_of_step"]
us = lambda ns: f"{ns / 1000:.2f}"
print("|", " | ".join([sys.argv[1], sys.argv[2], str(document["replaced"]), us(alone["incumbent_ns"]), us(alone["candidate_ns"]), alone["verdict"],
      us(step["incumbent_ns"]), us(step["candidate_ns"]), step["verdict"], us(rest["with_incumbent_ns"]), us(rest["with_candidate_ns"]),
      f"{rest['alone_mhz']} / {rest['step_mhz']}", f"{rest['alone_watts']} / {rest['step_watts']}"]), "|")
T
}
table() {
  echo "| kernel | launch | replaced | alone A us | B us | verdict | step A us | B us | verdict | rest with A us | with B us | MHz alone / step | W alone / step |"
  echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
  for launch in stream graph; do
    row axpy slow "$launch"
    row sums slow "$launch"
  done
}

recorded axpy axpy step ./program
recorded sums column_sums_kernel backward ./lm --source sums.cu
sed 's|^  // write what the recorded kernel does|  const int i = blockIdx.x * 256 + threadIdx.x; if (i < p2) { volatile float v = p3 * p0[i]; v = p3 * p0[i]; p1[i] += v; }|; s|axpy/first|axpy/slow|' \
  axpy/first.cu >axpy/slow.cu
sed 's|#pragma unroll 4|#pragma unroll 1|; s|sums/first|sums/slow|' sums/first.cu >sums/slow.cu
for name in axpy sums; do "$apo" register "$name/slow.cu" || failed=1; done
table | tee inside_step.md
exit "$failed"
