// journal/facts/selftests.cpp - writes selftests as they run, and reads the newest result of a machine.
#include <cmath>

#include "journal/encode.h"
#include "journal/implementation.h"

namespace apo {
namespace {

SelftestKernel next_kernel(Statement& row) {
  SelftestKernel kernel{.workload = row.text(), .preset = row.text()};
  kernel.call_ns = row.real();
  kernel.round_s = row.real();
  kernel.kernel_s = row.real();
  kernel.start_s = row.real();
  kernel.rounds_per_process = row.small();
  kernel.round_sd = row.real();
  kernel.sample_sd = row.real();
  kernel.block_sd = row.real();
  kernel.within_sd = row.real();
  kernel.layout_sd = row.real();
  kernel.process_sd = row.real();
  kernel.resolves_1s = row.optional_real();
  kernel.resolves_10s = row.optional_real();
  kernel.resolves_60s = row.optional_real();
  kernel.smallest_claim = row.real();
  return kernel;
}

// Reads the rows that `condition`, a literal of ours, leaves.
std::vector<SelftestKernel> kernels_where(Journal::Implementation& self, const std::string& condition,
                                          const std::vector<Value>& values) {
  std::vector<SelftestKernel> kernels;
  Statement rows = self.database.query(
      "SELECT k.workload, k.preset, k.call_ns, k.round_s, k.kernel_s, k.start_s, k.rounds_per_process, k.round_sd,"
      " k.sample_sd, k.block_sd, k.within_sd, k.layout_sd, k.process_sd, k.resolves_1s, k.resolves_10s, k.resolves_60s,"
      " k.smallest_claim, k.configuration FROM selftest_kernel k WHERE " +
          condition + " ORDER BY k.selftest, k.position",
      values);
  while (rows.step()) {
    kernels.push_back(next_kernel(rows));
    kernels.back().configuration = self.configuration(rows.integer());
  }
  return kernels;
}

}  // namespace

std::int64_t Journal::begin_selftest(const Selftest& selftest) {
  return self_->database.insert(
      "INSERT INTO selftest (machine, cache_policy, preset, rule_version, started_at) VALUES (?, ?, ?, ?, ?)",
      {self_->machine_row(selftest.machine), to_string(selftest.cache_policy), selftest.judge_preset,
       selftest.rule_version, time_or_now(selftest.started_at)});
}

void Journal::add_selftest_comparison(std::int64_t selftest, const SelftestComparison& comparison) {
  const SamplePlan& samples = comparison.samples;
  Transaction transaction(self_->database);
  self_->database.run(
      "INSERT INTO selftest_comparison (selftest, kind, incumbent, candidate, workload, truth, random_layout, verdict,"
      " reason, effect, lower, upper, rounds, processes, seconds, effects, sentence, calls,"
      " blocks, several_cpus, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {selftest,
       to_string(comparison.kind),
       self_->configuration_row(comparison.incumbent),
       self_->configuration_row(comparison.candidate),
       comparison.workload,
       comparison.truth,
       comparison.random_layout,
       to_string(comparison.verdict),
       to_string(comparison.reason),
       comparison.effect,
       comparison.lower,
       comparison.upper,
       comparison.rounds,
       comparison.processes,
       comparison.seconds,
       encode(comparison.effects),
       comparison.sentence,
       samples.calls,
       samples.blocks,
       samples.several_cpus,
       time_or_now("")});
  transaction.commit();
}

void Journal::finish_selftest(const Selftest& selftest) {
  Transaction transaction(self_->database);
  int position = 0;
  for (const SelftestKernel& kernel : selftest.kernels) {
    self_->database.run(
        "INSERT INTO selftest_kernel (selftest, position, configuration, workload, preset, call_ns, round_s, kernel_s,"
        " start_s, rounds_per_process, round_sd, sample_sd, block_sd, within_sd, layout_sd, process_sd, resolves_1s,"
        " resolves_10s, resolves_60s, smallest_claim) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?)",
        {selftest.id,
         position++,
         self_->configuration_row(kernel.configuration),
         kernel.workload,
         kernel.preset,
         kernel.call_ns,
         kernel.round_s,
         kernel.kernel_s,
         kernel.start_s,
         kernel.rounds_per_process,
         kernel.round_sd,
         kernel.sample_sd,
         kernel.block_sd,
         kernel.within_sd,
         kernel.layout_sd,
         kernel.process_sd,
         kernel.resolves_1s,
         kernel.resolves_10s,
         kernel.resolves_60s,
         kernel.smallest_claim});
  }
  self_->database.run(
      "INSERT INTO selftest_end (selftest, seed, smallest_claim, seconds, ended_at) VALUES (?, ?, ?, ?, ?)",
      {selftest.id, selftest.seed, selftest.smallest_claim, selftest.seconds, time_or_now(selftest.ended_at)});
  transaction.commit();
}

std::optional<Selftest> Journal::latest_selftest(const Machine& machine) {
  Statement rows = self_->database.query(
      "SELECT s.id, m.key, s.cache_policy, s.preset, s.rule_version, e.seed, s.started_at, e.ended_at, "
      "e.seconds,"
      " e.smallest_claim FROM selftest s JOIN selftest_end e ON e.selftest = s.id JOIN machine m ON m.id = s.machine"
      " WHERE m.fingerprint = ? ORDER BY s.id DESC LIMIT 1",
      {machine_fingerprint(machine)});
  if (!rows.step()) {
    return std::nullopt;
  }
  Selftest selftest{.id = rows.integer(), .machine = rows.text()};
  selftest.cache_policy = cache_policy_of(rows.text());
  selftest.judge_preset = rows.text();
  selftest.rule_version = rows.text();
  selftest.seed = rows.seed();
  selftest.started_at = rows.text();
  selftest.ended_at = rows.text();
  selftest.seconds = rows.real();
  selftest.smallest_claim = rows.real();
  selftest.kernels = kernels_where(*self_, "k.selftest = ?", {selftest.id});
  return selftest;
}

std::vector<SelftestKernel> Journal::selftest_kernels(const Machine& machine, const std::string& rule_version) {
  const std::string fingerprint = machine_fingerprint(machine);
  return kernels_where(
      *self_,
      "k.selftest = (SELECT max(other.selftest) FROM selftest_kernel other"
      " JOIN selftest s ON s.id = other.selftest JOIN machine m ON m.id = s.machine"
      " WHERE other.configuration = k.configuration AND other.workload = k.workload AND m.fingerprint = ?"
      " AND s.rule_version = ?)",
      {fingerprint, rule_version});
}

std::vector<SelftestComparison> Journal::selftest_comparisons(std::int64_t selftest) {
  std::vector<SelftestComparison> comparisons;
  Statement rows = self_->database.query(
      "SELECT kind, incumbent, candidate, workload, truth, random_layout, verdict, reason, effect, lower, upper,"
      " rounds, processes, seconds, effects, sentence, calls, blocks, several_cpus FROM selftest_comparison"
      " WHERE selftest = ? ORDER BY id",
      {selftest});
  while (rows.step()) {
    SelftestComparison one;
    const std::string kind = rows.text();
    one.kind = kind == "aa" ? SelftestKind::aa : kind == "power" ? SelftestKind::power : SelftestKind::layout;
    one.incumbent = self_->configuration(rows.integer());
    one.candidate = self_->configuration(rows.integer());
    one.workload = rows.text();
    one.truth = rows.real();
    one.random_layout = rows.boolean();
    one.verdict = verdict_from(rows.text()).value();
    one.reason = reason_from(rows.text()).value();
    one.effect = rows.real();
    one.lower = rows.real();
    one.upper = rows.real();
    one.rounds = rows.small();
    one.processes = rows.small();
    one.seconds = rows.real();
    one.effects = decode_number_list(rows.text());
    one.sentence = rows.text();
    one.samples.calls = rows.small();
    one.samples.blocks = rows.small();
    one.samples.several_cpus = rows.boolean();
    comparisons.push_back(std::move(one));
  }
  return comparisons;
}

}  // namespace apo
