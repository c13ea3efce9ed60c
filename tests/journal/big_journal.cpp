// tests/journal/big_journal.cpp - see big_journal.h.
#include "tests/journal/big_journal.h"

#include <algorithm>
#include <string>

#include "journal/database.h"
#include "tests/journal/samples.h"

namespace apo::test {
namespace {

constexpr int kIterations = 10;
constexpr int kCandidates = 10;
constexpr int kConfigurations = 1000;

void write_campaign(Journal& journal) {
  prepare(journal);
  const std::int64_t campaign = journal.begin_campaign(a_campaign());
  for (int index = 1; index <= kIterations; ++index) {
    const std::int64_t iteration = journal.begin_iteration({.campaign = campaign, .index = index});
    journal.add_profile({.configuration = {"e88_backward/simple", {}},
                         .workload = "b16_t512_h83_n32",
                         .metrics = {{"dram__bytes_read.sum", 1e8, "byte", {}, {}, 1}, {"time", 7e5, "ns", {}, {}, 9}}},
                        {.machine = "cpu-1", .iteration = iteration});
    for (int candidate = 0; candidate < kCandidates; ++candidate) {
      Experiment experiment = an_experiment(campaign, iteration);
      experiment.candidate.settings = {{"K", kCandidates * index + candidate}};
      experiment.rounds.resize(1);
      const bool accepted = index == kIterations && candidate == 0;
      experiment.judgement = a_judgement(accepted ? Verdict::accepted : Verdict::reverted, 0.1);
      experiment.id = journal.begin_experiment(experiment);
      journal.finish_experiment(experiment, a_lesson(experiment));
    }
    journal.finish_iteration(iteration);
  }
  journal.finish_campaign(campaign, 5);
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
    "INSERT INTO round SELECT id + 100 * k, experiment + 100 * k, NULL, NULL, stage, idx, seed + k, candidate_in_slot0,"
    " effect, void_why, seconds, environment, at FROM copies JOIN round ON id <= 100",
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

}  // namespace

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

}  // namespace apo::test
