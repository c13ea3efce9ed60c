#!/usr/bin/env bash
# experiments/suite_gate.sh FOLDER - the gate of a suite on examples/ci, with planted changes and without; writes FOLDER/suite-gate.md.
#
# The 66 benchmarks are built twice, once with five planted changes (+1, +2, +2, +5 and -3 % of the work). `apo gate` judges the
# second build against the first PLANTED (10) times, the first against itself SAME (20) times, and each BUSY (1) times beside a busy
# loop on every core. Then suite_rules.py judges the recorded runs by other tools' rules too. FLAGS: of the benchmark program;
# OPTIONS: of apo gate.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
folder=$(readlink -f "${1:?usage: experiments/suite_gate.sh FOLDER}")
mkdir -p "$folder"
flags=${FLAGS:---benchmark_min_time=0.0005 --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true}
options=${OPTIONS:---judge standard}
work=$(mktemp -d)
busy=""
trap 'kill $busy 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
for side in OFF ON; do
  cmake -S "$root/examples/ci" -B "$side" -DPLANTED=$side >/dev/null
  cmake --build "$side" >/dev/null
done

# gates JOURNAL NUMBER B: exit codes 0, 2 and 3 are verdicts.
gates() {
  for _ in $(seq "$2"); do
    local code=0
    # shellcheck disable=SC2086
    "${APO:-$root/apo}" gate --command-a "OFF/library_benchmarks $flags" --command-b "$3/library_benchmarks $flags" --metric gbench \
      $options -q --journal "$1" >>"$work/log" 2>&1 || code=$?
    test $code -ne 1 || { tail -5 "$work/log"; exit 1; }
  done
}
gates planted.db "${PLANTED:-10}" ON
gates same.db "${SAME:-20}" OFF
for _ in $(seq "$(nproc)"); do
  (while :; do :; done) &
  busy="$busy $!"
done
gates planted-busy.db "${BUSY:-1}" ON
gates same-busy.db "${BUSY:-1}" OFF
{
  echo "# The gate of a suite: $(date -u +%F), $(nproc) cores, load $(cut -d' ' -f1-3 /proc/loadavg) at the end"
  echo
  echo "\`PLANTED=${PLANTED:-10} SAME=${SAME:-20} BUSY=${BUSY:-1} FLAGS='$flags' OPTIONS='$options' experiments/suite_gate.sh FOLDER\`"
  echo
  python3 -B "$root/experiments/suite_rules.py" ./*.db
} | tee "$folder/suite-gate.md"
