#!/usr/bin/env bash
# experiments/selftest.sh FOLDER - what the judge makes of identical code on this machine's CPU; writes FOLDER/selftest.md.
#
# COMPARISONS (3000) of identical code over the bundled kernels, in rounds as short as the kernels allow; then known
# differences and layouts for SECONDS_EACH (900) each. About an hour and a half on two cores. The journal is
# FOLDER/selftest.db: what was interrupted goes on from there. KERNELS: VARIANT@WORKLOAD words instead of the bundled ones.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
folder=$(readlink -f "${1:?usage: experiments/selftest.sh FOLDER}")
mkdir -p "$folder"
export APO_JOURNAL=$folder/selftest.db
apo() { "${APO:-$root/apo}" "$@"; }
kernels=()
for kernel in ${KERNELS:-}; do kernels+=(--kernels "$kernel"); done
selftest() { apo selftest -q --target host "${kernels[@]}" "$@"; }
count() {
  apo query -q --csv --sql "SELECT coalesce(sum(comparisons), 0) FROM selftest_totals WHERE kind = '$1'" 2>/dev/null |
    tail -n 1 | tr -d '\r'
}
# run KIND WANTED PARTS...: selftests of ten minutes until there are so many comparisons of the kind.
run() {
  local kind=$1 wanted=$2 left
  shift 2
  while left=$((wanted - $(count "$kind" || echo 0))) && [ "$left" -gt 0 ]; do
    # In pieces of at most ten minutes, so that an interruption costs little.
    selftest --round-time "${ROUND_TIME:-25ms}" --seconds 10m --rounds "$((left * 15))" "$@" >>"$folder/log"
  done
}
selftest --quick --seconds 1 --parts noise >"$folder/log"  # makes the journal
run aa "${COMPARISONS:-3000}" --parts identical
selftest --parts known --seconds "${SECONDS_EACH:-900}" >>"$folder/log"
selftest --parts layouts --seconds "${SECONDS_EACH:-900}" >>"$folder/log"
{
  echo "# The judge on identical code and on known differences"
  echo
  echo "\`experiments/selftest.sh FOLDER\` on $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(date -u +%Y-%m-%d)."
  echo "Effects are natural logarithms: 0.01 is about 1 %."
  for kind in aa power layout; do
    echo
    echo "## $kind"
    echo
    echo '```'
    apo query -q --sql "SELECT candidate, workload, truth, random_layout, comparisons, accepted, regressions,
      round(mean_claim, 5) AS mean_claim, round(mean_seconds, 2) AS seconds FROM selftest_totals WHERE kind = '$kind'"
    echo '```'
  done
  echo
  echo "## As they were printed"
  echo
  echo '```'
  cat "$folder/log"
  echo '```'
} >"$folder/selftest.md"
cat "$folder/selftest.md"
