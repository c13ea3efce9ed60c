// journal/facts/applications/comparisons.cpp - writes judgements by an application as they run, and reads them.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/core/applications/application_document.h"
#include "harness/core/error.h"
#include "journal/columns.h"

namespace apo {
namespace {

Value positive_or_absent(double value) {
  return value > 0 ? Value(value) : Value(nullptr);
}

std::vector<ApplicationRun> application_runs(Journal::Implementation& self, std::int64_t comparison) {
  std::vector<ApplicationRun> runs;
  Statement rows = self.database.query(
      "SELECT side, " + columns_of<ApplicationRun>() + " FROM application_run WHERE comparison = ? ORDER BY position",
      {comparison});
  while (rows.step()) {
    ApplicationRun& run = runs.emplace_back();
    run.of_b = rows.text() == "b";
    read_row(self, rows, run);
    for (double* seconds : {&run.start_up_s, &run.seconds}) {
      *seconds = std::isnan(*seconds) ? 0 : *seconds;
    }
  }
  return runs;
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

void add_speed(Journal::Implementation& self, std::int64_t comparison, const SpeedEffect& speed) {
  insert_row(self, "application_speed", speed,
             {{"comparison", comparison},
              {"speedup", std::exp(speed.effect)},
              {"speedup_lower", std::exp(speed.lower)},
              {"speedup_upper", std::exp(speed.upper)}});
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
  return insert_row(*self_, "application_comparison", comparison,
                    {{"campaign", Value::reference(comparison.campaign)},
                     {"machine", self_->machine_row(comparison.machine)},
                     {"application", to_document(comparison.application).dump()},
                     {"started_at", time_or_now(comparison.started_at)}});
}

void Journal::add_application_run(std::int64_t comparison, const ApplicationRun& run) {
  Transaction transaction(self_->database);
  const std::vector<std::int64_t> before =
      self_->database.integers("SELECT count(*) FROM application_run WHERE comparison = ?", {comparison});
  insert_row(*self_, "application_run", run,
             {{"comparison", comparison},
              {"position", before.front()},
              {"side", run.of_b ? "b" : "a"},
              {"start_up_s", positive_or_absent(run.start_up_s)},
              {"seconds", positive_or_absent(run.seconds)},
              {"at", utc_now()}});
  transaction.commit();
}

void Journal::finish_application_comparison(const ApplicationComparison& comparison) {
  if (!comparison.verdict) {
    throw std::logic_error("a judgement by an application is finished by its verdict");
  }
  Transaction transaction(self_->database);
  for (const SpeedEffect& speed : comparison.speeds) {
    add_speed(*self_, comparison.id, speed);
  }
  for (const QualityChange& quality : comparison.qualities) {
    insert_row(*self_, "application_quality", quality,
               {{"comparison", comparison.id}, {"seeds_needed", Value::reference(quality.seeds_needed)}});
  }
  add_verdict(self_->database, comparison);
  transaction.commit();
}

namespace {

// `condition` is one on the comparison c.
std::vector<ApplicationComparison> read_all(Journal::Implementation& self, const std::string& condition,
                                            std::int64_t value) {
  std::vector<ApplicationComparison> all;
  Statement rows = self.database.query("SELECT c.id, m.key, application, " + columns_of<ApplicationComparison>() +
                                           " FROM application_comparison c JOIN machine m ON m.id = c.machine WHERE " +
                                           condition + " ORDER BY c.id",
                                       {value});
  while (rows.step()) {
    ApplicationComparison& comparison = all.emplace_back();
    comparison.id = rows.integer();
    comparison.machine = rows.text();
    comparison.application = application_from_document(rows.text());
    read_row(self, rows, comparison);
    comparison.runs = application_runs(self, comparison.id);
    comparison.speeds =
        read_rows<SpeedEffect>(self, "application_speed WHERE comparison = ? ORDER BY view", {comparison.id});
    comparison.qualities = read_rows<QualityChange>(
        self, "application_quality WHERE comparison = ? ORDER BY view, metric", {comparison.id});
    read_verdict_of(self.database, comparison);
  }
  return all;
}

}  // namespace

ApplicationComparison Journal::load_application_comparison(std::int64_t id) {
  std::vector<ApplicationComparison> found = read_all(*self_, "c.id = ?", id);
  if (found.empty()) {
    throw UserError(fmt::format("there is no comparison a{} by an application in '{}'", id, self_->path.string()),
                    "'apo query --sql \"SELECT id, verdict, sentence FROM application_comparisons\"' lists them");
  }
  return std::move(found.front());
}

std::vector<ApplicationComparison> Journal::application_comparisons(std::optional<std::int64_t> campaign) {
  return read_all(*self_, "? IN (-1, coalesce(campaign, 0))", campaign.value_or(-1));
}

}  // namespace apo
