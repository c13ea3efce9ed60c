// tests/journal/journal_benchmark.cpp - appends a second, and the time of each query at N experiments
// (APO_BENCHMARK_ROWS).
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <functional>

#include "harness/core/text.h"
#include "journal/query/queries.h"
#include "tests/journal/big_journal.h"
#include "tests/journal/samples.h"

namespace apo {
namespace {

using namespace apo::test;

// APO_BENCHMARK_JOURNAL names a file that is kept: made when it is not there, used again when it is.
Journal& big_journal() {
  static Scratch scratch;
  static Journal journal = [] {
    const char* rows = std::getenv("APO_BENCHMARK_ROWS");
    const char* kept = std::getenv("APO_BENCHMARK_JOURNAL");
    const std::filesystem::path path = kept == nullptr ? scratch.path : std::filesystem::path(kept);
    if (!std::filesystem::exists(path)) {
      make_big_journal(path, rows == nullptr ? 100'000 : parse_int(rows).value_or(100'000));
    }
    return Journal::open(path, Access::read_write);
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
BENCHMARK(append_durably)->UseRealTime();

// Where every index is deep and the pages that change are spread over gigabytes.
void append_to_the_big_one_in_batches_of_1000(benchmark::State& state) {
  Journal& journal = big_journal();
  prepare(journal);
  std::int64_t number = 0;
  for (auto _ : state) {
    Journal::Batch batch(journal);
    for (int count = 0; count < 1000; ++count, ++number) {
      add_quick(journal, {.technique = "technique-" + std::to_string(number % 100),
                          .effect = 0.001 * static_cast<double>(number * 7919 % 1009 - 500),
                          .setting = number % 1000});
    }
    batch.commit();
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(append_to_the_big_one_in_batches_of_1000)->Unit(benchmark::kMillisecond)->UseRealTime();

void append_round(benchmark::State& state) {
  Scratch scratch;
  Journal journal = scratch.open();
  prepare(journal);
  const std::int64_t experiment = journal.begin_experiment(an_experiment(0, 0));
  Round round{.stage = RoundStage::search, .workloads = {{.workload = "b16"}}};
  round.workloads[0].blocks.assign(40, Block{{{0, 712'345}, {1, 700'000}, {1, 701'000}, {0, 711'111}}});
  for (auto _ : state) {
    journal.add_round(experiment, round);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(append_round)->UseRealTime();

constexpr auto kUnit = benchmark::kMicrosecond;

void query(benchmark::State& state, const std::vector<std::string>& words) {
  Journal& journal = big_journal();
  Query parsed = parse_query(words);
  parsed.limit = parsed.limit == 0 ? 20 : parsed.limit;
  for (auto _ : state) {
    benchmark::DoNotOptimize(run_query(journal, parsed));
  }
}
BENCHMARK_CAPTURE(query, newest, {})->Unit(kUnit);
BENCHMARK_CAPTURE(query, reverted, {"verdict=reverted"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, best, {"sort=-speedup"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, family_best, {"family=copy", "sort=-speedup"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, class_best, {"class=n32", "sort=-speedup"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, faster_accepted, {"verdict=accepted", "speedup>1.05", "sort=-speedup"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, techniques_since, {"technique=technique-7,technique-8", "since=2026-01-01"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, accepted_of_class, {"family=e88_backward", "workload=n16", "verdict=accepted"})->Unit(kUnit);
// Each of the three is frequent, and no experiment is all of them: every row is looked at.
BENCHMARK_CAPTURE(query, nothing_is_all_three, {"family=e88_backward", "class=n32", "verdict=accepted"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, technique_reverted, {"technique=technique-7", "verdict=reverted", "speedup<1"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, faster_than, {"speedup>1.28"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, of_variant, {"variant=e88_backward/padded_cache"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, of_machine, {"machine=cpu-1"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, of_campaign, {"campaign=77"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, of_outcome, {"outcome=valid"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, of_reason, {"reason=regression"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, resource, {"metric:registers>200"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, counter, {"metric:dram__bytes_read.sum>1.099e8"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, since_the_newest, {"verdict=accepted", "since=2025-08-01"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, until_long_ago, {"until=2023-11-20"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, accepted_until_long_ago, {"verdict=reverted", "until=2024-01-20"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, words_of_a_sentence, {"sentence~77 of 10"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, worst_of_the_reverted, {"verdict=reverted", "sort=speedup"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, best_of_the_reverted, {"verdict=reverted", "class=n64", "sort=-speedup"})->Unit(kUnit);
BENCHMARK_CAPTURE(query, all_of_a_combination, {"verdict=accepted", "class=n64", "limit=0"})->Unit(kUnit);

// Each key by itself: what has the text that nothing has, what is unequal to it, and the first in its order.
void add_benchmarks_of_keys() {
  for (const QueryKey& key : query_keys()) {
    const std::string name(key.name);
    if (name == "metric:NAME" || name == "since" || name == "until") {
      continue;
    }
    const auto add = [&](const std::string& what, const std::vector<std::string>& words) {
      try {
        parse_query(words);
      } catch (const std::exception&) {
        return;  // the operator does not apply to the key
      }
      benchmark::RegisterBenchmark(("key/" + what + "/" + name).c_str(), [words](benchmark::State& state) {
        query(state, words);
      })->Unit(kUnit);
    };
    add("contains", {name + "~no such text"});
    add("equal", {name + (key.type == ColumnType::text ? "=no such text" : "=123456789")});
    add("unequal", {name + (key.type == ColumnType::text ? "!=no such text" : "!=123456789")});
    add("least", {"sort=" + name});
    add("greatest", {"sort=-" + name});
  }
}

// A step that `apo list`, `apo show`, `apo lessons`, `apo report`, `apo run` and `apo doctor` take.
void step(benchmark::State& state, const std::function<void(Journal&)>& work) {
  Journal& journal = big_journal();
  for (auto _ : state) {
    work(journal);
  }
}
template <class Result>
std::function<void(Journal&)> answers(Result&& result) {
  return [result](Journal& journal) { benchmark::DoNotOptimize(result(journal)); };
}
BENCHMARK_CAPTURE(step, incumbent, answers([](Journal& j) { return j.incumbent("e88_backward", "n32", "cpu-1"); }))
    ->Unit(kUnit);
BENCHMARK_CAPTURE(step, workload_incumbents,
                  answers([](Journal& j) { return j.workload_incumbents("e88_backward", "n32", "cpu-1"); }))
    ->Unit(kUnit);
BENCHMARK_CAPTURE(step, incumbents, answers([](Journal& j) { return j.incumbents(); }))->Unit(kUnit);
BENCHMARK_CAPTURE(step, show, answers([](Journal& j) { return j.load_experiment(54321); }))->Unit(kUnit);
BENCHMARK_CAPTURE(step, lessons_of_campaign, answers([](Journal& j) { return j.lessons({.campaign = 77}); }))
    ->Unit(kUnit);
BENCHMARK_CAPTURE(step, lessons_of_experiment, answers([](Journal& j) { return j.lessons({.experiment = 54321}); }))
    ->Unit(kUnit);
// What an iteration asks before its research.
BENCHMARK_CAPTURE(step, research_experiments,
                  answers([](Journal& j) { return j.newest_judged("e88_backward", "n16", "cpu-1", 20'000); }))
    ->Unit(kUnit);
BENCHMARK_CAPTURE(step, research_lessons, answers([](Journal& j) {
                    return j.lessons({.family = "e88_backward",
                                      .workload_class = "n16",
                                      .machine = "cpu-1",
                                      .verdict = Verdict::reverted,
                                      .incumbent_source = j.newest_variant("e88_backward/simple")->source_hash,
                                      .newest = 20'000});
                  }))
    ->Unit(kUnit);
BENCHMARK_CAPTURE(step, report_experiments, answers([](Journal& j) { return j.experiments(77); }))->Unit(kUnit);
BENCHMARK_CAPTURE(step, report_iterations, answers([](Journal& j) { return j.iterations(77); }))->Unit(kUnit);
BENCHMARK_CAPTURE(step, campaigns, answers([](Journal& j) { return j.campaigns(); }))->Unit(kUnit);
BENCHMARK_CAPTURE(step, open_campaign,
                  answers([](Journal& j) { return j.open_campaign("e88_backward", "n32", "cpu-1"); }))
    ->Unit(kUnit);
BENCHMARK_CAPTURE(step, unfinished, answers([](Journal& j) { return j.unfinished(); }))->Unit(kUnit);
BENCHMARK_CAPTURE(step, sql_verdicts, answers([](Journal& j) {
                    return run_sql(j.path(), "SELECT verdict, count(*) FROM experiments GROUP BY verdict");
                  }))
    ->Unit(kUnit);

}  // namespace
}  // namespace apo

int main(int count, char** words) {
  apo::add_benchmarks_of_keys();
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
