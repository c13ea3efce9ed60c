#!/usr/bin/env bash
# experiments/evidence.sh FOLDER - what the judge does on this machine: A/A comparisons, a planted 2 %.
#
# Writes FOLDER/evidence.md and leaves the journal FOLDER/evidence.db beside it. Takes about eight minutes; nothing else
# should run meanwhile. AA and PLANTED set how often (40, 10).
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
folder=$(readlink -f "${1:?usage: experiments/evidence.sh FOLDER}")
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export APO_JOURNAL=$work/evidence.db
apo() { local command=$1; shift; "$root/apo" "$command" -q "$@"; }
sql() { apo query --csv --sql "$1" | tr -d '\r'; }
table() { sed -e 's/^/| /; s/,/ | /g; s/$/ |/' -e '1{p; s/[^|]/-/g}'; }

apo register "$root/tests/zoo/evaluate/fma_work.cpp" >/dev/null

compare() { apo compare --skip-correctness "$@" >/dev/null || [ $? = 3 ]; }
for i in $(seq "${AA:-40}"); do
  case $((i % 4)) in
    0) compare --same-code e88_backward/combined e88_backward/combined ;;
    1) compare --same-code e88_forward/combined e88_forward/combined ;;
    2) compare --same-code e88_backward/register_tiled e88_backward/register_tiled ;;
    3) compare --same-code 'copy/fma_work[WORK=200]' 'copy/fma_work[WORK=200]' ;;
  esac
done
last_aa=$(sql "SELECT coalesce(max(id), 0) FROM experiments" | tail -n 1)
for i in $(seq "${PLANTED:-10}"); do
  compare 'copy/fma_work[WORK=204]' 'copy/fma_work[WORK=200]'
done

{
  echo "# What the judge does on this machine"
  echo
  echo "\`experiments/evidence.sh FOLDER\` on $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(date -u +%Y-%m-%d)."
  echo
  echo "## Identical code (${AA:-40} A/A comparisons)"
  echo
  sql "SELECT family, verdict, reason, count(*) AS n, printf('%+.2f %%', 100 * min(speedup - 1)) AS least, printf('%+.2f %%', 100 * max(speedup - 1)) AS most, round(avg(seconds), 1) AS seconds FROM experiments WHERE id <= $last_aa GROUP BY 1, 2, 3" | table
  echo
  echo "## A planted effect: 204 against 200 multiply-adds an element (${PLANTED:-10} comparisons, truth about +2 %)"
  echo
  sql "SELECT id, verdict, reason, printf('%+.2f %%', 100 * (speedup - 1)) AS speedup, printf('%+.2f %%', 100 * (lower - 1)) AS lower, printf('%+.2f %%', 100 * (upper - 1)) AS upper, round(seconds, 1) AS seconds FROM experiments WHERE id > $last_aa" | table
} >"$folder/evidence.md"
cp "$work/evidence.db" "$folder/evidence.db"
cat "$folder/evidence.md"
