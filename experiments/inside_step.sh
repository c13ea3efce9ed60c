#!/usr/bin/env bash
# experiments/inside_step.sh BUNDLE OUT [PART...] - two variants of a kernel alone and inside a recorded step, as a stream and as a graph.
#
# BUNDLE is from bundle.sh. Needs nvcc, cmake and cuBLAS. PARTs, one or two minutes each (default: all):
#   three   a range of a program of three kernels; B is A with scattered accesses, so that the step has to lose what the kernel loses
#   sums    a kernel of examples/e88_lm: recorded, edited, judged alone and inside the backward pass, and put back by
#           apo compare --application
#   stages  two stages of e88_backward inside that pass: the one that is faster alone may cost in the step
# Prints a markdown table, also to OUT/inside_step.md, with the documents beside it; fails where a step cannot be recorded, is
# wrong, or lacks a verdict: a row says NO. OUT has to be new or empty.
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

# ok COMMAND...: what it prints goes to OUT/log; a failure is a row of the table.
ok() {
  "$@" >last 2>&1
  local code=$?
  cat last >>log
  [ "$code" = 0 ] || echo "| $(tr '|\n' '/ ' <<<"$*" | cut -c 1-80) | NO | $(tail -2 last | tr '|\n' '/ ' | cut -c 1-250) |"
  return "$code"
}
build() { cmake -S "$2" -B "$1" && cmake --build "$1" --parallel 8; }

# The model is so small that the backward pass fits into the 256 MiB of a variant, and its kernel has the sizes of the workload
# b8_t128_h83_n32; in its first step the gradients are still zeros.
lm() {
  printf '#!/bin/sh\nexport APO_STEPS="${APO_STEPS:-1}" APO_SEED="${APO_SEED:-1}"\n%s\n' \
    "exec \"\${E88_LM:-$out/build/e88_lm}\" --dim 1024 --depth 1 --batch 8 --length 128 --evaluate 0 \"$root/docs\" \"$root/harness\"" >lm
  chmod +x lm
  export APO_DISPATCH=$out/tables
  ok "$apo" register --no-verify "$root/tests/zoo/attacks/host_plain.cpp" &&  # makes the journal
    ok "$apo" export --dispatch e88_forward --output tables --with-sources --fallback e88_forward/cuda_simple &&
    ok "$apo" export --dispatch e88_backward --output tables --with-sources --fallback e88_backward/cuda_lane_tiling &&
    ok build build "$root/examples/e88_lm" && ok "$apo" record --range backward --to lm.step -- ./lm
}

# inside NAME STEP A B LAUNCH [OPTION...]: a row of the table.
inside() {
  local log=$1-$5 step=$2 a=$3 b=$4 launch=$5
  shift 5
  "$apo" compare "$a" "$b" --json --inside "$step.step" --launch "$launch" "$@" >"$log.json" 2>"$log.log" || { echo "| $log | NO | $(tail -2 "$log.log" | tr '|\n' '/ ') |"; return; }
  python3 - "$log" <<'T' || echo "| $log | NO | it lacks a verdict |"
import json, sys
document = json.load(open(sys.argv[1] + ".json"))
alone, step, rest = document["alone"]["judgement"], document["step"]["judgement"], document["rest_of_step"]
us = lambda ns: f"{ns / 1000:.2f}"
print("|", " | ".join([sys.argv[1], str(document["replaced"]), us(alone["incumbent_ns"]), us(alone["candidate_ns"]), alone["verdict"],
      us(step["incumbent_ns"]), us(step["candidate_ns"]), step["verdict"], us(rest["with_incumbent_ns"]), us(rest["with_candidate_ns"]),
      f"{rest['alone_mhz']} / {rest['step_mhz']}", f"{rest['alone_watts']} / {rest['step_watts']}"]), "|")
T
}

three() {
  ok nvcc -o program program.cu -ldl && ok "$apo" record --kernel axpy -- ./program &&
    ok "$apo" record --range step --to three.step -- ./program || return
  sed 's|^  // write what the recorded kernel does|  const int j = blockIdx.x * 256 + threadIdx.x, i = j % 1024 * 1024 + j / 1024; if (j < p2) p1[i] += p3 * p0[i];|; s|axpy/first|axpy/slow|' \
    axpy/first.cu >axpy/slow.cu
  ok "$apo" register axpy/axpy.h && ok "$apo" register axpy/recorded.cu && ok "$apo" register axpy/slow.cu || return
  for launch in stream graph; do inside three three axpy/recorded axpy/slow "$launch"; done
}

sums() {
  { sed 's/#pragma once//' "$root/examples/e88_lm/kernels/vectors.cuh"
    echo 'namespace byte_lm {
__global__ void column_sums_kernel(long long rows, long long columns, long long stride, const float* partials, float* out) {
  column_sums(rows, columns, stride, partials, out);
}
}'; } >sums.cu
  local edit='s|#pragma unroll 4|#pragma unroll 16|'
  ok "$apo" record --kernel column_sums_kernel --family sums --source sums.cu -- ./lm || return
  sed "$edit; s|sums/first|sums/edited|" sums/first.cu >sums/edited.cu
  ok "$apo" register sums/sums.h && ok "$apo" register sums/recorded.cu && ok "$apo" register sums/edited.cu || return
  for launch in stream graph; do inside sums lm sums/recorded sums/edited "$launch"; done
  cp -r "$root/examples/e88_lm" edited && sed -i "$edit" edited/kernels/vectors.cuh && ok build build_edited edited || return
  cat >put_back.json <<'J'
{"application": {"command": ["./lm"], "dispatch_variable": "E88_LM", "warmup_steps": 10, "steps": 60, "seeds": [1, 2, 3, 4, 5], "time_limit": "1m",
  "metrics": [{"name": "step", "role": "speed"}, {"name": "loss", "role": "quality", "unit": "nat", "margin": 0.01, "last": 20}]}}
J
  row "sums put back" "equivalent with margin" "$apo" compare build/e88_lm build_edited/e88_lm --application put_back.json --pairs 5
}

# Its launch as the program made it, as a variant of e88_backward: the struct of its arguments has the contract's tensors in order.
stages() {
  local bf16='const __nv_bfloat16*'
  ok "$apo" record --kernel backward --family back --declaration "backward($bf16 k, $bf16 q, $bf16 v, $bf16 g, $bf16 decay,
    $bf16 d_output, $bf16 d_s_final, $bf16 checkpoints, $bf16 y_cache, __nv_bfloat16* dk, __nv_bfloat16* dq, __nv_bfloat16* dv, __nv_bfloat16* dg,
    __nv_bfloat16* ddecay, __nv_bfloat16* ds0, long long B, long long T, long long H, long long N, long long V, long long GATE, long long NORM)" \
    -- ./lm || return
  printf '// apo:variant e88_backward/recorded\n// apo:target cuda\n// apo:idea A launch of the program.\n// apo:record back.record\n' >back/stage.cu
  ok "$apo" register --no-verify back/stage.cu || return
  for launch in stream graph; do
    inside stages lm e88_backward/cuda_lane_tiling e88_backward/cuda_best "$launch" --workload b8_t128_h83_n32 --skip-correctness
  done
}

table() {
  echo "| case and launch | replaced | alone A us | B us | verdict | step A us | B us | verdict | rest with A us | with B us | MHz alone / step | W alone / step |"
  echo "|---|---|---|---|---|---|---|---|---|---|---|---|"
  [[ " $* " == *" sums "* || " $* " == *" stages "* ]] && { lm || return; }
  for part in "$@"; do "$part"; done
}
shift 2
[ $# -gt 0 ] || set -- three sums stages
table "$@" | tee inside_step.md
! grep -q '| NO |' inside_step.md
