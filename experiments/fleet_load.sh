#!/usr/bin/env bash
# experiments/fleet_load.sh FOLDER - one driver and one journal with WORKERS (1 8 64 512 1000) simulated workers; writes FOLDER/fleet_load.md.
#
# Each worker answers after SECONDS_EACH (25) seconds with an experiment of a recorded journal; 2 of 100 tasks end in a death, a hang, a broken answer, or
# are given back. The rates are those of the second half of the judgements, when all workers have started. FLEET_LOAD: the program, where it
# is not to be built here.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
folder=$(readlink -f "${1:?usage: experiments/fleet_load.sh FOLDER}")
journal=${JOURNAL:-$root/experiments/nvidia-h200/b8_t512_h83_n64/backward.db}
mkdir -p "$folder"
program=${FLEET_LOAD:-$root/build/release/bin/fleet_load}
[ -n "${FLEET_LOAD:-}" ] || cmake --build "$root/build/release" --target fleet_load >"$folder/build.log" || { cat "$folder/build.log" >&2; exit 2; }
status=0
{
  echo "# One driver, one journal, many workers"
  echo
  echo "\`experiments/fleet_load.sh FOLDER\` on $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, which the simulated workers share with"
  echo "the driver, $(date -u +%Y-%m-%d). A judgement takes about ${SECONDS_EACH:-25} s."
  echo
  echo "| workers | judgements | tasks lost with their worker | judgements an hour | driver's CPU a judgement, ms | memory that it gained meanwhile, MiB | it reads a judgement, KiB | it writes, KiB | journal a judgement, KiB | experiments lost or doubled | findings in the journal |"
  echo "|---|---|---|---|---|---|---|---|---|---|---|"
  for workers in ${WORKERS:-1 8 64 512 1000}; do
    APO_HOME=$root "$program" "$workers" $((workers * 4)) "${SECONDS_EACH:-25}" 2 "$journal" || status=1
  done
} >"$folder/fleet_load.md"
cat "$folder/fleet_load.md"
exit $status
