// journal/facts/applications/comparisons.cpp - writes judgements by an application as they run, and reads them.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/core/applications/application_document.h"
#include "harness/core/error.h"
#include "journal/encode.h"
#include "journal/implementation.h"

namespace apo {
namespace {

Value positive_or_absent(double value) {
  return value > 0 ? Value(value) : Value(nullptr);
}

std::vector<ApplicationRun> application_runs(Database& database, std::int64_t comparison) {
  std::vector<ApplicationRun> runs;
  Statement rows = database.query(
      "SELECT view, pair, side, seed, outcome, evidence, start_up_s, steps, seconds, wall_s, metrics"
      " FROM application_run WHERE comparison = ? ORDER BY position",
      {comparison});
  while (rows.step()) {
    ApplicationRun run;
    const std::string view = rows.text();
    run.view = known(application_view_from(view), view);
    run.pair = rows.small();
    run.of_b = rows.text() == "b";
    run.seed = rows.integer();
    const std::string outcome = rows.text();
    run.outcome = known(outcome_from(outcome), outcome);
    run.evidence = rows.text();
    run.start_up_s = rows.optional_real().value_or(0);
    run.steps = rows.small();
    run.seconds = rows.optional_real().value_or(0);
    run.wall_s = rows.real();
    run.values = decode_numbers(rows.text());
    runs.push_back(std::move(run));
  }
  return runs;
}

std::vector<SpeedEffect> speeds_of(Database& database, std::int64_t comparison) {
  std::vector<SpeedEffect> speeds;
  Statement rows = database.query(
      "SELECT view, value_a, value_b, start_up_a_s, start_up_b_s, pairs, effect, lower, upper, confidence"
      " FROM application_speed WHERE comparison = ? ORDER BY view",
      {comparison});
  while (rows.step()) {
    const std::string view = rows.text();
    SpeedEffect speed{.view = known(application_view_from(view), view)};
    speed.value_a = rows.real();
    speed.value_b = rows.real();
    speed.start_up_a_s = rows.real();
    speed.start_up_b_s = rows.real();
    speed.pairs = rows.small();
    speed.effect = rows.real();
    speed.lower = rows.real();
    speed.upper = rows.real();
    speed.confidence = rows.real();
    speeds.push_back(speed);
  }
  return speeds;
}

std::vector<QualityChange> qualities_of(Database& database, std::int64_t comparison) {
  std::vector<QualityChange> qualities;
  Statement rows = database.query(
      "SELECT view, metric, value_a, value_b, change, lower, upper, confidence, margin, seeds, seeds_needed, finding"
      " FROM application_quality WHERE comparison = ? ORDER BY view, metric",
      {comparison});
  while (rows.step()) {
    const std::string view = rows.text();
    QualityChange quality{.view = known(application_view_from(view), view), .metric = rows.text()};
    quality.value_a = rows.real();
    quality.value_b = rows.real();
    quality.change = rows.real();
    quality.lower = rows.real();
    quality.upper = rows.real();
    quality.confidence = rows.real();
    quality.margin = rows.real();
    quality.seeds = rows.small();
    quality.seeds_needed = static_cast<int>(rows.optional_real().value_or(0));
    const std::string finding = rows.text();
    quality.finding = known(quality_finding_from(finding), finding);
    qualities.push_back(quality);
  }
  return qualities;
}

// The next ten columns.
ApplicationExpectation next_expectation(Statement& row) {
  ApplicationExpectation expectation{.missing = row.text()};
  const auto log_of = [&] { return std::log(row.optional_real().value_or(1)); };
  expectation.profile = static_cast<std::int64_t>(row.optional_real().value_or(0));
  expectation.kernel = row.text();
  expectation.share = row.optional_real().value_or(0);
  expectation.kernel_effect = log_of();
  expectation.kernel_lower = log_of();
  expectation.kernel_upper = log_of();
  expectation.effect = log_of();
  expectation.lower = log_of();
  expectation.upper = log_of();
  expectation.agrees = row.optional_real().value_or(0) != 0;
  return expectation;
}

void read_verdict_of(Database& database, ApplicationComparison& comparison) {
  Statement row = database.query(
      "SELECT outcome, failed, verdict, reason, sentence, seconds, rule_version, finished_at, no_expectation, profile,"
      " kernel, kernel_share, kernel_speedup, kernel_speedup_lower, kernel_speedup_upper, expected, expected_lower,"
      " expected_upper, agrees FROM application_verdict WHERE comparison = ?",
      {comparison.id});
  if (!row.step()) {
    return;
  }
  const std::string outcome = row.text();
  comparison.outcome = known(outcome_from(outcome), outcome);
  const std::string failed = row.text();
  comparison.failed_a = failed == "a" || failed == "both";
  comparison.failed_b = failed == "b" || failed == "both";
  const std::string verdict = row.text();
  comparison.verdict = known(verdict_from(verdict), verdict);
  const std::string reason = row.text();
  comparison.reason = known(reason_from(reason), reason);
  comparison.sentence = row.text();
  comparison.seconds = row.optional_real().value_or(0);
  comparison.rule_version = row.text();
  comparison.finished_at = row.text();
  comparison.expectation = next_expectation(row);
}

void add_speed(Database& database, std::int64_t comparison, const SpeedEffect& speed) {
  database.run("INSERT INTO application_speed VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
               {comparison, to_string(speed.view), speed.value_a, speed.value_b, speed.start_up_a_s, speed.start_up_b_s,
                speed.pairs, speed.effect, speed.lower, speed.upper, speed.confidence, std::exp(speed.effect),
                std::exp(speed.lower), std::exp(speed.upper)});
}

void add_quality(Database& database, std::int64_t comparison, const QualityChange& quality) {
  database.run("INSERT INTO application_quality VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
               {comparison, to_string(quality.view), quality.metric, quality.value_a, quality.value_b, quality.change,
                quality.lower, quality.upper, quality.confidence, quality.margin, quality.seeds,
                quality.seeds_needed > 0 ? Value(quality.seeds_needed) : Value(nullptr), to_string(quality.finding)});
}

void add_verdict(Database& database, const ApplicationComparison& comparison) {
  const ApplicationExpectation expected =
      comparison.expectation.value_or(ApplicationExpectation{.missing = "none was made"});
  const bool has = expected.missing.empty();
  const auto ratio = [&](double effect) { return has ? Value(std::exp(effect)) : Value(nullptr); };
  database.run("INSERT INTO application_verdict VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
               {comparison.id,
                to_string(comparison.outcome),
                failed_arms(comparison),
                to_string(*comparison.verdict),
                to_string(comparison.reason),
                comparison.sentence,
                positive_or_absent(comparison.seconds),
                comparison.rule_version,
                expected.missing,
                Value::reference(expected.profile),
                expected.kernel,
                has ? Value(expected.share) : Value(nullptr),
                ratio(expected.kernel_effect),
                ratio(expected.kernel_lower),
                ratio(expected.kernel_upper),
                ratio(expected.effect),
                ratio(expected.lower),
                ratio(expected.upper),
                has ? Value(expected.agrees) : Value(nullptr),
                time_or_now(comparison.finished_at)});
}

}  // namespace

std::int64_t Journal::begin_application_comparison(const ApplicationComparison& comparison) {
  return self_->database.insert(
      "INSERT INTO application_comparison (campaign, machine, dispatch_a, dispatch_b, folder, application, started_at)"
      " VALUES (?, ?, ?, ?, ?, ?, ?)",
      {Value::reference(comparison.campaign), self_->machine_row(comparison.machine), comparison.dispatch[0],
       comparison.dispatch[1], comparison.folder, to_document(comparison.application).dump(),
       time_or_now(comparison.started_at)});
}

void Journal::add_application_run(std::int64_t comparison, const ApplicationRun& run) {
  self_->database.run(
      "INSERT INTO application_run VALUES (?, (SELECT count(*) FROM application_run WHERE comparison = ?), ?, ?, ?, ?,"
      " ?, ?, ?, ?, ?, ?, ?, ?)",
      {comparison, comparison, to_string(run.view), run.pair, run.of_b ? "b" : "a", run.seed, to_string(run.outcome),
       run.evidence, positive_or_absent(run.start_up_s), run.steps, positive_or_absent(run.seconds), run.wall_s,
       encode(run.values), time_or_now("")});
}

void Journal::finish_application_comparison(const ApplicationComparison& comparison) {
  if (!comparison.verdict) {
    throw std::logic_error("a judgement by an application is finished by its verdict");
  }
  Transaction transaction(self_->database);
  for (const SpeedEffect& speed : comparison.speeds) {
    add_speed(self_->database, comparison.id, speed);
  }
  for (const QualityChange& quality : comparison.qualities) {
    add_quality(self_->database, comparison.id, quality);
  }
  add_verdict(self_->database, comparison);
  transaction.commit();
}

namespace {

// `condition` is one on the comparison c.
std::vector<ApplicationComparison> read_all(Database& database, const std::string& condition, std::int64_t value) {
  std::vector<ApplicationComparison> all;
  Statement rows = database.query(
      "SELECT c.id, coalesce(campaign, 0), m.key, dispatch_a, dispatch_b, folder, application, started_at"
      " FROM application_comparison c JOIN machine m ON m.id = c.machine WHERE " +
          condition + " ORDER BY c.id",
      {value});
  while (rows.step()) {
    ApplicationComparison comparison{.id = rows.integer(), .campaign = rows.integer()};
    comparison.machine = rows.text();
    comparison.dispatch[0] = rows.text();
    comparison.dispatch[1] = rows.text();
    comparison.folder = rows.text();
    comparison.application = application_from_document(rows.text());
    comparison.started_at = rows.text();
    comparison.runs = application_runs(database, comparison.id);
    comparison.speeds = speeds_of(database, comparison.id);
    comparison.qualities = qualities_of(database, comparison.id);
    read_verdict_of(database, comparison);
    all.push_back(std::move(comparison));
  }
  return all;
}

}  // namespace

ApplicationComparison Journal::load_application_comparison(std::int64_t id) {
  std::vector<ApplicationComparison> found = read_all(self_->database, "c.id = ?", id);
  if (found.empty()) {
    throw UserError(fmt::format("there is no comparison a{} by an application in '{}'", id, self_->path.string()),
                    "'apo query --sql \"SELECT id, verdict, sentence FROM application_comparisons\"' lists them");
  }
  return std::move(found.front());
}

std::vector<ApplicationComparison> Journal::application_comparisons(std::optional<std::int64_t> campaign) {
  return read_all(self_->database, "? IN (-1, coalesce(campaign, 0))", campaign.value_or(-1));
}

}  // namespace apo
