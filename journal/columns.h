// journal/columns.h - which members of a record are columns of its table (schema.sql), and the functions that write and
// read rows by these lists. Keys, times that may be now and what is no single value are added where the row is written.
//
//   APO_COLUMNS(Toolchain, compiler, version)
//   APO_COLUMNS_AS(Machine, "key, model", id, model)  // the columns have other names
//
// A name may also be an expression, "(SELECT ...)" without a comma or "table.column". That is read and never written,
// like the column id, which SQLite draws.
//
// insert_row(journal, "metric", metric, {{"profile", id}}) adds columns that the record does not have, or has in
// another form. read_rows<Metric>(journal, "metric WHERE profile = ?", {id}) gives the records back.
#pragma once

#include <algorithm>
#include <deque>

#include "harness/core/comparisons/comparison.h"
#include "harness/core/json/fields.h"
#include "harness/core/records/selftest_record.h"
#include "harness/core/words.h"
#include "journal/encode.h"
#include "journal/implementation.h"

namespace apo {

#define APO_COLUMNS_AS(Record, names, ...)                        \
  template <apo::RecordOf<Record> Whole, class Visitor>           \
  void visit_columns(Whole& record, const Visitor& visitor) {     \
    apo::visit_members(names, visitor, APO_MEMBERS(__VA_ARGS__)); \
  }
#define APO_COLUMNS(Record, ...) APO_COLUMNS_AS(Record, #__VA_ARGS__, __VA_ARGS__)

// "id, name", or "p.id, p.name" with the prefix "p.".
template <class Record>
std::string columns_of(std::string_view prefix = "") {
  std::string list;
  Record record{};
  visit_columns(record, [&](std::string_view name, const auto&) {
    list.append(list.empty() ? "" : ", ").append(prefix).append(name);
  });
  return list;
}

// The value of a column. `texts` keeps what is made for it alive.
template <class Member>
Value column_value(Journal& journal, const Member& member, std::deque<std::string>& texts) {
  if constexpr (std::is_enum_v<Member>) {
    return std::string_view(to_string(member));
  } else if constexpr (std::is_same_v<Member, Configuration>) {
    return configuration_row(journal, member);
  } else if constexpr (requires { member.value(); }) {
    return member ? column_value(journal, *member, texts) : Value(nullptr);
  } else if constexpr (std::is_constructible_v<Value, const Member&>) {
    return member;
  } else {
    return texts.emplace_back(encode(member));
  }
}

inline bool is_written(std::string_view column) {
  return column != "id" && column.find_first_of(".(") == std::string_view::npos;
}

template <class Record>
std::int64_t insert_row(Journal& journal, std::string_view table, const Record& record, Columns columns = {}) {
  std::deque<std::string> texts;
  const std::size_t given = columns.size();
  visit_columns(record, [&](std::string_view name, const auto& member) {
    const auto end = columns.begin() + static_cast<std::ptrdiff_t>(given);
    if (is_written(name) &&
        std::none_of(columns.begin(), end, [&](const auto& column) { return column.first == name; })) {
      columns.emplace_back(name, column_value(journal, member, texts));
    }
  });
  return database_of(journal).insert_into(table, columns);
}

// In their order, from position 0; each with the columns of their owner.
template <class Record>
void insert_rows(Journal& journal, std::string_view table, const std::vector<Record>& records, const Columns& owner) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    Columns columns = owner;
    columns.emplace_back("position", static_cast<std::int64_t>(i));
    if constexpr (std::is_same_v<Record, std::string>) {
      columns.emplace_back(table.substr(table.find('_') + 1), records[i]);
      database_of(journal).insert_into(table, columns);
    } else {
      insert_row(journal, table, records[i], std::move(columns));
    }
  }
}

// Takes the next column. NULL is NaN, 0, "", an absent optional or the default of an enum; the last two are "" too.
template <class Member>
void read_column(Journal& journal, Statement& row, Member& member) {
  if constexpr (std::is_enum_v<Member>) {
    const std::string word = row.text();
    member = word.empty() ? member : known(value_named<Member>(word), word);
  } else if constexpr (std::is_same_v<Member, Configuration>) {
    member = load_configuration(journal, row.integer());
  } else if constexpr (std::is_same_v<Member, bool>) {
    member = row.boolean();
  } else if constexpr (std::is_integral_v<Member>) {
    member = static_cast<Member>(row.integer());
  } else if constexpr (std::is_same_v<Member, double>) {
    member = row.real();
  } else if constexpr (std::is_same_v<Member, std::string>) {
    member = row.text();
  } else if constexpr (requires { member.value(); }) {
    if (row.next_is_empty()) {
      row.text();
      member.reset();
    } else {
      read_column(journal, row, member.emplace());
    }
  } else {
    decode(row.text(), member);
  }
}

// Takes as many columns as columns_of<Record>() names.
template <class Record>
void read_row(Journal& journal, Statement& row, Record& record) {
  visit_columns(record, [&](std::string_view, auto& member) { read_column(journal, row, member); });
}

// `from` is a literal of ours: "metric WHERE profile = ? ORDER BY position".
template <class Record>
std::vector<Record> read_rows(Journal& journal, std::string_view from, const std::vector<Value>& values = {}) {
  std::vector<Record> records;
  static const std::string columns = "SELECT " + columns_of<Record>() + " FROM ";
  Statement rows = database_of(journal).query(columns + std::string(from), values);
  while (rows.step()) {
    read_row(journal, rows, records.emplace_back());
  }
  return records;
}

template <class Record>
std::optional<Record> first_of(std::vector<Record> records) {
  return records.empty() ? std::nullopt : std::optional(std::move(records.front()));
}

// ---- the records

APO_COLUMNS_AS(Machine,
               "key, target, model, cores, kernel, governor, isa, driver, l2_bytes, l3_bytes, memory_bytes, facts", id,
               target, model, cores, kernel, governor, isa, driver, l2_bytes, l3_bytes, memory_bytes, facts)
APO_COLUMNS_AS(Variant,
               "source_hash, family, name, target, arch, parent, idea, requires, tunables, scratch, launches, path,"
               " (SELECT bytes FROM blob WHERE sha256 = source_hash)",
               source_hash, family, name, target, arch, parent, idea, requires_expression, tunables, scratch, launches,
               path, source)
APO_COLUMNS(Toolchain, compiler, version)

// ---- campaigns
APO_COLUMNS_AS(Campaign,
               "id, (SELECT key FROM machine WHERE machine.id = campaign.machine),"
               " (SELECT seed FROM campaign_end WHERE campaign = campaign.id),"
               " (SELECT state FROM campaigns WHERE campaigns.id = campaign.id),"
               " (SELECT ended_at FROM campaigns WHERE campaigns.id = campaign.id),"
               " (SELECT note FROM campaign_end WHERE campaign = campaign.id UNION ALL"
               " SELECT why FROM abandonment WHERE abandonment.campaign = campaign.id),"
               " baseline, family, workload_class, workloads, policy_baseline, iterations, candidates_per_iteration,"
               " budget_s, cache_policy, preset, layout, target, started_at",
               id, machine, policy.seed, state, ended_at, end_note, baseline, policy.family, policy.workload_class,
               policy.workloads, policy.baseline, policy.iterations, policy.candidates_per_iteration, policy.budget_s,
               policy.cache_policy, policy.judge_preset, policy.layout, policy.target, started_at)

// ---- profiles
APO_COLUMNS(Metric, name, value, unit, lower, upper, samples)
APO_COLUMNS(Roof, name, value, unit, lower, upper, samples, note)
APO_COLUMNS(StallSample, kernel, pc_offset, file, line, stall, samples)
APO_COLUMNS(SourceLine, file, line, text)
APO_COLUMNS(ProfiledLaunch, kernel, time_ns, bytes_moved, occupancy, issue, stall, stall_share)
APO_COLUMNS(Profile, configuration, workload, rung, missing, conditions, floor_ns, floor_roof, time_ns, floor_fraction)

// ---- research
APO_COLUMNS(Bottleneck, name, kind, evidence, bound, file, line)
APO_COLUMNS_AS(Candidate,
               "configuration, techniques, predicted_low, predicted_high, predicted_over, predicted_because,"
               " prediction_source, attacks, score, why, origin",
               configuration, techniques, prediction.low, prediction.high, prediction.relative_to, prediction.because,
               prediction.source, attacks, score, why, origin)
APO_COLUMNS_AS(LeftOut, "configuration, why, left_out_kind", configuration, why, kind)
APO_COLUMNS_AS(Idea, "technique, low, high, source, attacks, score, why_not", technique.name, technique.low,
               technique.high, technique.source, attacks, score, why_not)
APO_COLUMNS_AS(ProposerCall, "command, outcome, note, seconds, tokens, usd, reported_seconds", command, outcome, note,
               seconds, cost.tokens, cost.usd, cost.seconds)
APO_COLUMNS_AS(Proposal, "author, configuration, idea, state, why, tokens, usd, seconds", author, configuration, idea,
               state, why, cost.tokens, cost.usd, cost.seconds)
APO_COLUMNS_AS(Lesson,
               "id, experiment, family, workload_class, machine, configuration, source_hash, incumbent,"
               " incumbent_source, techniques, verdict, speedup, text",
               id, experiment, family, workload_class, machine, configuration, source_hash, incumbent,
               incumbent_source_hash, techniques, verdict, speedup, text)

// ---- experiments
APO_COLUMNS_AS(
    Experiment,
    "id, (SELECT key FROM machine WHERE machine.id = experiment.machine),"
    " (SELECT why FROM abandonment WHERE abandonment.experiment = experiment.id),"
    " (SELECT outcome FROM judgement WHERE judgement.experiment = experiment.id),"
    " (SELECT finished_at FROM judgement WHERE judgement.experiment = experiment.id), campaign, iteration, idx, "
    "family, workload_class, candidate, incumbent, candidate_source,"
    " incumbent_source, predicted_low, predicted_high, predicted_over, predicted_because,"
    " prediction_source, started_at",
    id, machine, abandoned, outcome, finished_at, campaign, iteration, index, family, workload_class, candidate,
    incumbent, candidate_source_hash, incumbent_source_hash, prediction.low, prediction.high, prediction.relative_to,
    prediction.because, prediction.source, started_at)
APO_COLUMNS_AS(Build,
               "key, outcome, object_path, object_hash, code_hash, flags, seconds, from_cache,"
               " (SELECT compiler FROM toolchain WHERE id = toolchain),"
               " (SELECT version FROM toolchain WHERE id = toolchain), (SELECT bytes FROM blob WHERE sha256 = log)",
               key, outcome, object_path, object_hash, code_hash, flags, seconds, from_cache, toolchain.compiler,
               toolchain.version, log)
APO_COLUMNS(GateResult, gate, outcome, evidence, seconds)
APO_COLUMNS(OutputErrors, workload, max_absolute, max_relative, has_nan, has_inf)
APO_COLUMNS(WrongCase, workload, axes, regime, seed)
APO_COLUMNS_AS(Round, "stage, idx, seed, candidate_in_slot0, effect, void_why, seconds", stage, index, seed,
               candidate_in_slot0, effect, void_why, seconds)
APO_COLUMNS(RoundWorkload, workload, repetitions, effect, incumbent_p90_ns, candidate_p90_ns, incumbent_median_ns,
            candidate_median_ns)
APO_COLUMNS(Judgement, verdict, reason, sentence, effect, lower, upper, confidence, rounds, processes, samples, seconds,
            search_effect, alpha, minimum_detectable, minimum_claim, incumbent_ns, candidate_ns, preset, cache_policy,
            rule_version)

// ---- what keeps the judge honest
APO_COLUMNS(Certification, id, campaign, incumbent, baseline, cache_policy, effect, lower, upper, rounds,
            claimed_effect, alarm, seconds, at)
APO_COLUMNS(ClockCoupling, missing, coupled, blocks, solo_run_s, confidence, time_effect, time_lower, time_upper,
            cycle_effect, clock_effect, clock_lower, clock_upper)
APO_COLUMNS(SoloRun, workload, candidate, seconds, calls, mhz, readings)
APO_COLUMNS_AS(Selftest,
               "id, (SELECT key FROM machine WHERE machine.id = selftest.machine), cache_policy, preset, rule_version,"
               " started_at, selftest_end.seed, selftest_end.ended_at, selftest_end.seconds,"
               " selftest_end.smallest_claim",
               id, machine, cache_policy, judge_preset, rule_version, started_at, seed, ended_at, seconds,
               smallest_claim)
APO_COLUMNS_AS(SelftestComparison,
               "kind, incumbent, candidate, workload, truth, random_layout, verdict, reason, effect, lower, upper,"
               " rounds, processes, seconds, effects, sentence, calls, blocks, several_cpus",
               kind, incumbent, candidate, workload, truth, random_layout, verdict, reason, effect, lower, upper,
               rounds, processes, seconds, effects, sentence, samples.calls, samples.blocks, samples.several_cpus)
APO_COLUMNS(SelftestKernel, configuration, workload, preset, call_ns, round_s, kernel_s, start_s, rounds_per_process,
            round_sd, sample_sd, block_sd, within_sd, layout_sd, process_sd, resolves_1s, resolves_10s, resolves_60s,
            smallest_claim)

// ---- two commands, or two dispatches
APO_COLUMNS(ProgramComparison, kind, purpose, campaign, a, b, folder, margin, started_at)
APO_COLUMNS(CommandQuestion, metric, higher_is_better, correct, judge, layout, runs, timeout_s, budget_s)
APO_COLUMNS_AS(ApplicationRun, "view, pair, side, seed, outcome, evidence, start_up_s, steps, seconds, wall_s, metrics",
               view, pair, side, seed, outcome, evidence, start_up_s, steps, seconds, wall_s, values)
APO_COLUMNS(Figure, view, kind, metric, unit, value_a, value_b, change, lower, upper, confidence, count, margin, needed,
            finding)

}  // namespace apo
