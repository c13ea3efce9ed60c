// experiments/journal_benchmark/main.cpp - appends a second, and the time of each query at N experiments
// (APO_BENCHMARK_ROWS). Not in the default build: cmake --build build/release --target journal_benchmark
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "harness/core/text.h"
#include "journal/database.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/experiments.h"
#include "journal/facts/incumbents.h"
#include "journal/facts/profiles.h"
#include "journal/facts/research/lessons.h"
#include "journal/facts/unfinished.h"
#include "journal/facts/variants.h"
#include "journal/journal.h"
#include "journal/query/queries.h"
#include "tests/journal/samples.h"

namespace apo {
namespace {

using namespace apo::test;

constexpr int kIterations = 10;
constexpr int kCandidates = 10;
constexpr int kConfigurations = 1000;

void write_campaign(Journal& journal) {
  prepare(journal);
  const std::int64_t campaign = begin_campaign(journal, a_campaign());
  for (int index = 1; index <= kIterations; ++index) {
    const std::int64_t iteration = begin_iteration(journal, {.campaign = campaign, .index = index});
    add_profile(journal,
                {.configuration = {"e88_backward/simple", {}},
                 .workload = "b16_t512_h83_n32",
                 .metrics = {{"dram__bytes_read.sum", 1e8, "byte", {}, {}, 1}, {"time", 7e5, "ns", {}, {}, 9}}},
                {.machine = "cpu-1", .iteration = iteration});
    for (int candidate = 0; candidate < kCandidates; ++candidate) {
      Experiment experiment = an_experiment(campaign, iteration);
      experiment.candidate.settings = {{"K", kCandidates * index + candidate}};
      experiment.rounds.resize(1);
      const bool accepted = index == kIterations && candidate == 0;
      experiment.judgement = a_judgement(accepted ? Verdict::accepted : Verdict::reverted, 0.1);
      experiment.id = begin_experiment(journal, experiment);
      finish_experiment(journal, experiment, a_lesson(experiment));
    }
    finish_iteration(journal, iteration);
  }
  finish_campaign(journal, campaign, 5);
}

// k counts the copies; e is the copy's experiment. The numbers that vary are those that queries look at.
constexpr const char* kCopies[] = {
    "INSERT INTO configuration SELECT 1000000 + n, 'e88_backward/padded_cache', '{\"M\":' || n || '}',"
    " 'e88_backward/padded_cache[M=' || n || ']' FROM numbers WHERE n <= ?2",
    "INSERT INTO campaign SELECT id + k, machine, baseline, baseline_source, iif(k % 2, 'copy', family), 'n' || (16 << "
    "(k % 4)), workloads, policy_baseline, iterations, candidates_per_iteration, budget_s, cache_policy, preset,"
    " layout, target, strftime('%Y-%m-%dT%H:%M:%SZ', 1700000000 + 6000 * k, 'unixepoch') FROM copies JOIN campaign ON "
    "id = 1",
    "INSERT INTO campaign_end SELECT campaign + k, seed, note, ended_at FROM copies JOIN campaign_end ON campaign = 1",
    "INSERT INTO iteration SELECT id + 10 * k, campaign + k, idx, incumbent, started_at FROM copies JOIN iteration ON "
    "id "
    "<= 10",
    "INSERT INTO iteration_end SELECT iteration + 10 * k, note, ended_at FROM copies JOIN iteration_end ON iteration "
    "<= "
    "10",
    "INSERT INTO profile SELECT id + 10 * k, iteration + 10 * k, experiment, machine, configuration, source, workload,"
    " rung, missing, conditions, floor_ns, floor_roof, time_ns, floor_fraction, at FROM copies JOIN profile ON id <= "
    "10",
    "INSERT INTO metric SELECT profile + 10 * k, position, name, value + 1000 * k, unit, lower, upper, samples"
    " FROM copies JOIN metric ON profile <= 10",
    "INSERT INTO experiment SELECT id + 100 * k, campaign + k, iteration + 10 * k, idx, iif(k % 2, 'copy', family),"
    " 'n' || (16 << (k % 4)), machine, 1000001 + (id + 100 * k) * 7919 % ?2, incumbent, candidate_source,"
    " incumbent_source, predicted_low, predicted_high, predicted_over, predicted_because, prediction_source,"
    " predicted_log_low,"
    " predicted_log_high, strftime('%Y-%m-%dT%H:%M:%SZ', 1700000000 + 6000 * k + 60 * id, 'unixepoch')"
    " FROM copies JOIN experiment ON id <= 100",
    "INSERT INTO experiment_workload SELECT experiment + 100 * k, position, workload FROM copies JOIN "
    "experiment_workload"
    " ON experiment <= 100",
    "INSERT INTO experiment_technique SELECT experiment + 100 * k, position, iif(position = 0, 'technique-' ||"
    " ((experiment + k) % 100), technique) FROM copies JOIN experiment_technique ON experiment <= 100",
    "INSERT INTO build SELECT experiment + 100 * k, role, key, outcome, object_path, object_hash, code_hash || k, "
    "flags,"
    " toolchain, log, seconds, from_cache FROM copies JOIN build ON experiment <= 100",
    "INSERT INTO build_resource SELECT experiment + 100 * k, role, name, value + (experiment + k) % 90 FROM copies"
    " JOIN build_resource ON experiment <= 100",
    "INSERT INTO gate SELECT experiment + 100 * k, position, gate, outcome, evidence, seconds FROM copies JOIN gate"
    " ON experiment <= 100",
    "INSERT INTO round SELECT id + 100 * k, experiment + 100 * k, NULL, NULL, NULL, stage, idx, seed + k, "
    "candidate_in_slot0,"
    " effect, void_why, seconds, environment, runs, at FROM copies JOIN round ON id <= 100",
    "INSERT INTO round_workload SELECT round + 100 * k, position, workload, repetitions, effect, incumbent_p90_ns,"
    " candidate_p90_ns, incumbent_median_ns, candidate_median_ns, samples FROM copies JOIN round_workload ON round <= "
    "100",
    "INSERT INTO judgement SELECT experiment + 100 * k, outcome, verdict, reason, sentence || ' ' || k || ' of 10', "
    "effect, lower, upper,"
    " confidence, rounds, processes, samples, seconds, search_effect, alpha, minimum_detectable, minimum_claim,"
    " incumbent_ns, candidate_ns, preset, cache_policy, rule_version, 0.78 + ((experiment + 100 * k) * 7919 % 10007) /"
    " 20000.0, speedup_lower, speedup_upper, finished_at FROM copies JOIN judgement ON experiment <= 100",
    "INSERT INTO lesson SELECT l.id + 100 * k, l.experiment + 100 * k, e.family, e.workload_class, l.machine, "
    "e.candidate,"
    " l.source_hash, l.incumbent, l.incumbent_source, json_array('technique-' || ((l.experiment + k) % 100), 'every'),"
    " l.verdict, l.speedup, l.text, l.at FROM copies JOIN lesson l ON l.id <= 100 JOIN experiment e ON e.id ="
    " l.experiment + 100 * k"};

// One campaign of a hundred experiments written by the product's own functions, then copied with SQL until there are
// `experiments`, with other families, classes, techniques, times and effects. The rows are as wide as real ones; every
// experiment has one round, where real ones have tens.
void make_big_journal(const std::filesystem::path& path, std::int64_t experiments) {
  {
    Journal journal = Journal::open(path, Access::read_write);
    Journal::Batch batch(journal);
    write_campaign(journal);
    batch.commit();
  }
  const std::int64_t copies = std::max<std::int64_t>(1, experiments / (kIterations * kCandidates)) - 1;
  Database database(path, Access::read_write);
  database.execute("PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000; PRAGMA foreign_keys = OFF;");
  Transaction transaction(database);
  for (const char* copy : kCopies) {
    const std::string series =
        "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < max(?1, ?2)),"
        " copies(k) AS (SELECT n FROM numbers WHERE n <= ?1) ";
    database.run(series + copy, {copies, kConfigurations});
  }
  transaction.commit();
  database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

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
  const std::int64_t experiment = begin_experiment(journal, an_experiment(0, 0));
  Round round{.stage = RoundStage::search, .workloads = {{.workload = "b16"}}};
  round.workloads[0].blocks.assign(40, Block{{{0, 712'345}, {1, 700'000}, {1, 701'000}, {0, 711'111}}});
  for (auto _ : state) {
    add_round(journal, experiment, round);
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

// A step that `apo list`, `apo show`, `apo query --lessons`, `apo report`, `apo run` and `apo doctor` take.
template <class Work>
void add_step(const char* name, Work work) {
  benchmark::RegisterBenchmark((std::string("step/") + name).c_str(), [work](benchmark::State& state) {
    Journal& journal = big_journal();
    for (auto _ : state) {
      benchmark::DoNotOptimize(work(journal));
    }
  })->Unit(kUnit);
}

void add_benchmarks_of_steps() {
  add_step("incumbent", [](Journal& j) { return find_incumbent(j, "e88_backward", "n32", "cpu-1"); });
  add_step("workload_incumbents", [](Journal& j) { return workload_incumbents(j, "e88_backward", "n32", "cpu-1"); });
  add_step("incumbents", [](Journal& j) { return all_incumbents(j); });
  add_step("show", [](Journal& j) { return load_experiment(j, 54321); });
  add_step("lessons_of_campaign", [](Journal& j) { return lessons_of(j, {.campaign = 77}); });
  add_step("lessons_of_experiment", [](Journal& j) { return lessons_of(j, {.experiment = 54321}); });
  // What an iteration asks before its research.
  add_step("research_experiments", [](Journal& j) { return newest_judged(j, "e88_backward", "n16", "cpu-1", 20'000); });
  add_step("research_lessons", [](Journal& j) {
    return lessons_of(j, {.family = "e88_backward",
                          .workload_class = "n16",
                          .machine = "cpu-1",
                          .verdict = Verdict::reverted,
                          .incumbent_source = newest_variant(j, "e88_backward/simple")->source_hash,
                          .newest = 20'000});
  });
  add_step("report_experiments", [](Journal& j) { return experiments_of(j, 77); });
  add_step("report_iterations", [](Journal& j) { return iterations_of(j, 77); });
  add_step("campaigns", [](Journal& j) { return all_campaigns(j); });
  add_step("open_campaign", [](Journal& j) { return find_open_campaign(j, "e88_backward", "n32", "cpu-1"); });
  add_step("unfinished", [](Journal& j) { return all_unfinished(j); });
  add_step("sql_verdicts",
           [](Journal& j) { return run_sql(j.path(), "SELECT verdict, count(*) FROM experiments GROUP BY verdict"); });
}

}  // namespace
}  // namespace apo

int main(int count, char** words) {
  apo::add_benchmarks_of_keys();
  apo::add_benchmarks_of_steps();
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
