// tests/cli/benchmark_program.cpp - a real Google Benchmark program with two benchmarks of known work.
#include <benchmark/benchmark.h>

#include <cstdint>

namespace {

void steps(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    std::uint64_t x = 1;
    for (std::int64_t i = 0; i < 1000 * state.range(0); ++i) {
      benchmark::DoNotOptimize(x = x * 6364136223846793005ULL + 1442695040888963407ULL);
    }
  }
}

}  // namespace

BENCHMARK(steps)->Arg(1)->Arg(30);
BENCHMARK_MAIN();
