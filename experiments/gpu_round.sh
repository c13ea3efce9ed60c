#!/usr/bin/env bash
# experiments/gpu_round.sh BUNDLE OUT [SECONDS] - one sitting on a GPU machine with a program from bundle.sh.
#
# Runs the backward and the forward campaign from the simple variant.
# The journal is OUT/journal.db: given an OUT with a journal from an earlier sitting, the campaigns go on from it.
# BACKWARD and FORWARD are the seconds of each campaign (default: half of SECONDS each), WORKLOAD the workload.
set -u
root=$(dirname "$(dirname "$(readlink -f "$0")")")
bundle=$(readlink -f "${1:?usage: experiments/gpu_round.sh BUNDLE OUT [SECONDS]}")
out=$(readlink -f "${2:?usage: experiments/gpu_round.sh BUNDLE OUT [SECONDS]}")
seconds=${3:-480}
workload=${WORKLOAD:-b8_t128_h83_n32}
export LD_LIBRARY_PATH=$bundle/lib APO_HOME=$root APO_JOURNAL=$out/journal.db
mkdir -p "$out"
apo() { "$bundle/apo" "$@"; }

apo doctor
for family in e88_backward e88_forward; do
  budget=$((seconds / 2))
  [ "$family" = e88_backward ] && budget=${BACKWARD:-$budget} || budget=${FORWARD:-$budget}
  apo run "$family" --target cuda --workload "$workload" --baseline "$family/cuda_simple" --iterations 20 --candidates 3 \
    --budget "${budget}s" || echo "$family: exit $?"
  apo report --output "$out/$family"
done
apo query columns=id,family,variant,incumbent,speedup,lower,upper,predicted_low,predicted_high,verdict,reason limit=0 sort=id
