#!/usr/bin/env bash
# experiments/executor_speed.sh - how many thread-instructions a second the CPU executor emulates, on a loop of registers,
# one of shared memory and one of global memory. Two loop counts each, so that builds and processes drop out of the difference.
set -euo pipefail
apo=$(readlink -f "$(dirname "$0")/../build/release/bin/apo")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/.apo/variants/copy"
cd "$folder"

# write NAME ROUNDS BODY
write() {
  cat >".apo/variants/copy/$1.cu" <<END
// apo:variant    copy/$1
// apo:target     cuda sm_80
// apo:technique  test
// apo:idea       A loop to be timed.
// apo:launch     kernel grid=ceil_div(n,128) block=128
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ unsigned words[128];
  unsigned state = threadIdx.x;
  words[threadIdx.x] = state;
  for (int round = 0; round < $2; ++round) {
    $3
  }
  if (i < a.n) {
    a.y[i] = state != 1 ? a.x[i] : 0;
  }
}
END
}

# seconds NAME: CPU time of one verified call on 4096 threads, the build not counted
seconds() {
  "$apo" verify "copy/$1" --on cpu --workload n4k --quiet >/dev/null
  TIMEFORMAT='%U'
  { time "$apo" verify "copy/$1" --on cpu --workload n4k --quiet >/dev/null; } 2>&1
}

# rate NAME FEW MANY INSTRUCTIONS BODY
rate() {
  write "$1_few" "$2" "$5"
  write "$1_many" "$3" "$5"
  awk -v few="$(seconds "$1_few")" -v many="$(seconds "$1_many")" -v rounds=$(($3 - $2)) -v each="$4" -v name="$1" \
    'BEGIN { printf "%s: %.0f million thread-instructions a second of one CPU\n", name, 4096 * rounds * each / (many - few) / 1e6 }'
}

# multiply, add, compare, branch
# shellcheck disable=SC2016
rate registers 1000 401000 4 'state = state * 1664525u + 1013904223u;'
# load, add, store, compare, branch
rate shared_memory 1000 5000 5 'words[threadIdx.x] += 3;'
# compare, load, add, store, compare, branch
# shellcheck disable=SC2016
rate global_memory 1000 5000 6 'a.y[i] = round == 0 ? 0 : a.y[i] + 3;'
