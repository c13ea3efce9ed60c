// harness/evaluate/programs/suite.cpp - pairs benchmarks by name, and turns rounds into a figure for each.
#include "harness/evaluate/programs/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/gate/suite_decision.h"
#include "harness/evaluate/judge/noise_levels.h"
#include "harness/evaluate/judge/signed_rank.h"

namespace apo {
namespace {

constexpr std::size_t kMostNamed = 12;
// Without a margin: a benchmark that would not have shown a larger slowdown cannot be resolved.
constexpr double kWorstResolution = 0.05;

std::string why_left_out(const Reading* a, const Reading* b, bool higher_is_better) {
  if (a == nullptr || b == nullptr) {
    return a == nullptr ? "only B has it" : "only A has it";
  }
  if (!a->is_usable() || !b->is_usable()) {
    const Reading& bad = a->is_usable() ? *b : *a;
    return bad.problem.empty() ? fmt::format("its value is {}", format_g(bad.value)) : bad.problem;
  }
  if (a->unit != b->unit) {
    return fmt::format("A gives {} and B {}", a->unit, b->unit);
  }
  if (a->unit == "s" ? higher_is_better : a->unit.ends_with("/s") && !higher_is_better) {
    return fmt::format("{} of it is better, which is not so of the others", higher_is_better ? "less" : "more");
  }
  return "";
}

std::vector<std::string> benchmarks_of(const std::vector<Round>& rounds) {
  std::vector<std::string> names;
  if (!rounds.empty()) {
    std::ranges::transform(rounds.front().commands->runs.front().values, std::back_inserter(names), &NamedValue::name);
  }
  return names;
}

double spread_of(const std::vector<double>& effects) {
  const double robust = effects.size() < 2 ? 0 : robust_spread(effects);
  return robust > 0 ? robust : standard_deviation(effects);
}

double median_of(const std::vector<Round>& rounds, bool of_b) {
  std::vector<double> values;
  std::ranges::transform(rounds, std::back_inserter(values),
                         [&](const Round& round) { return round.commands->best(of_b); });
  return median(values);
}

// Over the first rounds, in which the benchmark was run.
double median_of(const std::vector<Round>& rounds, const std::string& name, bool of_b) {
  std::vector<double> values;
  for (const Round& round : rounds) {
    const auto& names = round.commands->runs.front().values;
    if (const auto at = std::ranges::find(names, name, &NamedValue::name); at != names.end()) {
      values.push_back(round.commands->best(of_b, static_cast<std::size_t>(at - names.begin())));
    }
  }
  return median(values);
}

GateState as_gate_state(const SuiteRule& rule, const SuiteState& state) {
  GateState gate{.answer = gate_answer(rule, state), .finished = state.finished, .rounds_wanted = state.rounds_wanted};
  for (const BenchmarkState& one : state.benchmarks) {
    gate.workloads.push_back({.rounds = one.rounds, .effect = one.effect, .lower = one.lower, .upper = one.upper});
  }
  return gate;
}

Figure figure_of(const std::string& metric, const std::string& unit, const BenchmarkState& state) {
  const auto ratio = [&](double effect) {
    return state.rounds > 0 ? std::exp(effect) : std::numeric_limits<double>::quiet_NaN();
  };
  return {.view = ComparisonView::rounds,
          .metric = metric,
          .unit = unit,
          .change = ratio(state.effect),
          .lower = ratio(state.lower),
          .upper = ratio(state.upper),
          .count = state.rounds};
}

double level_at(const SuiteRule& rule, int rounds) {
  const auto look = std::ranges::find(rule.looks, rounds, &Look::rounds);
  return look == rule.looks.end() ? 0 : look->alpha;
}

// Fills the benchmark's figure, which has its name and unit.
void fill(Figure& figure, const SuiteRule& rule, const SuiteState& state, std::size_t place,
          const std::vector<std::vector<double>>& effects, const std::vector<Round>& rounds) {
  const BenchmarkState& benchmark = state.benchmarks[place];
  figure = figure_of(figure.metric, figure.unit, benchmark);
  figure.value_a = median_of(rounds, figure.metric, false);
  figure.value_b = median_of(rounds, figure.metric, true);
  const double level = level_at(rule, benchmark.rounds) / static_cast<double>(effects.size());
  figure.margin = std::expm1(rule.margin + detectable_effect(benchmark.rounds, level, spread_of(effects[place])));
  const bool resolved = rule.margin == 0 && benchmark.rounds > 0 && figure.margin <= kWorstResolution;
  figure.finding =
      benchmark.finding == QualityFinding::inconclusive && resolved ? QualityFinding::equivalent : benchmark.finding;
}

std::string percent_of(const Figure& figure) {
  return format_change(std::log(figure.change), std::log(figure.lower), std::log(figure.upper)).all();
}

std::string named(const std::vector<const Figure*>& figures) {
  std::vector<std::string> names;
  for (const Figure* figure : figures) {
    if (names.size() < kMostNamed) {
      const bool changed = figure->finding == QualityFinding::worse || figure->finding == QualityFinding::better;
      names.push_back(figure->metric + (changed                ? " " + percent_of(*figure)
                                        : is_left_out(*figure) ? " (" + figure->unit + ")"
                                                               : ""));
    }
  }
  return join(names, ", ") + (figures.size() > kMostNamed ? ", ..." : "");
}

std::string suite_sentence(const std::vector<Figure>& figures) {
  const auto those = [&](const auto& is_one) {
    std::vector<const Figure*> found;
    for (const Figure& figure : figures) {
      if (is_one(figure)) {
        found.push_back(&figure);
      }
    }
    return found;
  };
  std::vector<std::string> parts;
  for (const QualityFinding finding :
       {QualityFinding::worse, QualityFinding::better, QualityFinding::inconclusive, QualityFinding::equivalent}) {
    const auto of_it = those([&](const Figure& figure) { return figure.finding == finding; });
    if (!of_it.empty()) {
      parts.push_back(fmt::format("{} {}{}", of_it.size(), benchmark_word(finding),
                                  finding == QualityFinding::equivalent ? "" : " (" + named(of_it) + ")"));
    }
  }
  const auto left_out = those([](const Figure& figure) { return is_left_out(figure); });
  if (!left_out.empty()) {
    parts.push_back(fmt::format("{} left out: {}", left_out.size(), named(left_out)));
  }
  return join(parts, "; ");
}

void conclude_suite(ProgramComparison& comparison, const SuiteRule& rule, const SuiteState& state,
                    const std::vector<std::vector<double>>& effects, const std::vector<Round>& rounds) {
  const std::vector<std::string> names = benchmarks_of(rounds);
  std::vector<Figure> figures = comparison.figures;
  std::erase_if(figures, [](const Figure& figure) { return figure.count > 0 && !figure.finding; });
  for (Figure& figure : figures) {
    if (const auto at = std::ranges::find(names, figure.metric); at != names.end()) {
      fill(figure, rule, state, static_cast<std::size_t>(at - names.begin()), effects, rounds);
    }
  }
  const bool times =
      std::ranges::all_of(figures, [](const Figure& figure) { return is_left_out(figure) || figure.unit == "s"; });
  Figure mean = figure_of(fmt::format("geometric mean of {} benchmarks", names.size()), times ? "s" : "",
                          geometric_mean_of(rule, effects));
  Judgement& judgement = *comparison.judgement;
  judgement.rounds = mean.count > 0 ? static_cast<int>(rounds.size()) : 0;
  judgement.sentence = suite_sentence(figures);
  if (mean.count > 0) {
    judgement.effect = std::log(mean.change);
    judgement.lower = std::log(mean.lower);
    judgement.upper = std::log(mean.upper);
    mean.value_a = median_of(rounds, false);
    mean.value_b = median_of(rounds, true);
    judgement.sentence += "; geometric mean " + percent_of(mean);
    figures.insert(figures.begin(), mean);
  }
  comparison.figures = std::move(figures);
}

struct NoisyBenchmark {
  std::string name;
  double sd = 0;
  double value = 0;
  bool is_first = false;  // in its process
};

std::vector<NoisyBenchmark> noisy_benchmarks(const ProgramComparison& same) {
  const std::vector<Round> rounds = counted(same, RoundStage::gate);
  const std::vector<std::string> names = benchmarks_of(rounds);
  const std::vector<std::vector<double>> effects = suite_effects(rounds);
  std::vector<NoisyBenchmark> all;
  for (std::size_t b = 0; b < names.size(); ++b) {
    all.push_back({names[b], spread_of(effects[b]), median_of(rounds, names[b], false), b == 0});
  }
  return all;
}

}  // namespace

CommonBenchmarks common_benchmarks(const FirstRun& a, const FirstRun& b, bool higher_is_better) {
  CommonBenchmarks common;
  const auto add = [&](const Reading* of_a, const Reading* of_b) {
    const Reading& one = of_a != nullptr ? *of_a : *of_b;
    Figure figure{.view = ComparisonView::rounds,
                  .metric = one.name,
                  .unit = why_left_out(of_a, of_b, higher_is_better),
                  .value_a = of_a != nullptr ? of_a->value : 0,
                  .value_b = of_b != nullptr ? of_b->value : 0,
                  .change = std::numeric_limits<double>::quiet_NaN(),
                  .lower = std::numeric_limits<double>::quiet_NaN(),
                  .upper = std::numeric_limits<double>::quiet_NaN()};
    if (figure.unit.empty()) {
      figure.unit = one.unit;
      figure.margin = std::numeric_limits<double>::infinity();
      figure.finding = QualityFinding::inconclusive;
      common.wanted.names.push_back(one.name);
    } else if (of_a != nullptr && of_b != nullptr && of_a->problem.empty() && !of_b->problem.empty()) {
      common.of_b = Failure{.outcome = Outcome::no_metric, .evidence = of_b->problem, .slot = 1};
    }
    common.figures.push_back(std::move(figure));
  };
  const auto named_in = [](const FirstRun& trial, const std::string& name) {
    const auto found = std::ranges::find(trial.readings, name, &Reading::name);
    return found == trial.readings.end() ? nullptr : &*found;
  };
  for (const Reading& one : a.readings) {
    add(&one, named_in(b, one.name));
  }
  for (const Reading& one : b.readings) {
    if (named_in(a, one.name) == nullptr) {
      add(nullptr, &one);
    }
  }
  common.wanted.select = common.wanted.names.size() < common.figures.size();
  if (common.wanted.names.empty() && !common.of_b) {
    throw UserError("the two commands have no benchmark that can be compared: " + suite_sentence(common.figures),
                    "benchmarks are paired by name; --higher-is-better is for rates");
  }
  return common;
}

std::vector<Round> counted(const ProgramComparison& comparison, RoundStage stage) {
  std::vector<Round> rounds;
  std::ranges::copy_if(comparison.rounds, std::back_inserter(rounds),
                       [&](const Round& round) { return round.stage == stage && round.void_why.empty(); });
  return rounds;
}

void note_metric(ProgramComparison& comparison, const std::vector<Round>& rounds) {
  const Judgement& judgement = *comparison.judgement;
  comparison.figures.clear();
  if (judgement.rounds > 0 && !rounds.empty()) {
    const bool one_sided = comparison.purpose == ComparisonPurpose::gate;
    comparison.figures = {{.view = ComparisonView::rounds,
                           .metric = comparison.commands.metric,
                           .unit = parse_metric(comparison.commands.metric).is_time() ? "s" : "",
                           .value_a = median_of(rounds, false),
                           .value_b = median_of(rounds, true),
                           .change = judgement.speedup(),
                           .lower = judgement.speedup_lower(),
                           .upper = judgement.speedup_upper(),
                           .confidence = one_sided ? 0 : judgement.confidence,
                           .count = judgement.rounds}};
  }
}

SuiteRule rule_of(const ProgramComparison& comparison, const JudgePreset& preset) {
  return suite_rule(comparison.margin, preset.looks, comparison.alpha);
}

WantedBenchmarks still_wanted(const SuiteRule& rule, const std::vector<Round>& rounds, const WantedBenchmarks& wanted) {
  const SuiteState state = suite_state(rule, suite_effects(rounds));
  const std::vector<std::string> all = benchmarks_of(rounds);
  WantedBenchmarks still{.names = {}, .select = true};
  for (const std::string& name : wanted.names) {
    const auto at = static_cast<std::size_t>(std::ranges::find(all, name) - all.begin());
    if (at < all.size() && state.benchmarks[at].finding == QualityFinding::inconclusive) {
      still.names.push_back(name);
    }
  }
  return still.names.empty() || still.names.size() == wanted.names.size() ? wanted : still;
}

void conclude_gate(ProgramComparison& comparison, const JudgePreset& preset, const std::string& worse,
                   const std::string& why_given_up) {
  const SuiteRule rule = rule_of(comparison, preset);
  const std::vector<Round> rounds = counted(comparison, RoundStage::gate);
  const std::vector<std::vector<double>> effects = suite_effects(rounds);
  const SuiteState state = suite_state(rule, effects);
  const GateState gate = as_gate_state(rule, state);
  comparison.judgement =
      regression_judgement(gate, {.margin = rule.margin, .looks = rule.looks}, preset, comparison.rounds);
  comparison.judgement->alpha = comparison.alpha;
  GateAnswer answer = gate.answer;
  if (is_suite(comparison)) {
    conclude_suite(comparison, rule, state, effects, rounds);
    const bool any_resolved = std::ranges::any_of(comparison.figures, [](const Figure& figure) {
      return figure.finding && *figure.finding != QualityFinding::inconclusive;
    });
    answer = answer == GateAnswer::passed && !any_resolved ? GateAnswer::undecided : answer;
    comparison.judgement->sentence += why_given_up.empty() ? "" : "; " + why_given_up;
  } else {
    note_metric(comparison, rounds);
    comparison.judgement->sentence =
        why_given_up.empty() ? regression_sentence(gate, rule.margin, worse, rounds.size()) : why_given_up;
  }
  comparison.gate = verdict_of(answer);
}

std::map<std::string, double> noise_of(const ProgramComparison& same) {
  std::map<std::string, double> noise;
  for (const NoisyBenchmark& one : noisy_benchmarks(same)) {
    noise[one.name] = one.sd;
  }
  return noise;
}

std::string noise_text(const ProgramComparison& same) {
  constexpr double kTimesTheUsual = 3;
  constexpr double kLeast = 0.005;
  const std::vector<NoisyBenchmark> all = noisy_benchmarks(same);
  if (all.size() < 2) {
    return "";
  }
  std::vector<double> spreads;
  std::vector<double> values;
  for (const NoisyBenchmark& one : all) {
    spreads.push_back(one.sd);
    values.push_back(one.value);
  }
  std::ranges::sort(values);
  const double usual = median(spreads);
  std::vector<std::string> restless;
  std::set<std::string> groups;
  std::size_t in_shortest_quarter = 0;
  std::string first;
  for (const NoisyBenchmark& one : all) {
    if (one.sd > std::max(kLeast, kTimesTheUsual * usual)) {
      restless.push_back(fmt::format("{} ({:.1f} %)", one.name, 100 * one.sd));
      groups.insert(one.name.substr(0, one.name.find_first_of("/:[")));
      in_shortest_quarter += one.value <= values[values.size() / 4] ? 1U : 0U;
      first = one.is_first ? "; the first one in the process is among them" : first;
    }
  }
  std::string text = fmt::format("noise: a round of the usual benchmark spreads by {:.2f} %; ", 100 * usual);
  if (restless.empty()) {
    return text + "none is restless";
  }
  text += fmt::format("{} restless: {}", restless.size(), join(restless, ", "));
  text += in_shortest_quarter > 0 ? fmt::format("; {} of them are in the shortest quarter", in_shortest_quarter) : "";
  text += groups.size() == 1 && restless.size() > 1 ? "; all are of " + *groups.begin() : "";
  return text + first;
}

}  // namespace apo
