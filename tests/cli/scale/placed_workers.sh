# tests/cli/scale/placed_workers.sh - what the tests of workers that Slurm and ssh place have in common. They set apo, cache and work.
#
# The judgements are as short as they can be: what is shown is who judges, and what becomes of a candidate whose worker is gone.
campaign="copy --target host --workload n4k --baseline copy/simple --judge standard --layout fixed --iterations 1"

patience=6000 # tenths of a second: ends what hangs, on the busiest machine

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*"; tail -n 30 "$work"/*.log 2>/dev/null; exit 1; }

# Packages of Debian, unpacked below $cache: nothing is installed. unpack PROGRAM PACKAGE...
unpack() {
  local program=$1
  shift
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || skip "this is no Debian, whose packages these are"
  [ ! -e "$cache/root/$program" ] || return 0
  mkdir -p "$cache/packages" "$cache/root"
  (cd "$cache/packages" && timeout 120 apt-get download -q "$@") >"$cache/download.log" 2>&1 ||
    skip "the packages cannot be had: $(tail -n 1 "$cache/download.log")"
  for package in "$cache"/packages/*.deb; do dpkg -x "$package" "$cache/root" || skip "$package cannot be unpacked"; done
}

too_restless() { grep -q 'sentinel failed' "$work/run.log" && skip "this machine is too restless to judge on"; }
# Begins a driver, one of the pids that the script ends. It has one CPU, as each worker has.
start() {
  options=("$@")
  # shellcheck disable=SC2086  # words on purpose
  taskset -c 0 "$apo" run $campaign "$@" >>"$work/run.out" 2>>"$work/run.log" &
  driver=$!
  pids+=("$driver")
}
# A campaign that has accepted a candidate ends, maybe before what was to be shown of it: a new one takes its place, with a new journal.
begin_anew() {
  too_restless
  wait "$driver" || fail "the driver has ended with exit code $?"
  rm -f .apo/journal.db*
  before=0
  start "${options[@]}"
}
given() { "$apo" query -q --csv --sql "SELECT count(*) FROM placement" 2>/dev/null | tail -n 1 | tr -d '\r'; }
# Waits for N more placements than there were.
before=0
await() {
  local until=$((before + $1))
  for _ in $(seq $patience); do
    before=$(given)
    before=${before:-0}
    [ "$before" -lt "$until" ] || return 0
    kill -0 "$driver" 2>/dev/null || { begin_anew; until=1; }
    sleep 0.1
  done
  fail "no placement in ten minutes"
}
# Waits for a line of the drivers' logs.
await_line() {
  for _ in $(seq $patience); do
    grep -q "$1" "$work/run.log" && return 0
    kill -0 "$driver" 2>/dev/null || begin_anew
    sleep 0.1
  done
  fail "'$1' was not said in ten minutes"
}
whole() { "$apo" doctor 2>&1 | grep -qE '^(ok|limited) +journal' || fail "the journal is broken after $1: $("$apo" doctor 2>&1 | grep journal)"; }
kill_driver() {
  kill -9 "$driver" 2>/dev/null
  wait "$driver" 2>/dev/null
  whole "the kill of the driver"
}
# The exit code of the driver that ran the campaign to its end.
ended() {
  whole "the resumed campaign"
  [ "$1" -ne 2 ] || too_restless
  [ "$1" -eq 0 ] || fail "the resumed campaign exits with $1"
  grep -q 'resuming campaign 1' "$work/run.log" || fail "it was not gone on with"
  "$apo" list --workers
}
