#!/usr/bin/env bash
# experiments/executor_agreement.sh BUNDLE OUT - the checking executor held against a GPU, on a machine that has one.
#
# BUNDLE is from bundle.sh. Prints two markdown tables, also to OUT/agreement.md:
#  1. every device variant on the same inputs by the executor and by the GPU: how far their outputs are apart;
#  2. every kernel of tests/zoo/executor by the executor and through the GPU's own gates, compute-sanitizer included.
# Fails when a variant's outputs are further apart than two roundings of bf16, or a kernel cannot be run by either.
set -u
. "$(dirname "$(readlink -f "$0")")/places.sh"
workloads="b1_t37_h3_n24_v20 b1_t32_h2_n32 b1_t32_h2_n64 b2_t32_h2_n16 n4k"

# both VARIANT: a row of the first table, from the first workload that it supports.
both() {
  local folder=$out/dumps/$1 workload options
  for workload in $workloads; do
    options=("$1" --workload "$workload" --regime typical --seed 7 --no-sanitizers)
    "$bundle/apo" verify "${options[@]}" --on cpu --dump "$folder/executor" >"$folder.executor.txt" 2>&1 || continue
    if "$bundle/apo" verify "${options[@]}" --dump "$folder/gpu" >"$folder.gpu.txt" 2>&1; then
      python3 "$root/experiments/agreement.py" "$1" "$workload" "$folder/executor" "$folder/gpu"
      return
    fi
  done
  echo "| $1 | - | runs on no workload by both: $(tail -1 "$folder.executor.txt" | tr '|' '/') | | | NO |"
}

# Evidence without what is the same in each line.
brief() {
  sed -E 's/; seed .*//; s/ \(during the call\)//; s/ \([0-9.]+ m?s\)$//; s/ in kernel [a-z_]+, block/ in block/' | tr '|' '/'
}

# caught FILE: a row of the second table.
caught() {
  local name by_executor by_gpu
  name=$(basename "$1" .cu)
  mkdir -p "$out/zoo/$name/executor" "$out/zoo/$name/gpu"
  by_executor=$(APO_JOURNAL=$out/zoo/$name/executor/a.db CUDA_VISIBLE_DEVICES= "$bundle/apo" register "$1" 2>&1 |
    grep -E '^(executor|metadata): ' | tail -1 | brief)
  by_gpu=$(APO_JOURNAL=$out/zoo/$name/gpu/b.db timeout 120 "$bundle/apo" register --no-executor "$1" 2>&1 |
    grep -E '^[a-z]+: [a-z_]+, ' | tail -1 | brief)
  echo "| $name | ${by_executor:-no answer} | ${by_gpu:-no answer} |"
}

export -f both brief caught
export root bundle out workloads
mkdir -p "$out"/dumps/{copy,e88_forward,e88_backward} "$out/zoo"
{
  echo "| variant | workload | elements | bit for bit the same | largest difference | within two roundings |"
  echo "|---|---|---|---|---|---|"
  for file in "$root"/variants/*/cuda_*.cu; do
    grep -q '^// apo:link' "$file" || echo "$(basename "$(dirname "$file")")/$(basename "$file" .cu)"
  done | xargs -P 4 -I{} bash -c 'both {}' | sort
  echo
  echo "| kernel | checking executor | GPU and compute-sanitizer |"
  echo "|---|---|---|"
  printf '%s\n' "$root"/tests/zoo/executor/*.cu | xargs -P 4 -I{} bash -c 'caught {}' | sort
} | tee "$out/agreement.md"
! grep -qE '\| NO \|$|no answer' "$out/agreement.md"
