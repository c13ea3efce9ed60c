#!/usr/bin/env bash
# experiments/commands.sh FOLDER - two builds of a Google Benchmark program with a known difference; writes FOLDER/commands.md.
#
# One program is built twice: a benchmark of 1000 dependent steps an iteration, and of 970. Counted instructions say
# what the difference is. Then `apo compare --command-a` judges the second against the first COMPARISONS (10) times, and the
# first against itself as often. FLAGS: of the benchmark program. OPTIONS (--runs 3): more of apo compare. The number of comparisons that
# came out right is the exit code's matter: 0 when all gains were accepted and no A/A run was.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
folder=$(readlink -f "${1:?usage: experiments/commands.sh FOLDER}")
mkdir -p "$folder"
comparisons=${COMPARISONS:-10}
flags=${FLAGS:---benchmark_min_time=0.0003 --benchmark_repetitions=100}
options=${OPTIONS:---runs 3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export APO_JOURNAL=$work/commands.db
apo() { "${APO:-$root/apo}" "$@"; }

cat >bench.cpp <<'END'
#include <cstdint>
#include <cstdlib>
__attribute__((noinline)) std::uint64_t steps() {
  std::uint64_t x = 1;
  for (int i = 0; i < STEPS; ++i) {
    x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    asm volatile("" : "+r"(x));
  }
  return x;
}
#ifdef COUNT
int main(int, char** argv) {
  std::uint64_t sum = 0;
  const int calls = std::atoi(argv[1]);
  for (int i = 0; i < calls; ++i) sum += steps();
  return sum == 7;
}
#else
#include <benchmark/benchmark.h>
static void run(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(steps());
}
BENCHMARK(run)->Name("steps");
BENCHMARK_MAIN();
#endif
END
for steps in 1000 970; do
  g++ -O2 -DSTEPS=$steps bench.cpp -o bench-$steps -lbenchmark -lpthread
  g++ -O2 -DSTEPS=$steps -DCOUNT bench.cpp -o count-$steps
done

# instructions PROGRAM CALLS: of the whole process.
instructions() {
  local counted
  counted=$(perf stat -x, -e instructions:u "./$1" "$2" 2>&1 >/dev/null | awk -F, '$1 ~ /^[0-9]+$/ { print $1; exit }') || counted=
  if [ -z "$counted" ]; then
    counted=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "./$1" "$2" 2>&1 | awk '/Collected/ { print $NF }')
  fi
  echo "$counted"
}
of_a_call() { echo $((($(instructions "count-$1" 3000) - $(instructions "count-$1" 1000)) / 2000)); }
slow=$(of_a_call 1000)
fast=$(of_a_call 970)
truth=$(awk -v a="$slow" -v b="$fast" 'BEGIN { printf "%.4f", a / b }')

# judge NAME STEPS_OF_B: one comparison after the other; a row each.
judge() {
  local i
  for i in $(seq "$comparisons"); do
    # shellcheck disable=SC2086
    apo compare -q --command-a "./bench-1000 $flags" --command-b "./bench-$2 $flags" --metric gbench:steps $options >/dev/null || [ $? = 3 ]
    apo query -q --csv --sql "SELECT '| $1 | $i | ' || verdict || ' (' || reason || ') | ' ||
      coalesce(printf('%.4fx [%.4fx, %.4fx]', speedup, lower, upper), '-') || ' | ' || rounds || ' | ' || processes || ' | ' ||
      judge_preset || ' | ' || printf('%.0f', seconds) || ' s | $(cut -d' ' -f1 /proc/loadavg) |'
      FROM command_comparisons ORDER BY id DESC LIMIT 1" | tail -n 1 | tr -d '"\r' >>rows
  done
}
judge "3 % less" 970
judge "the same" 1000
accepted() { apo query -q --csv --sql "SELECT count(*) FROM command_comparisons WHERE verdict = 'accepted' AND command_b LIKE './bench-$1 %'" | tail -n 1 | tr -d '\r'; }
gains=$(accepted 970)
false_accepts=$(accepted 1000)
{
  echo "# Two commands with a known difference"
  echo
  echo "\`experiments/commands.sh\`: a Google Benchmark program that does $slow instructions a call against one that does $fast, a ratio of $truth;"
  echo "then the first against itself. Flags \`$flags\`, metric \`gbench:steps\`${options:+, \`$options\`}. $(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo), $(nproc) CPUs,"
  echo "with other work on them: the last column is the load average when the comparison ended."
  echo
  echo "**Accepted: $gains of $comparisons gains, $false_accepts of $comparisons A/A comparisons.**"
  echo
  echo "| B | | verdict | B over A, 98 % interval | rounds | runs | preset | took | load |"
  echo "|---|---|---|---|---|---|---|---|---|"
  cat rows
} >"$folder/commands.md"
cat "$folder/commands.md"
[ "$gains" -eq "$comparisons" ] && [ "$false_accepts" -eq 0 ]
