#!/usr/bin/env bash
# experiments/python_calls.sh BUNDLE OUT - what a machine with a GPU has to prove of Python files as variants, each a row of a table.
#
# BUNDLE is from bundle.sh. Needs PyTorch (2.1 or newer, with CUDA and Triton) for python3. Imports problems of
# tests/kernelbench at smaller sizes, registers the submissions of python_calls.txt (right ones, faults, attacks, and what only
# looks like one) eight at a time, has some of them judged, and holds what apo says against what it has to say. Prints a markdown table, also to
# OUT/python_calls.md, and fails when a case ends otherwise. OUT has to be new or empty. "never_returns" takes five minutes:
# SKIP=never_returns leaves it out.
set -u
. "$(dirname "$(readlink -f "$0")")/places.sh"
cd "$out" || exit 1
sed 's/^batch_size = .*/batch_size = 512/; s/^dim = .*/dim = 2048/' "$root/tests/kernelbench/softmax.py" >softmax.py
sed 's/= 16384/= 256/; s/= 4096/= 128/' "$root/tests/kernelbench/gemm_scale_residual.py" >gemm_scale_residual.py

# A section "#### NAME | FAMILY | what apo has to say" of the list is the file NAME.py.
awk '/^#### / { split($0, part, " *[|] *"); file = substr(part[1], 6) ".py"; printf "" >file; print substr(part[1], 6) "|" part[2] "|" part[3] >"cases"; next }
     file { print >file }' "$root/experiments/python_calls.txt"

table() {
  echo "| file | has to say | does | evidence | seconds |"
  echo "|---|---|---|---|---|"
  row "softmax.py" "softmax/torch_compile is registered" "$apo" import kernelbench softmax.py >softmax.import &
  row "gemm_scale_residual.py" "gemm_scale_residual/eager is registered" "$apo" import kernelbench gemm_scale_residual.py
  wait
  cat softmax.import
  local jobs=0
  while IFS='|' read -r name family words; do
    [ "$name" = "${SKIP:-}" ] && continue
    row "$name" "$words" "$apo" register --family "$family" "$name.py" >"$name.row" &
    [ $((jobs += 1)) -lt 8 ] || wait -n
  done <cases
  wait
  while IFS='|' read -r name family words; do
    [ "$name" = "${SKIP:-}" ] || cat "$name.row"
  done <cases
  row "eager against torch.compile" "verdict: " "$apo" compare softmax/eager softmax/torch_compile --workload w_file
  row "a Triton softmax by its launcher" "; experiment " "$apo" try softmax triton_launcher.py --workload w_file
  row "an example, its WARPS tuned" "correctness: valid" "$apo" register "$root/examples/row_softmax_triton.py"
  row "the same against CUDA" "; experiment " "$apo" try row_softmax "$root/examples/row_softmax_triton.py" --workload r4096_c1024
  row "another of its settings" "correctness: valid" "$apo" verify 'row_softmax/triton_rows[WARPS=16]' --workload r4096_c1024
  row "its profile names a line of the file" "row_softmax_triton.py:" "$apo" profile row_softmax/triton_rows --workload r4096_c1024
  row "one JSON verdict" '"verdict"' "$apo" evaluate returns.py --family softmax --workload w_file --json
  row "the same from a pipe" "verdict" sh -c "'$apo' evaluate - --family softmax --workload w_file <out_in_place.py"
}
table | tee python_calls.md
! grep -q '| NO |' python_calls.md
