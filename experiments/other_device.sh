#!/usr/bin/env bash
# experiments/other_device.sh APO OUT - an op that was exported from an H200's journal, on the GPU of this machine.
#
# Calls it on the small and ragged workloads of the contract, rows and fallback; then judges its rows again here, and calls the
# op of that table. Needs PyTorch with CUDA and nvcc; OUT has to be new or empty. On an H100 the first op warns that its rows were measured
# on an H200, and the table of the second says what this GPU decided.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
apo=$(readlink -f "${1:?usage: experiments/other_device.sh APO OUT}")
mkdir -p "${2:?usage: experiments/other_device.sh APO OUT}" && cd "$2"
for option in "" --on-this-device; do
  for family in e88_forward e88_backward; do
    cp -n "$root/experiments/nvidia-h200/b16_t512_h83_n32/${family#e88_}.db" .
    fallback=e88_forward/cuda_simple
    [ "$family" = e88_forward ] || fallback='e88_backward/cuda_shared_fallback[GLOBAL_STATES=1]'
    # shellcheck disable=SC2086  # no option is none
    "$apo" export --torch "$family" --journal "${family#e88_}.db" --output "op$option" --fallback "$fallback" $option
  done
  for family in e88_forward e88_backward; do
    python3 "op$option/test_$family.py"
  done
done
