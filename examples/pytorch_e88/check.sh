#!/bin/sh
# check.sh - exports the E88 ops, holds them against their contract and against autograd, and trains 50 steps.
#
#   examples/pytorch_e88/check.sh [FOLDER [FORWARD_JOURNAL BACKWARD_JOURNAL [FORWARD_VARIANT BACKWARD_VARIANT]]]
#
# Stops at the first thing that is wrong. Without journals it takes those of an NVIDIA H200. The variants serve sizes that
# were not measured. PYTHON and APO name the programs.
set -e
cd "$(dirname "$0")/../.."
python=${PYTHON:-python3} apo=${APO:-./apo} ops=${1:-build/pytorch_e88}
recorded=experiments/nvidia-h200/b16_t512_h83_n32
forward_journal=${2:-$recorded/forward.db} backward_journal=${3:-$recorded/backward.db}
forward=${4:-e88_forward/cuda_simple} backward=${5:-e88_backward/cuda_shared_fallback[GLOBAL_STATES=1]}

"$python" -c 'import torch' 2>/dev/null || {
  echo "check.sh: nothing was checked: $python has no PyTorch"
  exit 0
}
"$apo" export --torch e88_backward --journal "$backward_journal" --fallback "$backward" --output "$ops" >/dev/null
"$apo" export --torch e88_forward --journal "$forward_journal" --fallback "$forward" --output "$ops" >/dev/null
"$python" "$ops/test_e88_backward.py"
"$python" "$ops/test_e88_forward.py"
"$python" examples/pytorch_e88/check.py "$ops"
APO_DISPATCH="$ops" "$python" examples/pytorch_e88/train.py --steps 50 --evaluate 8
echo "check.sh: all is right"
