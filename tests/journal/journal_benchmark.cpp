// tests/journal/journal_benchmark.cpp - appends a second, and query times at N experiments (N in APO_BENCHMARK_ROWS).
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "harness/core/text.h"
#include "journal/queries.h"
#include "tests/journal/samples.h"

namespace apo {
namespace {

using namespace apo::test;

std::int64_t row_count() {
  const char* text = std::getenv("APO_BENCHMARK_ROWS");
  return text == nullptr ? 100'000 : parse_int(text).value_or(100'000);
}

constexpr const char* kClasses[] = {"n16", "n32", "n64", "n128"};

std::string technique(std::int64_t number) {
  std::string name = "technique-";
  return name += std::to_string(number);
}

// Built once: experiments over a few classes and techniques, one in fifty accepted.
Journal& big_journal() {
  static Scratch scratch;
  static Journal journal = [] {
    Journal filled = scratch.open();
    prepare(filled);
    const std::int64_t campaign = filled.begin_campaign(a_campaign());
    Journal::Batch batch(filled);
    for (std::int64_t row = 0; row < row_count(); ++row) {
      add_quick(filled, {.campaign = campaign,
                         .workload_class = kClasses[row % 4],
                         .technique = technique(row % 100),
                         .verdict = row % 50 == 0 ? Verdict::accepted : Verdict::reverted,
                         .effect = static_cast<double>((row * 7919) % 10'007) / 20'000 - 0.25,
                         .setting = row % 1000});
    }
    batch.commit();
    return filled;
  }();
  return journal;
}

void append_durably(benchmark::State& state) {
  Scratch scratch;
  Journal journal = scratch.open();
  prepare(journal);
  for (auto _ : state) {
    add_quick(journal, {});
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(append_durably);

void append_in_batches_of_1000(benchmark::State& state) {
  Scratch scratch;
  Journal journal = scratch.open();
  prepare(journal);
  for (auto _ : state) {
    Journal::Batch batch(journal);
    for (int count = 0; count < 1000; ++count) {
      add_quick(journal, {});
    }
    batch.commit();
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(append_in_batches_of_1000)->Unit(benchmark::kMillisecond);

void append_round(benchmark::State& state) {
  Scratch scratch;
  Journal journal = scratch.open();
  prepare(journal);
  const std::int64_t experiment = journal.begin_experiment(an_experiment(0, 0));
  Round round{.stage = "search", .workloads = {{.workload = "b16"}}};
  round.workloads[0].blocks.assign(40, Block{{{0, 712'345}, {1, 700'000}, {1, 701'000}, {0, 711'111}}});
  for (auto _ : state) {
    journal.add_round(experiment, round);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(append_round);

void query(benchmark::State& state, const std::vector<std::string>& words) {
  Journal& journal = big_journal();
  const Query parsed = parse_query(words);
  for (auto _ : state) {
    benchmark::DoNotOptimize(run_query(journal, parsed));
  }
}
BENCHMARK_CAPTURE(query, newest, {})->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(query, best, {"sort=-speedup"})->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(query, family_best, {"family=e88_backward", "sort=-speedup"})->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(query, accepted_of_class, {"family=e88_backward", "workload=n32", "verdict=accepted"})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(query, technique_reverted, {"technique=technique-7", "verdict=reverted", "speedup<1"})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(query, faster_than, {"speedup>1.28"})->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(query, metric, {"metric:registers>200"})->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(query, sentence_scan, {"sentence~no such words"})->Unit(benchmark::kMillisecond);

void incumbent(benchmark::State& state) {
  Journal& journal = big_journal();
  for (auto _ : state) {
    benchmark::DoNotOptimize(journal.incumbent("e88_backward", "n32", "cpu-1"));
  }
}
BENCHMARK(incumbent)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace apo

BENCHMARK_MAIN();
