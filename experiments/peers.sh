#!/usr/bin/env bash
# experiments/peers.sh BUNDLE OUT [REGEX] - the kernels of rows against their peers on this GPU: judged, then timed in one run.
#
# BUNDLE is from bundle.sh. Needs nvcc, PyTorch and Triton. OUT/journal.db gets the verdicts of apo over each Triton kernel,
# OUT/verdicts.txt their last lines, OUT/peers.md the table of peers.py (cases that match REGEX), OUT/peers.json its samples.
set -u
root=$(dirname "$(dirname "$(readlink -f "$0")")")
usage="usage: experiments/peers.sh BUNDLE OUT [REGEX]"
bundle=$(readlink -f "${1:?$usage}")
mkdir -p "${2:?$usage}"
out=$(readlink -f "$2")
export LD_LIBRARY_PATH=$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} APO_HOME=$root APO_JOURNAL=$out/journal.db
apo=$bundle/apo
cd "$root" || exit 1

# judge COMMAND...: its last lines.
judge() {
  "$apo" "$@" >"$out/last.txt" 2>&1
  { echo "$* (exit code $?, ${SECONDS} s)"; tail -3 "$out/last.txt"; } | tee -a "$out/verdicts.txt"
  cat "$out/last.txt" >>"$out/judged.txt"
}

judge try row_softmax examples/row_softmax_triton.py variants/row_softmax/cuda_registers.cu
for family in rms_norm layer_norm layer_norm_backward; do
  judge try $family experiments/peers/${family}_triton.py variants/$family/cuda_registers.cu
done
judge try cross_entropy experiments/peers/cross_entropy_triton.py variants/cross_entropy/cuda_row_in_shared.cu
judge register experiments/peers/softmax_triton.py
long='row_softmax/cuda_registers[THREADS=512,VECTORS=8,ROWS=1,CLUSTER=8,STREAMED=1]'
judge compare row_softmax/triton_twice "$long" --workload r2048_c131072

for fallback in "$long" 'rms_norm/cuda_registers[THREADS=1024,ROWS=2]' 'layer_norm/cuda_registers[THREADS=512]' \
  'layer_norm_backward/cuda_registers[THREADS=512]' cross_entropy/cuda_row_in_shared; do
  family=${fallback%%/*}
  "$apo" export --torch "$family" --unchecked --fallback "$family/cuda_registers" --fallback "$fallback" --output "$out/op" ||
    "$apo" export --torch "$family" --unchecked --fallback "$fallback" --output "$out/op"
done >"$out/export.txt" 2>&1
python3 experiments/peers.py --op "$out/op" --json "$out/peers.json" --only "${3:-^rows}" >"$out/peers.md"
cat "$out/peers.md"
