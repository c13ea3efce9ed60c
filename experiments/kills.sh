#!/usr/bin/env bash
# experiments/kills.sh FOLDER - kills a campaign at random moments and counts what is lost; writes FOLDER/kills.md.
#
# Every next run resumes the campaign. KILLS sets how often (20).
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
folder=$(readlink -f "${1:?usage: experiments/kills.sh FOLDER}")
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export APO_JOURNAL=$work/killed.db
cd "$work"
count() { "$root/apo" query -q --csv --sql "SELECT count(*) FROM $1" | tail -n 1 | tr -d '\r'; }
killed=0 lost=0 broken=0 before=0
for _ in $(seq "${KILLS:-20}"); do
  setsid "$root/apo" run copy --target host --workload n4k --baseline copy/simple --judge standard --iterations 50 \
    --candidates 3 >/dev/null 2>>"$work/log" &
  pid=$!
  sleep "$((1 + RANDOM % 8)).$((RANDOM % 10))"
  if kill -9 "$pid" 2>/dev/null; then killed=$((killed + 1)); fi
  wait "$pid" 2>/dev/null || true
  [ -e "$APO_JOURNAL" ] || continue
  after=$(count judgement)
  [ "$after" -ge "$before" ] || lost=$((lost + 1))
  "$root/apo" doctor >"$work/doctor" 2>&1 || broken=$((broken + 1))
  grep -qE '^(ok|limited) +journal' "$work/doctor" || broken=$((broken + 1))
  before=$after
done
{
  echo "# kill -9 at random moments"
  echo
  echo "\`experiments/kills.sh FOLDER\` on $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(date -u +%Y-%m-%d)."
  echo
  echo "| runs killed | experiments finished in the end | kills after which a finished one was missing | kills after which \`apo doctor\` found the journal damaged | experiments abandoned under way | resumptions announced |"
  echo "|---|---|---|---|---|---|"
  echo "| $killed | $before | $lost | $broken | $(count abandonment) | $(grep -c '^resuming campaign' "$work/log" || true) |"
} >"$folder/kills.md"
cat "$folder/kills.md"
