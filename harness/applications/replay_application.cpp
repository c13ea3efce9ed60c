// harness/applications/replay_application.cpp - asks again what a recorded comparison asked.
#include "harness/applications/replay_application.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <utility>

#include "harness/applications/compare_dispatches.h"
#include "harness/applications/decide_application.h"
#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "journal/journal.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

std::string name_of(const ApplicationComparison& comparison) {
  return fmt::format("comparison a{}", comparison.id);
}

void check_judged(const ApplicationComparison& original) {
  if (!original.verdict) {
    throw UserError(name_of(original) + " was never judged: it was interrupted, or is under way",
                    "'apo query --sql \"SELECT id, verdict FROM application_comparisons\"' lists the others");
  }
  if (!fs::is_directory(original.folder)) {
    throw UserError(fmt::format("{} ran in '{}', which is no folder here", name_of(original), original.folder),
                    "judge the dispatches anew where they are: 'apo application compare'");
  }
}

// Copies the request, without any result.
ApplicationComparison asked_by(const ApplicationComparison& original) {
  ApplicationComparison asked{
      .application = original.application, .folder = original.folder, .dispatch = original.dispatch};
  for (std::string& dispatch : asked.dispatch) {
    dispatch = (fs::path(original.folder) / dispatch).string();
    if (!fs::exists(dispatch)) {
      throw UserError(fmt::format("{} had the dispatch '{}', which is gone", name_of(original), dispatch),
                      "write it again with 'apo export --dispatch', or judge others with 'apo application compare'");
    }
  }
  return asked;
}

std::string interval_of(const SpeedEffect& speed) {
  return format_interval(std::exp(speed.effect), std::exp(speed.lower), std::exp(speed.upper)).all();
}

}  // namespace

std::vector<std::string> unfounded_application_verdicts(Journal& journal) {
  std::vector<std::string> findings;
  for (const ApplicationComparison& comparison : journal.application_comparisons()) {
    if (const std::string difference = difference_on_replay(comparison); !difference.empty()) {
      findings.push_back(fmt::format("application comparison {}: {}", comparison.id, difference));
    }
  }
  return findings;
}

Reproduction reproduction_of(const ApplicationComparison& original, const ApplicationComparison& again) {
  APO_CHECK(original.verdict && again.verdict);
  if (original.verdict != again.verdict) {
    return {false,
            fmt::format("the verdict was '{}' and is '{}'", to_string(*original.verdict), to_string(*again.verdict))};
  }
  if (original.outcome != again.outcome || failed_arms(original) != failed_arms(again)) {
    return {false,
            fmt::format("the outcome was '{}' and is '{}'", to_string(original.outcome), to_string(again.outcome))};
  }
  const SpeedEffect* then = deciding_speed(original);
  const SpeedEffect* now = deciding_speed(again);
  if (original.outcome != Outcome::valid || then == nullptr || now == nullptr) {
    return {true, fmt::format("the same outcome '{}'", to_string(again.outcome))};
  }
  // Written so that a bound that is no number reproduces nothing.
  if (now->upper >= then->lower && now->lower <= then->upper) {
    return {true, fmt::format("the same verdict, and {} agrees with {}", interval_of(*now), interval_of(*then))};
  }
  return {false, fmt::format("the same verdict, but {} does not overlap {}", interval_of(*now), interval_of(*then))};
}

ApplicationReplay replay_application(Workspace& workspace, Journal& journal, std::int64_t id, Observer& observer) {
  ApplicationReplay replay{.original = journal.load_application_comparison(id)};
  check_judged(replay.original);
  const std::optional<Machine> then = journal.machine(replay.original.machine);
  workspace.use(then && then->target == Target::cuda ? Target::cuda : Target::host);
  replay.again = compare_dispatches(workspace, journal, asked_by(replay.original), observer);
  replay.differences = judge_differences(then, workspace.machine(), replay.original.rule_version);
  replay.reproduction = reproduction_of(replay.original, replay.again);
  return replay;
}

}  // namespace apo
