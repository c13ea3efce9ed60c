#!/usr/bin/env bash
# experiments/worker_kills.sh FOLDER - random kills of a driver and of its workers, and what the journal looks like after each; writes FOLDER/worker_kills.md.
#
# KILLS (200) times, after up to PAUSE (20) seconds: the driver by SIGKILL, or one of its two workers by SIGKILL, SIGTERM or SIGSTOP. A driver that
# was killed is started again and resumes the campaign. A finished experiment may neither vanish nor change nor be counted twice. A campaign that
# has ended leaves nothing to try: the next one has a new journal.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
folder=$(readlink -f "${1:?usage: experiments/worker_kills.sh FOLDER}")
mkdir -p "$folder"
work=$(mktemp -d)
driver=
trap 'kill -9 "$driver" 2>/dev/null || true; rm -rf "$work"' EXIT
export APO_JOURNAL=$work/killed.db
apo=${APO:-$root/apo}
cd "$work"

start() {
  "$apo" run copy --target host --workload n4k --baseline copy/simple --judge standard --layout fixed --iterations 1000 --candidates 4 \
    --workers "${WORKERS:-local:2}" >>"$work/out" 2>>"$work/log" &
  driver=$!
}
sql() { "$apo" query -q --csv --sql "$1" | tail -n +2 | tr -d '\r'; }
# One line for each finished experiment.
finished() {
  sql "SELECT e.id, e.idx, e.candidate, j.verdict, j.effect, (SELECT count(*) FROM round r WHERE r.experiment = e.id)
       FROM experiment e JOIN judgement j ON j.experiment = e.id ORDER BY e.id"
}
workers() { pgrep -P "$driver" -f 'worker --serve' || true; }
# What was finished stands first, unchanged.
check_finished() {
  [ -s "$APO_JOURNAL" ] || return 0
  finished >"$work/now" || { broken=$((broken + 1)); return 0; }
  head -n "$(wc -l <"$work/before")" "$work/now" | cmp -s - "$work/before" || lost=$((lost + 1))
  cp "$work/now" "$work/before"
  "$apo" doctor >"$work/doctor" 2>&1 || true
  grep -qE '^(ok|limited) +journal' "$work/doctor" || { broken=$((broken + 1)); grep journal "$work/doctor" >&2; }
}
# What the journal says once its campaign is over, or the script.
close_journal() {
  total=$((total + $(wc -l <"$work/before")))
  twice=$((twice + $(sql "SELECT count(*) FROM (SELECT e.campaign, e.idx FROM experiment e JOIN judgement j ON j.experiment = e.id
                         WHERE e.campaign IS NOT NULL GROUP BY 1, 2 HAVING count(*) > 1)")))
  sql "SELECT coalesce(z.state, 'open when the script ended') FROM placement p LEFT JOIN placement_end z ON z.placement = p.id" >>"$work/placements"
  sql "SELECT coalesce(z.reason, 'open when the script ended') FROM worker w LEFT JOIN worker_end z ON z.worker = w.id" >>"$work/ends"
  rm "$APO_JOURNAL"*
  : >"$work/before"
}
counts() { sort "$1" | uniq -c | sed -E 's/^ *([0-9]+) (.*)$/| \2 | \1 |/'; }
# Processes that still judge for a driver that is gone.
orphans() { for pid in $1; do kill -0 "$pid" 2>/dev/null && grep -q -- --serve "/proc/$pid/cmdline" 2>/dev/null && echo "$pid"; done || true; }

total=0 twice=0 killed_drivers=0 killed_workers=0 stopped_workers=0 asked_workers=0 lost=0 broken=0 late=0 restarts=0 without_workers=0
: >"$work/before"
start
while [ $((killed_drivers + killed_workers + asked_workers + stopped_workers)) -lt "${KILLS:-200}" ]; do
  sleep "$((RANDOM % ${PAUSE:-20})).$((RANDOM % 10))"
  if ! kill -0 "$driver" 2>/dev/null; then  # the campaign is over, or no worker was left
    if wait "$driver"; then
      restarts=$((restarts + 1))
      check_finished
      close_journal
    else
      without_workers=$((without_workers + 1))
    fi
    start
    continue
  fi
  victims=$(workers)
  if [ $((RANDOM % 4)) -eq 0 ] || [ -z "$victims" ]; then
    kill -9 "$driver" 2>/dev/null || true
    killed_drivers=$((killed_drivers + 1))
    wait "$driver" 2>/dev/null || true
    for _ in $(seq 100); do [ -z "$(orphans "$victims")" ] && break; sleep 0.1; done
    [ -z "$(orphans "$victims")" ] || late=$((late + 1))
    start
  else
    victim=$(echo "$victims" | shuf -n 1)
    case $((RANDOM % 3)) in
      0) kill -KILL "$victim" 2>/dev/null && killed_workers=$((killed_workers + 1)) ;;
      1) kill -TERM "$victim" 2>/dev/null && asked_workers=$((asked_workers + 1)) ;;
      2) kill -STOP "$victim" 2>/dev/null && stopped_workers=$((stopped_workers + 1)) ;;
    esac || true
  fi
  check_finished
done
kill -9 "$driver" 2>/dev/null || true
wait "$driver" 2>/dev/null || true
check_finished
close_journal
{
  echo "# Random kills of a driver and its workers"
  echo
  echo "\`experiments/worker_kills.sh FOLDER\` on $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(date -u +%Y-%m-%d)."
  echo
  echo "A campaign of family copy with short judgements (\`--layout fixed\`) on \`--workers ${WORKERS:-local:2}\`. After every kill: every experiment that was finished is there and unchanged, and"
  echo "\`apo doctor\` checks integrity and the invariants of \`journal/invariants.cpp\`."
  echo
  echo "| kills of the driver | of a worker: SIGKILL | SIGTERM | SIGSTOP | campaigns that ended | drivers left without a worker | experiments finished |"
  echo "|---|---|---|---|---|---|---|"
  echo "| $killed_drivers | $killed_workers | $asked_workers | $stopped_workers | $restarts | $without_workers | $total |"
  echo
  echo "| kills after which a finished experiment was missing or changed | experiments counted twice | kills after which the journal was wrong | killed drivers with a worker left after 10 s |"
  echo "|---|---|---|---|"
  echo "| $lost | $twice | $broken | $late |"
  echo
  echo "| what became of the candidates that workers were given | placements |"
  echo "|---|---|"
  counts "$work/placements"
  echo
  echo "| why workers ended | workers |"
  echo "|---|---|"
  counts "$work/ends"
} >"$folder/worker_kills.md"
cat "$folder/worker_kills.md"
[ "$lost" -eq 0 ] && [ "$twice" -eq 0 ] && [ "$broken" -eq 0 ] && [ "$late" -eq 0 ]
