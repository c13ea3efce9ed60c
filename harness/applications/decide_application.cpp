// harness/applications/decide_application.cpp - turns pairs into effects, and effects into a verdict and its
// sentence.
#include "harness/applications/decide_application.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/core/text.h"
#include "harness/evaluate/judge/equivalence.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/evaluate/judge/signed_rank.h"

namespace apo {
namespace {

using Runs = std::vector<ApplicationRun>;

// ---------------------------------------------------------------- the numbers

struct Pair {
  const ApplicationRun* a = nullptr;
  const ApplicationRun* b = nullptr;
};

// Returns the pairs in which both runs ended well.
std::vector<Pair> valid_pairs(const Runs& runs, ApplicationView view) {
  std::map<int, Pair> pairs;
  for (const ApplicationRun& run : runs) {
    if (run.view == view && run.outcome == Outcome::valid) {
      (run.of_b ? pairs[run.pair].b : pairs[run.pair].a) = &run;
    }
  }
  std::vector<Pair> whole;
  for (const auto& [index, pair] : pairs) {
    if (pair.a != nullptr && pair.b != nullptr) {
      whole.push_back(pair);
    }
  }
  return whole;
}

template <class Function>
std::vector<double> each(const std::vector<Pair>& pairs, const Function& function) {
  std::vector<double> values;
  for (const Pair& pair : pairs) {
    values.push_back(function(pair));
  }
  return values;
}

WalshAverages speed_effects(const ApplicationMetric& metric, const std::vector<Pair>& pairs) {
  const double sign = metric.higher_is_better ? 1 : -1;
  return WalshAverages(each(pairs, [&](const Pair& pair) {
    return sign * std::log(pair.b->values.at(metric.name) / pair.a->values.at(metric.name));
  }));
}

// Returns the preset's level, or the smallest that so few pairs can give.
double interval_alpha(int pairs) {
  return std::max(standard_preset().interval_alpha, std::exp2(-pairs));
}

SpeedEffect speed_effect(const ApplicationMetric& metric, ApplicationView view, const std::vector<Pair>& pairs) {
  const double alpha = interval_alpha(static_cast<int>(pairs.size()));
  const WalshAverages averages = speed_effects(metric, pairs);
  return {.view = view,
          .value_a = median(each(pairs, [&](const Pair& pair) { return pair.a->values.at(metric.name); })),
          .value_b = median(each(pairs, [&](const Pair& pair) { return pair.b->values.at(metric.name); })),
          .start_up_a_s = median(each(pairs, [](const Pair& pair) { return pair.a->start_up_s; })),
          .start_up_b_s = median(each(pairs, [](const Pair& pair) { return pair.b->start_up_s; })),
          .pairs = static_cast<int>(pairs.size()),
          .effect = averages.hodges_lehmann(),
          .lower = averages.lower(alpha),
          .upper = averages.upper(alpha),
          .confidence = 1 - 2 * alpha};
}

// Pairs of one seed are one value: a program that is deterministic says the same each time.
struct BySeed {
  std::vector<double> a;
  std::vector<double> b;
};

BySeed by_seed(const std::vector<Pair>& pairs, const std::string& metric) {
  std::map<std::int64_t, std::vector<Pair>> groups;
  for (const Pair& pair : pairs) {
    groups[pair.a->seed].push_back(pair);
  }
  BySeed values;
  for (const auto& [seed, group] : groups) {
    values.a.push_back(mean(each(group, [&](const Pair& pair) { return pair.a->values.at(metric); })));
    values.b.push_back(mean(each(group, [&](const Pair& pair) { return pair.b->values.at(metric); })));
  }
  return values;
}

QualityFinding finding_of(const Equivalence& test, bool higher_is_better) {
  const bool worse = higher_is_better ? test.below : test.above;
  const bool better = higher_is_better ? test.above : test.below;
  return test.inside ? QualityFinding::equivalent
         : worse     ? QualityFinding::worse
         : better    ? QualityFinding::better
                     : QualityFinding::inconclusive;
}

QualityChange quality_change(const ApplicationMetric& metric, ApplicationView view, const std::vector<Pair>& pairs) {
  const BySeed values = by_seed(pairs, metric.name);
  std::vector<double> differences;
  for (std::size_t i = 0; i < values.a.size(); ++i) {
    differences.push_back(values.b[i] - values.a[i]);
  }
  const double value_a = mean(values.a);
  const double margin = metric.margin * (metric.margin_is_share ? std::abs(value_a) : 1);
  const Equivalence test = test_equivalence(differences, margin);
  return {.view = view,
          .metric = metric.name,
          .value_a = value_a,
          .value_b = mean(values.b),
          .change = test.center,
          .lower = test.lower,
          .upper = test.upper,
          .confidence = 1 - 2 * kEquivalenceAlpha,
          .margin = margin,
          .seeds = static_cast<int>(differences.size()),
          .seeds_needed = test.needed,
          .finding = finding_of(test, metric.higher_is_better)};
}

// ---------------------------------------------------------------- the verdict

// The rule of the first look at a kernel, whose level nothing else here has to be added to.
Reason reason_of(const WalshAverages& averages) {
  const JudgePreset preset = standard_preset();
  if (averages.lower(preset.looks.front().alpha) > preset.margin) {
    return Reason::faster;
  }
  if (averages.upper(preset.regression_alpha) < 0 && averages.hodges_lehmann() < -preset.margin) {
    return Reason::regression;
  }
  const bool equivalent = averages.lower(preset.equivalence_alpha) > -preset.equivalence_band &&
                          averages.upper(preset.equivalence_alpha) < preset.equivalence_band;
  return equivalent ? Reason::equivalent : Reason::unresolved;
}

bool any_quality(const ApplicationComparison& comparison, QualityFinding finding) {
  return std::any_of(comparison.qualities.begin(), comparison.qualities.end(), [&](const QualityChange& one) {
    return one.view == ApplicationView::fixed_steps && one.finding == finding;
  });
}

void conclude(ApplicationComparison& comparison, Verdict verdict, Reason reason) {
  comparison.verdict = verdict;
  comparison.reason = reason;
}

void decide_timed(ApplicationComparison& comparison, Reason speed) {
  if (any_quality(comparison, QualityFinding::worse)) {
    conclude(comparison, Verdict::reverted, Reason::quality_lost);
  } else if (speed == Reason::regression || speed == Reason::equivalent) {
    conclude(comparison, Verdict::reverted, speed);
  } else if (speed == Reason::unresolved || any_quality(comparison, QualityFinding::inconclusive)) {
    conclude(comparison, Verdict::inconclusive, Reason::unresolved);
  } else {
    conclude(comparison, Verdict::accepted, Reason::faster);
  }
}

// A program that fails with both dispatches, or with A, is no evidence against B.
void decide_failed(ApplicationComparison& comparison) {
  const bool of_b_alone = comparison.failed_b && !comparison.failed_a;
  conclude(comparison, of_b_alone ? Verdict::reverted : Verdict::inconclusive,
           of_b_alone ? Reason::gate_failed : Reason::interrupted);
}

std::string failure_sentence(const ApplicationComparison& comparison) {
  const auto failed = std::find_if(comparison.runs.begin(), comparison.runs.end(),
                                   [](const ApplicationRun& run) { return run.outcome != Outcome::valid; });
  const std::string whose = comparison.failed_a && comparison.failed_b ? "both dispatches"
                            : comparison.failed_b                      ? "B"
                                                                       : "A";
  return fmt::format("The application failed with {}: {}, {} (seed {}).", whose, to_string(failed->outcome),
                     failed->evidence, failed->seed);
}

const char* lead(const ApplicationComparison& comparison) {
  switch (comparison.reason) {
    case Reason::faster:
      return "Faster, and no worse";
    case Reason::regression:
      return "Slower";
    case Reason::equivalent:
      return "No difference in speed that matters";
    case Reason::quality_lost:
      return "The quality got worse, whatever the speed";
    default:
      return "Not resolved";
  }
}

std::string timed_sentence(const ApplicationComparison& comparison) {
  std::vector<std::string> parts;
  if (const SpeedEffect* speed = deciding_speed(comparison)) {
    parts.push_back(speed_text(comparison, *speed));
  }
  for (const QualityChange& quality : comparison.qualities) {
    if (quality.view == ApplicationView::fixed_steps) {
      parts.push_back(quality_text(quality));
    }
  }
  return fmt::format("{}: {}.", lead(comparison), join(parts, "; "));
}

void note_failures(ApplicationComparison& comparison) {
  comparison.outcome = Outcome::valid;
  comparison.failed_a = comparison.failed_b = false;
  for (const ApplicationRun& run : comparison.runs) {
    if (run.outcome != Outcome::valid) {
      comparison.outcome = comparison.outcome == Outcome::valid ? run.outcome : comparison.outcome;
      (run.of_b ? comparison.failed_b : comparison.failed_a) = true;
    }
  }
}

bool same_speed(const SpeedEffect& a, const SpeedEffect& b) {
  return a.view == b.view && a.effect == b.effect && a.lower == b.lower && a.upper == b.upper && a.pairs == b.pairs;
}

bool same_quality(const QualityChange& a, const QualityChange& b) {
  return a.view == b.view && a.metric == b.metric && a.change == b.change && a.lower == b.lower && a.upper == b.upper &&
         a.finding == b.finding;
}

}  // namespace

std::vector<ApplicationView> views_of(const DeclaredApplication& application) {
  std::vector<ApplicationView> views = {ApplicationView::fixed_steps};
  if (application.fixed_time_s > 0) {
    views.push_back(ApplicationView::fixed_time);
  }
  return views;
}

void decide(ApplicationComparison& comparison) {
  const DeclaredApplication& application = comparison.application;
  comparison.speeds.clear();
  comparison.qualities.clear();
  Reason speed = Reason::unresolved;
  for (const ApplicationView view : views_of(application)) {
    const std::vector<Pair> pairs = valid_pairs(comparison.runs, view);
    if (pairs.empty()) {
      continue;
    }
    comparison.speeds.push_back(speed_effect(application.speed(), view, pairs));
    for (const ApplicationMetric& metric : application.qualities()) {
      comparison.qualities.push_back(quality_change(metric, view, pairs));
    }
    if (view == ApplicationView::fixed_steps) {
      speed = reason_of(speed_effects(application.speed(), pairs));
    }
  }
  note_failures(comparison);
  const bool failed = comparison.failed_a || comparison.failed_b;
  failed ? decide_failed(comparison) : decide_timed(comparison, speed);
  comparison.sentence = failed ? failure_sentence(comparison) : timed_sentence(comparison);
  comparison.rule_version = std::string(kRuleVersion);
}

std::string difference_on_replay(const ApplicationComparison& comparison) {
  if (!comparison.verdict || comparison.runs.empty() || comparison.rule_version != kRuleVersion) {
    return "";
  }
  ApplicationComparison again = comparison;
  decide(again);
  const bool same = again.verdict == comparison.verdict && again.reason == comparison.reason &&
                    again.sentence == comparison.sentence &&
                    std::ranges::equal(again.speeds, comparison.speeds, same_speed) &&
                    std::ranges::is_permutation(again.qualities, comparison.qualities, same_quality);
  return same ? "" : "its runs give " + again.sentence + " where it says " + comparison.sentence;
}

}  // namespace apo
