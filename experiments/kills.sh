#!/usr/bin/env bash
# experiments/kills.sh FOLDER - kill -9 at random instants, and what the journal looks like after each; writes FOLDER/kills.md.
#
# First a writer of campaigns that does nothing but the journal's transactions (FAST_KILLS, 1000): the build target
# `journal_fire` of the preset `test`. Then `apo run` itself (KILLS, 100), which resumes the campaign every time.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
folder=$(readlink -f "${1:?usage: experiments/kills.sh FOLDER}")
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export APO_JOURNAL=$work/killed.db
cd "$work"

cmake --build "$root/build/release" --target journal_fire >"$work/build.log" || { cat "$work/build.log" >&2; exit 2; }
fast_status=0
fast=$("$root/build/release/bin/journal_fire" "${FAST_KILLS:-1000}") || fast_status=$?

count() { "$root/apo" query -q --csv --sql "SELECT count(*) FROM $1" | tail -n 1 | tr -d '\r'; }
killed=0 lost=0 broken=0 before=0
for _ in $(seq "${KILLS:-100}"); do
  setsid "$root/apo" run copy --target host --workload n4k --baseline copy/simple --judge standard --iterations 50 \
    --candidates 3 >/dev/null 2>>"$work/log" &
  pid=$!
  sleep "$((RANDOM % 12)).$((RANDOM % 10))$((RANDOM % 10))"
  if kill -9 "$pid" 2>/dev/null; then killed=$((killed + 1)); fi
  wait "$pid" 2>/dev/null || true
  [ -e "$APO_JOURNAL" ] || continue
  after=$(count judgement) || { broken=$((broken + 1)); continue; }
  [ "$after" -ge "$before" ] || lost=$((lost + 1))
  "$root/apo" doctor >"$work/doctor" 2>&1 || true
  grep -qE '^(ok|limited) +journal' "$work/doctor" || { broken=$((broken + 1)); grep journal "$work/doctor" >&2; }
  before=$after
done
{
  echo "# kill -9 at random instants"
  echo
  echo "\`experiments/kills.sh FOLDER\` on $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(date -u +%Y-%m-%d)."
  echo
  echo "After every kill: SQLite's integrity check, foreign keys, content addresses, the invariants of \`journal/invariants.cpp\`, and whether"
  echo "every experiment that was finished is there. A writer that makes campaigns as fast as the journal takes them, killed within 0.4 s"
  echo "(\`journal_fire\`, which also compares all rows of every finished experiment):"
  echo
  echo "| kills | journals | experiments finished | kills before the file was there | that left an experiment open | an iteration | findings |"
  echo "|---|---|---|---|---|---|---|"
  echo "$fast"
  echo
  echo "\`apo run\` of one campaign, killed within 12 s (a start measures the A/A sentinel before it tries a candidate), with \`apo doctor\` after every kill:"
  echo
  echo "| kills | experiments finished in the end | kills after which a finished one was missing | kills after which \`apo doctor\` found the journal wrong | experiments and iterations abandoned under way | resumptions announced |"
  echo "|---|---|---|---|---|---|"
  echo "| $killed | $before | $lost | $broken | $(count abandonment) | $(grep -c '^resuming campaign' "$work/log" || true) |"
} >"$folder/kills.md"
cat "$folder/kills.md"
[ "$fast_status" -eq 0 ] && [ "$lost" -eq 0 ] && [ "$broken" -eq 0 ]
