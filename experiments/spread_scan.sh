#!/usr/bin/env bash
# experiments/spread_scan.sh BUNDLE OUT - scans of one space on one GPU and on two, one of whose workers is killed; BUNDLE is from bundle.sh.
# Needs two GPUs of one model and nvcc. OUT has to be new or empty. Takes 3 minutes.
set -eu
bundle=$(realpath "$1") out=$(realpath -m "$2")
APO_HOME=$(realpath "$(dirname "$0")/..") && export APO_HOME LD_LIBRARY_PATH="$bundle/lib:${LD_LIBRARY_PATH:-}"
mkdir -p "$out" && cd "$out"
run=(run row_softmax --target cuda --iterations 1 --candidates 1 --budget 4m)

campaign() {  # NAME OPTION...
  APO_CACHE=$out/cache-$1 timeout 240 "$bundle/apo" "${run[@]}" --journal "$1.db" "${@:2}" >"$1.out" 2>"$1.err" || echo "$1: exit code $?"
  grep "scan: .* configurations" "$1.err" || true
  "$bundle/apo" query --journal "$1.db" --sql "SELECT number, device, level, outcome, count(*) AS rows, min(at), max(at), sum(seconds) FROM scanned \
LEFT JOIN scanned_by ON scanned_by.scanned = scanned.id LEFT JOIN worker ON worker.id = worker GROUP BY number, device, level, outcome"
}

campaign one --workers local:1
campaign two --workers local:2
campaign killed --workers local:2 &
until [ "$("$bundle/apo" query --journal killed.db --sql 'SELECT count(*) FROM scanned' 2>/dev/null | sed -n 2p)" -gt 0 ] 2>/dev/null || ! kill -0 $!; do sleep 0.1; done
worker=$(pgrep -f -- 'worker --serve' | head -1) && kill -9 "$worker" && echo "killed worker $worker"
wait
# The same configurations by both: effects of one GPU and of the other, and each measured once.
"$bundle/apo" query --journal killed.db --sql "SELECT label, level, count(*) FROM scanned JOIN configuration ON configuration.id = scanned.configuration \
GROUP BY label, level, source_hash, incumbent HAVING count(*) > 1"
"$bundle/apo" list --workers --journal killed.db
