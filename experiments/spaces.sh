#!/usr/bin/env bash
# experiments/spaces.sh BUNDLE OUT SECONDS [SPACE...] - every configuration of four variants, checked and timed on a GPU.
#
# BUNDLE is a folder from bundle.sh. A space is OUT/SPACE.json, in T4; one that lies there is gone on with, so that the same
# command ends what a shorter time left. After SECONDS what is running is stopped. Without names all four are recorded.
set -u
root=$(dirname "$(dirname "$(readlink -f "$0")")")
usage="usage: experiments/spaces.sh BUNDLE OUT SECONDS [SPACE...]"
bundle=$(readlink -f "${1:?$usage}")
mkdir -p "${2:?$usage}"
out=$(readlink -f "$2")
deadline=$(($(date +%s) + ${3:?$usage}))
shift 3
[ $# -gt 0 ] || set -- e88_forward binary_backward lse_backward e88_backward
work=${TMPDIR:-/tmp}/apo-spaces  # builds, for the next call
mkdir -p "$work"
export LD_LIBRARY_PATH=$bundle/lib APO_HOME=$root APO_JOURNAL=$work/journal.db

for space; do
  case $space in
    e88_forward | e88_backward) variant=$space/cuda_simple workload=b8_t128_h83_n32 ;;
    binary_backward) variant=$space/cuda_vectorised workload=regression ;;
    lse_backward) variant=$space/cuda_tensor_core workload=h8_s2048_d128 ;;
    *) echo "unknown space $space" >&2 && exit 1 ;;
  esac
  left=$((deadline - $(date +%s)))
  [ "$left" -gt 10 ] || break
  start=$(date +%s)
  timeout --signal=INT --kill-after=5 "$left" "$bundle/apo" space "$variant" --workload "$workload" \
    --output "$out/$space.json" --no-sanitizers --quiet 2>&1
  echo "$space: exit $? after $(($(date +%s) - start)) s, $(grep -c '"invalidity"' "$out/$space.json" 2>/dev/null) configurations"
done
