#!/usr/bin/env bash
# experiments/lost_gpu.sh BUNDLE OUT - what a judgement on a real GPU makes of a GPU that fails in the middle of it.
#
# BUNDLE is from bundle.sh, built with the tests. A driver in front of the real one (tests/worker/cuda/losing_driver.cpp) passes
# everything on until a plan is due: the GPU vanishes, hangs, or one process gets an error code. Kernels that trap or never end are
# the candidate's fault all the same. Prints a markdown table, also to OUT/lost-gpu.md; fails when an outcome is another than
# expected. OUT has to be new or empty.
set -u
. "$(dirname "$(readlink -f "$0")")/places.sh"
driver=$out/driver
mkdir -p "$driver"
real=$(ldconfig -p | awk '$1 == "libcuda.so.1" { print $NF; exit }')
[ -n "$real" ] || { echo "this machine has no CUDA driver" >&2; exit 2; }
readlink -f "$real" >"$driver/real"
cp "$bundle/liblosing_driver.so" "$driver/libcuda.so.1"
export LD_LIBRARY_PATH=$driver:$LD_LIBRARY_PATH
export APO_CUPTI_LIBRARY=/nonexistent  # CUPTI needs all of the driver, not the functions that a worker uses

head='// apo:target cuda sm_80\n// apo:launch k grid=ceil_div(n,256) block=256\n#include "copy.args.h"\n'
kernel() { printf "$head"'extern "C" __global__ void k(const copy_args a) {\n  const long long i = 256LL * blockIdx.x + threadIdx.x;\n  %s\n}\n' "$2" >"$out/$1.cu"; }
kernel honest 'if (i < a.n) a.y[i] = 0 + a.x[i];'
kernel traps 'if (i == 0) __trap();'
kernel endless 'volatile float* y = a.y; while (y[0] != 12345.0f) y[0] = 1.0f;'

apo() { "$bundle/apo" "$@"; }
plan() { rm -f "$driver/plan" "$driver/gone" "$driver/samples"; [ -z "$1" ] || echo "$1" >"$driver/plan"; }
failed=0
table=$out/lost-gpu.md

# row WHAT PLAN EXPECTED-EXIT WORDS COMMAND...
row() {
  local what=$1 due=$2 expected=$3 words=$4 code verdict=yes start
  shift 4
  plan "$due"
  start=$(date +%s)
  apo "$@" >"$out/stdout" 2>"$out/stderr"
  code=$?
  if [ "$code" != "$expected" ] || ! grep -qF -- "$words" "$out/stdout" "$out/stderr"; then
    verdict=NO failed=1
  fi
  printf '| %s | %s | %s | %s | %s | %s |\n' "$what" "${due:-none}" "$code" "$verdict" "$(($(date +%s) - start))" \
    "$(grep -hE 'GPU was lost|GPU failed|^verdict|^feedback|^correctness' "$out/stdout" "$out/stderr" | head -2 | tr '|\n' '/ ' | cut -c 1-300)" |
    tee -a "$table"
}

evaluate=(evaluate --family copy --workload n1m --quiet)
{
  echo "| what | plan | exit code | as expected | seconds | said |"
  echo "|---|---|---|---|---|---|"
} | tee "$table"
row "a kernel that traps" "" 3 "gate correctness says faulted" register --family copy --no-executor --quiet "$out/traps.cu"
row "a kernel without end" "" 3 "gate correctness says timed_out" register --family copy --no-executor --quiet "$out/endless.cu"
row "nothing happens" "" 0 "verdict: " "${evaluate[@]}" "$out/honest.cu"
samples=$(wc -c <"$driver/samples")
for share in 2 50 80; do
  after=$((samples * share / 100))
  row "lost after $share % of the samples" "$after vanishes" 2 "verdict: not_judged" "${evaluate[@]}" "$out/honest.cu"
done
row "the driver hangs" "$((samples / 2)) hangs" 2 "verdict: not_judged" "${evaluate[@]}" "$out/honest.cu"
row "the context is destroyed from outside" "$((samples / 2)) fails 709" 2 "verdict: not_judged" "${evaluate[@]}" "$out/honest.cu"
row "memory error (ECC)" "$((samples / 2)) fails 214" 2 "verdict: not_judged" "${evaluate[@]}" "$out/honest.cu"
row "a campaign loses the GPU" "$((samples / 2)) vanishes" 2 "the GPU " run copy --target cuda --workload n1m --iterations 1 --quiet
row "the same command when it is back" "" 0 "resum" run copy --target cuda --workload n1m --iterations 1
exit "$failed"
