#!/usr/bin/env bash
# experiments/gpu_round.sh BUNDLE OUT SECONDS JOB... - a sitting on a machine with one or more GPUs.
#
# BUNDLE is a folder from bundle.sh. Each GPU takes the next job as soon as it is free; after SECONDS all are stopped. A JOB may
# carry its own limit and arguments: "attacks cuda", "tests=200 Recordings.*". A job's journal is OUT/JOB.db; one from an earlier
# sitting that lies there is gone on with. What jobs print goes to OUT/log.
#
#   tests [FILTER]                           cuda_tests; the checkout has to lie, or be linked, where the bundle was made
#   backward, forward                        the campaign from the simple variant over all others
#   techniques-backward, techniques-forward  every variant against its parent
#   techniques-gradients                     the same for the binary and the LSE backward, on workloads of their own
#   gradients                                campaigns for these from the naive variant
#   classes                                  short campaigns for the other size classes
#   aa                                       AA comparisons (default 40) of a variant with itself
#   selftest                                 identical code through the judge, in SELFTEST_SECONDS (450); KERNELS: words such as
#                                            copy/cuda_simple@n1m instead of the bundled kernels
#   power                                    spins of known difference, in as many seconds; DIFFERENCES: in percent, such as 0.3
#   verify                                   every variant through all correctness gates, compute-sanitizer included
#   any other word                           experiments/WORD.sh or WORD.py BUNDLE OUT/WORD ARGUMENTS: faults, attacks cuda,
#                                            recordings, scan, peers, other_device, tutorials cuda, ...
# WORKLOAD is that of the campaigns (default b16_t512_h83_n32), SMALLER that of techniques and AA (default b8_t128_h83_n32).
set -u
. "$(dirname "$(readlink -f "$0")")/places.sh"
seconds=${3:?$usage}
shift 3
[ $# -gt 0 ] || { echo "$usage" >&2; exit 1; }
workload=${WORKLOAD:-b16_t512_h83_n32}
smaller=${SMALLER:-b8_t128_h83_n32}

apo() { "$bundle/apo" "$@"; }

# campaign FAMILY WORKLOAD BASELINE: until nothing is left to try.
campaign() {
  apo run "$1" --quiet --target cuda --workload "$2" --baseline "$1/$3" --iterations 40 --candidates 4
}

# techniques FAMILY WORKLOAD: every variant with a parent, unless its comparison is in the journal already.
techniques() {
  local file variant parent workload=$2
  for file in "$root"/variants/"$1"/cuda_*.cu; do
    variant=$1/$(basename "$file" .cu)
    parent=$(sed -n 's|^// apo:parent *||p' "$file")
    [ -n "$parent" ] || continue
    parent=$1/${parent##*/}
    [ -n "$(apo query "variant=$variant" "workload=$workload" --columns variant --csv 2>/dev/null | sed 1d)" ] && continue
    apo compare "$parent" "$variant" --quiet --skip-correctness --judge standard --workload "$workload"
  done
}

aa() {
  local i
  for ((i = 0; i < ${AA:-40}; ++i)); do
    apo compare e88_backward/cuda_best e88_backward/cuda_best --quiet --same-code --skip-correctness --judge standard \
      --workload "$smaller"
  done
}

# What they print is what matters; the journal keeps every comparison.
selftest() {
  local kernel kernels=()
  for kernel in ${KERNELS:-}; do kernels+=(--kernels "$kernel"); done
  apo selftest --quiet --target cuda --seconds "${SELFTEST_SECONDS:-450}" "${kernels[@]}" "$@"
}

# Four at a time: nothing is timed, and most of it is building and watching.
verify() {
  local file
  for file in "$root"/variants/*/cuda_*.cu; do
    echo "$(basename "$(dirname "$file")")/$(basename "$file" .cu)"
  done | xargs -P 4 -I{} sh -c 'found=$("$1/apo" verify "$2" --quiet 2>&1); printf "== %s: exit %s\n%s\n" "$2" $? "$found"' _ "$bundle" {}
}

# script WORD ARGUMENT...: an experiment of this folder, with a folder of its own.
script() {
  local file
  for file in "$root/experiments/$1".{sh,py}; do
    [ ! -e "$file" ] || break
  done
  [ -e "$file" ] || { echo "unknown job $1" && return 1; }
  unset APO_JOURNAL
  "$file" "$bundle" "$out/$1" "${@:2}"
}

job() {
  export APO_JOURNAL=$out/$1.db
  case $1 in
    backward | forward) campaign "e88_$1" "$workload" cuda_simple ;;
    techniques-backward | techniques-forward) techniques "e88_${1#techniques-}" "$smaller" ;;
    techniques-gradients)
      techniques lse_backward h8_s2048_d128
      local of
      for of in large_columns llama_norm large_rows; do
        techniques binary_backward "$of"
        techniques binary_backward_bf16 "$of"
        techniques pow_backward "$of"
      done
      ;;
    gradients)
      campaign lse_backward h8_s2048_d128 cuda_materialised
      campaign binary_backward_bf16 large_columns cuda_simple
      campaign binary_backward large_columns cuda_naive
      campaign pow_backward large_columns cuda_naive
      ;;
    classes)
      campaign e88_forward b16_t512_h83_n16 cuda_simple
      campaign e88_forward b8_t512_h83_n64 cuda_simple
      campaign e88_forward b4_t512_h32_n128 cuda_simple
      campaign e88_backward b16_t512_h83_n16 cuda_simple
      campaign e88_backward b8_t512_h83_n64 cuda_simple
      campaign e88_backward b4_t512_h32_n128 cuda_shared_fallback
      ;;
    aa) aa ;;
    selftest) selftest --parts identical --round-time 30ms ;;
    power) KERNELS=spin/cuda_chain@n16k_s8k selftest --parts known --judge precise --differences "${DIFFERENCES:-}" ;;
    verify) verify ;;
    tests) "$bundle/cuda_tests" ${2:+--gtest_filter="$2"} ;;
    *) script "$@" ;;
  esac
}

if [ -n "${APO_ROUND_JOB:-}" ]; then
  read -ra words <<<"$APO_ROUND_JOB"
  job "${words[@]}"
  exit
fi

gpus=$(nvidia-smi -L | wc -l)
deadline=$(($(date +%s) + seconds))
queue=$out/.queue
printf '%s\n' "$@" >"$queue"
worker() {
  local job limit
  while job=$(flock "$queue" sh -c 'head -n 1 "$1"; sed -i 1d "$1"' _ "$queue") && [ -n "$job" ]; do
    local left=$((deadline - $(date +%s)))
    [ "$left" -gt 10 ] || break
    limit=$(sed -n 's/^[^ ]*=\([0-9]\+\).*/\1/p' <<<"$job")
    [ -z "$limit" ] || [ "$limit" -gt "$left" ] || left=$limit
    job=$(sed 's/=[0-9]\+//' <<<"$job")
    echo "[$(date +%T)] GPU $1: $job"
    CUDA_VISIBLE_DEVICES=$1 APO_ROUND_JOB=$job timeout -k 5 "$left" "$0" "$bundle" "$out" "$seconds" "$job" 2>&1 | sed "s/^/${job%% *}: /"
    echo "[$(date +%T)] GPU $1: $job ended"
  done
}
for ((gpu = 0; gpu < gpus; ++gpu)); do
  worker "$gpu" &
done >>"$out/log" 2>&1
wait
rm -f "$queue"
