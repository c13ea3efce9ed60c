#!/usr/bin/env bash
# experiments/suite_gate.sh FOLDER - the gate of a suite on examples/ci, with planted changes and without; writes FOLDER/suite-gate.md.
#
# The benchmarks are built twice, once with five planted changes (+1, +2, +2, +5 and -3 % of the work). `apo gate` judges the
# second build against the first PLANTED (10) times, the first against itself SAME (20) times, and each BUSY (1) times beside a busy
# loop on every core. Then suite_rules.py judges the recorded runs by other tools' rules too. METRIC: gbench, 66 benchmarks of
# library_benchmarks.cpp, or nvbench, 24 of gpu_benchmarks.cu. LANES: gates run side by side, each on its list of CPUs ("2 4 6,7").
# FLAGS: of the benchmark program; OPTIONS: of apo gate; PROGRAMS: a folder with OFF/ and ON/ that are built already, as bundle.sh
# writes it. The journals of earlier calls in FOLDER are gone on with.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
mkdir -p "${1:?usage: experiments/suite_gate.sh FOLDER}"
folder=$(readlink -f "$1")
metric=${METRIC:-gbench}
options=${OPTIONS:---judge standard}
work=$(mktemp -d)
busy=""
trap 'kill $busy 2>/dev/null || true; rm -rf "$work"' EXIT
if [ "$metric" = gbench ]; then
  program=library_benchmarks
  flags=${FLAGS:---benchmark_min_time=0.0005 --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true}
else
  program=gpu_benchmarks
  flags=${FLAGS:-}
fi
planted=0
for side in OFF ON; do
  mkdir "$work/$side"
  if [ "$metric" != gbench ]; then
    nvcc -O3 -arch=native -DPLANTED=$planted -o "$work/$side/$program" "$root/examples/ci/$program.cu"
  elif [ -n "${PROGRAMS:-}" ]; then
    cp "$PROGRAMS/$side/$program" "$work/$side/"
  else
    cmake -S "$root/examples/ci" -B "$work/$side" -DPLANTED=$side >/dev/null
    cmake --build "$work/$side" >/dev/null
  fi
  planted=1
done
cd "$work"

# lane CPUS JOURNAL NUMBER B: that many gates; exit codes 0, 2 and 3 are verdicts. A lane waits for no other one's turns.
lane() {
  mkdir -p "$work/$1"
  for _ in $(seq "$3"); do
    local code=0
    # shellcheck disable=SC2086
    XDG_RUNTIME_DIR="$work/$1" taskset -c "$1" "${APO:-$root/apo}" gate --metric "$metric" $options -q --journal "$folder/$2.db" \
      --command-a "OFF/$program $flags" --command-b "$4/$program $flags" >>"$folder/$2.log" 2>&1 || code=$?
    [ $code -ne 1 ] || { tail -5 "$folder/$2.log"; return 1; }
  done
}
# gates JOURNAL NUMBER B
gates() {
  local lanes waiting=() i
  read -ra lanes <<<"${LANES:-$(taskset -cp $$ | sed 's/.*: //')}"
  for i in "${!lanes[@]}"; do
    lane "${lanes[i]}" "$1" $((($2 + ${#lanes[@]} - 1 - i) / ${#lanes[@]})) "$3" &
    waiting+=($!)
  done
  for i in "${waiting[@]}"; do wait "$i"; done
}
gates planted "${PLANTED:-10}" ON
gates same "${SAME:-20}" OFF
for _ in $(seq "$(nproc)"); do
  [ "${BUSY:-1}" -gt 0 ] || break
  (while :; do :; done) &
  busy="$busy $!"
done
gates planted-busy "${BUSY:-1}" ON
gates same-busy "${BUSY:-1}" OFF
{
  echo "# The gate of a suite: $(date -u +%F), $(nproc) cores, load $(cut -d' ' -f1-3 /proc/loadavg) at the end"
  echo
  echo "\`METRIC=$metric PLANTED=${PLANTED:-10} SAME=${SAME:-20} BUSY=${BUSY:-1} LANES='${LANES:-}' FLAGS='$flags'" \
    "OPTIONS='$options' experiments/suite_gate.sh FOLDER\`"
  echo
  python3 -B "$root/experiments/suite_rules.py" "$folder"/*.db
} | tee "$folder/suite-gate.md"
