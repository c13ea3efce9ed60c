#!/usr/bin/env bash
# experiments/peers.sh BUNDLE OUT [table|verdicts] - the kernels of rows against their peers on this GPU.
#
# BUNDLE is from bundle.sh. Needs nvcc, PyTorch and Triton. The table, of peers.py: OUT/peers.md, all samples in OUT/peers.json,
# OUT/tests.txt of the exported ops. The verdicts, of apo over Triton kernels: OUT/journal.db, their last lines in
# OUT/verdicts.txt. Without a word both, one after the other.
set -u
. "$(dirname "$(readlink -f "$0")")/places.sh"
cd "$root" || exit 1
long='row_softmax/cuda_cluster_row[CLUSTER=4]'

# export_op FALLBACK...: an op whose rows these are, the first for the sizes that it serves.
export_op() {
  local fallbacks=()
  for fallback in "$@"; do
    fallbacks+=(--fallback "$fallback")
  done
  "$apo" export --torch "${1%%/*}" --unchecked "${fallbacks[@]}" --output "$out/op"
}

# judge COMMAND...: its last lines.
judge() {
  "$apo" "$@" >"$out/last.txt" 2>&1
  { echo "apo $* (exit code $?, after $SECONDS s)"; tail -2 "$out/last.txt"; } | tee -a "$out/verdicts.txt"
  cat "$out/last.txt" >>"$out/judged.txt"
}

table() {
  {
    export_op row_softmax/cuda_registers "$long"
    export_op rms_norm/cuda_registers 'rms_norm/cuda_registers[THREADS=512,VECTORS=2,ROWS=2,BLOCKS_PER_SM=1]'
    export_op layer_norm/cuda_registers 'layer_norm/cuda_registers[THREADS=128,VECTORS=4,ROWS=1]'
    export_op layer_norm_backward/cuda_bulk_rows 'layer_norm_backward/cuda_bulk_rows[THREADS=512,GROUPS=2]'
    export_op cross_entropy/cuda_row_in_shared
  } >"$out/export.txt" 2>&1
  for test in "$out"/op/test_*.py; do  # each also builds its op
    python3 "$test" >"$test.txt" 2>&1 &
  done
  wait
  tail -n 2 "$out"/op/test_*.txt >"$out/tests.txt"
  python3 experiments/peers.py --op "$out/op" --json "$out/peers.json" --only ^rows >"$out/peers.md" 2>"$out/progress.txt"
  cat "$out/tests.txt" "$out/peers.md"
}

verdicts() {
  judge try row_softmax examples/row_softmax_triton.py variants/row_softmax/cuda_registers.cu
  judge try rms_norm experiments/peers/rms_norm_triton.py variants/rms_norm/cuda_registers.cu
  judge try layer_norm experiments/peers/layer_norm_triton.py variants/layer_norm/cuda_registers.cu
  judge try layer_norm_backward experiments/peers/layer_norm_backward_triton.py variants/layer_norm_backward/cuda_bulk_rows.cu
  judge try cross_entropy experiments/peers/cross_entropy_triton.py variants/cross_entropy/cuda_row_in_shared.cu
  judge register experiments/peers/softmax_triton.py
  judge compare row_softmax/triton_twice "$long" --workload r2048_c131072
}

[ "${3:-table}" != table ] || table
[ "${3:-verdicts}" != verdicts ] || verdicts
