// harness/evaluate/programs/judge_runs.cpp - turns the runs of an application into pairs, pairs into effects, and these
// into a verdict and its sentence.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/equivalence.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "harness/evaluate/programs/judge_programs.h"

namespace apo {
namespace {

using Runs = std::vector<ApplicationRun>;

// ---------------------------------------------------------------- the numbers

struct Pair {
  const ApplicationRun* a = nullptr;
  const ApplicationRun* b = nullptr;
};

// Returns the pairs in which both runs ended well.
std::vector<Pair> valid_pairs(const Runs& runs) {
  std::map<int, Pair> pairs;
  for (const ApplicationRun& run : runs) {
    if (run.outcome == Outcome::valid) {
      (run.side == Side::b ? pairs[run.pair].b : pairs[run.pair].a) = &run;
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

Figure speed_figure(const ApplicationMetric& metric, const std::vector<Pair>& pairs) {
  const double alpha = interval_alpha(static_cast<int>(pairs.size()));
  const WalshAverages averages = speed_effects(metric, pairs);
  return {.metric = metric.name,
          .unit = metric.higher_is_better ? metric.unit : "s",
          .value_a = median(each(pairs, [&](const Pair& pair) { return pair.a->values.at(metric.name); })),
          .value_b = median(each(pairs, [&](const Pair& pair) { return pair.b->values.at(metric.name); })),
          .change = std::exp(averages.hodges_lehmann()),
          .lower = std::exp(averages.lower(alpha)),
          .upper = std::exp(averages.upper(alpha)),
          .confidence = 1 - 2 * alpha,
          .count = static_cast<int>(pairs.size())};
}

Figure start_up_figure(const std::vector<Pair>& pairs) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return {.kind = FigureKind::start_up,
          .metric = "start-up",
          .unit = "s",
          .value_a = median(each(pairs, [](const Pair& pair) { return pair.a->start_up_s; })),
          .value_b = median(each(pairs, [](const Pair& pair) { return pair.b->start_up_s; })),
          .change = kNone,
          .lower = kNone,
          .upper = kNone,
          .count = static_cast<int>(pairs.size())};
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

Figure quality_figure(const ApplicationMetric& metric, const std::vector<Pair>& pairs) {
  const BySeed values = by_seed(pairs, metric.name);
  std::vector<double> differences;
  for (std::size_t i = 0; i < values.a.size(); ++i) {
    differences.push_back(values.b[i] - values.a[i]);
  }
  const double value_a = mean(values.a);
  const double margin = metric.margin * (metric.margin_is_share ? std::abs(value_a) : 1);
  const Equivalence test = test_equivalence(differences, margin);
  return {.kind = FigureKind::quality,
          .metric = metric.name,
          .unit = metric.unit,
          .value_a = value_a,
          .value_b = mean(values.b),
          .change = test.center,
          .lower = test.lower,
          .upper = test.upper,
          .confidence = 1 - 2 * kEquivalenceAlpha,
          .count = static_cast<int>(differences.size()),
          .margin = margin,
          .needed = test.needed,
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

bool any_quality(const ProgramComparison& comparison, QualityFinding finding) {
  return std::ranges::any_of(comparison.figures, [&](const Figure& figure) { return figure.finding == finding; });
}

struct Conclusion {
  Verdict verdict;
  Reason reason;
};

Conclusion conclude_timed(const ProgramComparison& comparison, Reason speed) {
  if (any_quality(comparison, QualityFinding::worse)) {
    return {Verdict::reverted, Reason::quality_lost};
  }
  if (speed == Reason::regression || speed == Reason::equivalent) {
    return {Verdict::reverted, speed};
  }
  if (speed == Reason::unresolved || any_quality(comparison, QualityFinding::inconclusive)) {
    return {Verdict::inconclusive, Reason::unresolved};
  }
  return {Verdict::accepted, Reason::faster};
}

// A program that fails with both dispatches, or with A, is no evidence against B.
Conclusion conclude_failed(FailedSide failed) {
  return failed == FailedSide::b ? Conclusion{Verdict::reverted, Reason::gate_failed}
                                 : Conclusion{Verdict::inconclusive, Reason::interrupted};
}

std::string failure_sentence(const ProgramComparison& comparison) {
  const auto failed =
      std::ranges::find_if(comparison.runs, [](const ApplicationRun& run) { return run.outcome != Outcome::valid; });
  const char* whose = comparison.failed == FailedSide::both ? "both dispatches"
                      : comparison.failed == FailedSide::b  ? "B"
                                                            : "A";
  return fmt::format("The application failed with {}: {}, {} (seed {}).", whose, to_string(failed->outcome),
                     failed->evidence, failed->seed);
}

const char* lead(Reason reason) {
  switch (reason) {
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

std::string timed_sentence(const ProgramComparison& comparison, Reason reason) {
  std::vector<std::string> parts;
  for (const Figure& figure : comparison.figures) {
    if (figure.kind != FigureKind::start_up) {
      parts.push_back(figure_text(figure));
    }
  }
  return fmt::format("{}: {}.", lead(reason), join(parts, "; "));
}

void note_failures(ProgramComparison& comparison) {
  comparison.outcome = Outcome::valid;
  comparison.failed.reset();
  for (const ApplicationRun& run : comparison.runs) {
    if (run.outcome != Outcome::valid) {
      comparison.outcome = comparison.outcome == Outcome::valid ? run.outcome : comparison.outcome;
      const FailedSide side = run.side == Side::b ? FailedSide::b : FailedSide::a;
      comparison.failed = comparison.failed.value_or(side) == side ? side : FailedSide::both;
    }
  }
}

}  // namespace

void judge_runs(ProgramComparison& comparison) {
  const DeclaredApplication& application = comparison.application;
  const auto runs = static_cast<int>(comparison.runs.size());
  Judgement judgement{.processes = runs, .samples = runs, .rule_version = std::string(kRuleVersion)};
  Reason speed = Reason::unresolved;
  comparison.figures.clear();
  if (const std::vector<Pair> pairs = valid_pairs(comparison.runs); !pairs.empty()) {
    comparison.figures = {speed_figure(application.speed(), pairs), start_up_figure(pairs)};
    for (const ApplicationMetric& metric : application.qualities()) {
      comparison.figures.push_back(quality_figure(metric, pairs));
    }
    const WalshAverages effects = speed_effects(application.speed(), pairs);
    const double alpha = interval_alpha(static_cast<int>(pairs.size()));
    speed = reason_of(effects);
    judgement.effect = effects.hodges_lehmann();
    judgement.lower = effects.lower(alpha);
    judgement.upper = effects.upper(alpha);
    judgement.confidence = 1 - 2 * alpha;
    judgement.rounds = static_cast<int>(pairs.size());
  }
  note_failures(comparison);
  const auto [verdict, reason] =
      comparison.failed ? conclude_failed(*comparison.failed) : conclude_timed(comparison, speed);
  judgement.verdict = verdict;
  judgement.reason = reason;
  judgement.sentence = comparison.failed ? failure_sentence(comparison) : timed_sentence(comparison, reason);
  comparison.judgement = std::move(judgement);
}

}  // namespace apo
