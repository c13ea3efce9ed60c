#!/usr/bin/env bash
# experiments/decision_time.sh BUNDLE [host|cuda] - seconds and CPU seconds of whole decisions: run it with the bundle of before and that of after, in turn.
#
# BUNDLE is from bundle.sh. Prints a markdown table. Without the gates of correctness, which are not what is compared here.
set -eu
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
bundle=$(readlink -f "${1:?usage: experiments/decision_time.sh BUNDLE [host|cuda]}")
export LD_LIBRARY_PATH=$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} APO_HOME=$root

pairs() {
  case ${1:-host} in
  host)
    echo row_softmax/simple row_softmax/polynomial_exp r256_c4096
    echo copy/simple copy/memcpy n1m
    echo copy/simple copy/memcpy n4k
    echo e88_backward/simple e88_backward/column_vectorised b2_t64_h4_n32
    ;;
  cuda)
    echo e88_backward/cuda_simple e88_backward/cuda_best b16_t512_h83_n32
    echo e88_backward/cuda_simple e88_backward/cuda_best b1_t16384_h83_n32
    echo copy/cuda_simple copy/cuda_vector4 n1m
    ;;
  esac
}

TIMEFORMAT='%R %U %S'
echo "| incumbent | candidate | workload | seconds | CPU seconds | verdict |"
echo "|---|---|---|---|---|---|"
while read -r incumbent candidate workload; do
  said=$(mktemp)
  times=$({ time "$bundle/apo" compare "$incumbent" "$candidate" --workload "$workload" --judge standard --skip-correctness \
    --no-journal --quiet >"$said" 2>/dev/null || true; } 2>&1)
  read -r wall user system <<<"$times"
  echo "| $incumbent | $candidate | $workload | $wall | $(awk "BEGIN { print $user + $system }") | $(sed -n 's/^verdict: //p' "$said") |"
  rm -f "$said"
done < <(pairs "${2:-host}")
