#!/usr/bin/env bash
# experiments/other_device.sh BUNDLE OUT - ops exported from journals of another GPU, on the GPU of this machine.
#
# BUNDLE is from bundle.sh. Needs PyTorch with CUDA and nvcc; OUT has to be new or empty. Exports E88 forward and backward with the
# rows that an H100 decided (on an H100: an H200), calls both on the contract's twelve small and ragged workloads, then judges the
# rows again here, and calls the op of that table. Prints a markdown table, also to OUT/other_device.md, and fails where a case does.
set -u
. "$(dirname "$(readlink -f "$0")")/places.sh"
cd "$out" || exit 1
tar xJf "$root/experiments/nvidia-h100/replayed.tar.xz"
here=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
elsewhere="NVIDIA H100 80GB HBM3"
[ "$here" != "$elsewhere" ] || elsewhere="NVIDIA H200"

# row CASE WORDS FILE: the file has to hold the words.
row() {
  local does=yes
  grep -qF "$2" "$3" || does=NO
  printf '| %s | %s | %s | %s |\n' "$1" "$2" "$does" "$(grep -F "$2" "$3" | head -1 | tr -s ' ' | cut -c 1-200)"
}
# exported FOLDER FAMILY OPTION...
exported() {
  local fallback=e88_forward/cuda_simple
  [ "$2" = e88_forward ] || fallback='e88_backward/cuda_shared_fallback[GLOBAL_STATES=1]'
  "$apo" export --torch "$2" --journal "${2#e88_}.db" --output "$1" --fallback "$fallback" "${@:3}" >"$1-$2.txt" 2>&1
}
table() {
  echo "On $here: rows of $elsewhere"
  echo
  echo "| case | has to say | does | evidence |"
  echo "|---|---|---|---|"
  for family in e88_forward e88_backward; do
    exported op $family --device "$elsewhere"
    row "export $family" "measured on $elsewhere" op-$family.txt
  done
  for family in e88_forward e88_backward; do
    python3 op/test_$family.py >op-test-$family.txt 2>&1 &
  done
  wait
  for family in e88_forward e88_backward; do
    row "op $family, twelve shapes" "$family on cuda: 12 cases right" op-test-$family.txt
    row "op $family, compiled" "$family compiled on cuda: 12 cases right" op-test-$family.txt
    row "op $family warns" "measured on $elsewhere" op-test-$family.txt
  done
  row "gradient" "gradient of e88_forward on cuda" op-test-e88_forward.txt
  row "all tests of the op" "OK" op-test-e88_backward.txt
  for family in e88_forward e88_backward; do
    exported own $family --on-this-device
    row "$family --on-this-device" "again, as experiment" own-$family.txt
    row "its table" "measured on $here" own-$family.txt
  done
  python3 own/test_e88_forward.py Cases.test_outputs_are_as_near_as_the_contract_asks >own-test.txt 2>&1
  row "its op, twelve shapes" "e88_forward on cuda: 12 cases right" own-test.txt
}
table | tee other_device.md
! grep -q '| NO |' other_device.md
