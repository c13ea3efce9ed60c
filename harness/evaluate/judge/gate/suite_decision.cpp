// harness/evaluate/judge/gate/suite_decision.cpp - Holm's step-down over signed-rank bounds at each of a few looks.
#include "harness/evaluate/judge/gate/suite_decision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "harness/core/error.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "kernels/random.h"

namespace apo {
namespace {

// Smaller changes are not worth more rounds; the place of code alone makes them.
constexpr double kNegligible = 0.005;

// The benchmarks that one look tests, with their averages; those decided before have none.
using Averages = std::vector<std::optional<WalshAverages>>;

Averages averages_at(const Look& look, const std::vector<std::vector<double>>& effects, const SuiteState& state) {
  Averages all(effects.size());
  for (std::size_t b = 0; b < effects.size(); ++b) {
    if (state.benchmarks[b].finding == QualityFinding::inconclusive) {
      APO_CHECK(effects[b].size() >= static_cast<std::size_t>(look.rounds));
      all[b].emplace(std::span(effects[b]).first(static_cast<std::size_t>(look.rounds)));
    }
  }
  return all;
}

// Rejects by Holm's step-down until nothing more is rejected, and returns the level that is left for the others: a
// benchmark is rejected at level / number of those that are not, by its bound on the side of the finding.
template <class IsRejected>
double step_down(const Look& look, const Averages& averages, QualityFinding finding, const IsRejected& is_rejected,
                 SuiteState& state) {
  for (;;) {
    const auto rejected = std::ranges::count(state.benchmarks, finding, &BenchmarkState::finding);
    const auto remaining = std::max(std::ssize(state.benchmarks) - rejected, std::ptrdiff_t{1});
    const double level = look.alpha / static_cast<double>(remaining);
    bool any = false;
    for (std::size_t b = 0; b < averages.size(); ++b) {
      BenchmarkState& benchmark = state.benchmarks[b];
      if (averages[b] && benchmark.finding == QualityFinding::inconclusive && is_rejected(*averages[b], level)) {
        benchmark.finding = finding;
        benchmark.level = level;
        any = true;
      }
    }
    if (!any) {
      return level;
    }
  }
}

void look_at(const SuiteRule& rule, const Look& look, const std::vector<std::vector<double>>& effects,
             SuiteState& state) {
  const Averages averages = averages_at(look, effects, state);
  const double level = step_down(
      look, averages, QualityFinding::worse,
      [&](const WalshAverages& one, double at) { return one.upper(at) < -rule.margin; }, state);
  step_down(
      look, averages, QualityFinding::better, [](const WalshAverages& one, double at) { return one.lower(at) > 0; },
      state);
  for (std::size_t b = 0; b < averages.size(); ++b) {
    if (!averages[b]) {
      continue;
    }
    BenchmarkState& benchmark = state.benchmarks[b];
    if (benchmark.finding == QualityFinding::inconclusive) {
      benchmark.level = level;
      // Every benchmark has to pass, so passing needs no correction for their number. Without a margin one that may be
      // faster by more than is negligible is run on, to be named.
      const bool passes = rule.margin > 0 ? averages[b]->lower(look.alpha) > -rule.margin
                                          : averages[b]->lower(look.alpha) > -kNegligible &&
                                                averages[b]->upper(look.alpha) < kNegligible;
      benchmark.finding = passes ? QualityFinding::equivalent : benchmark.finding;
    }
    benchmark.rounds = look.rounds;
    benchmark.effect = averages[b]->hodges_lehmann();
    benchmark.lower = averages[b]->lower(benchmark.level);
    benchmark.upper = averages[b]->upper(benchmark.level);
  }
}

// The effect that shows in 95 of 100 cases, in standard deviations: a shift shows exactly when it is larger than the
// upper bound of the noise alone, so it is a quantile of that bound.
double detectable_in_sd(int rounds, double level) {
  constexpr int kDraws = 400;
  constexpr int kShown = 380;
  static std::mutex guard;
  static std::map<std::pair<int, double>, double> known;
  const std::scoped_lock lock(guard);
  const auto [place, is_new] = known.emplace(std::pair(rounds, level), std::numeric_limits<double>::infinity());
  if (is_new && signed_rank_critical(rounds, level) <= rounds * (rounds + 1) / 2) {
    Random random(derive_seed(static_cast<std::uint64_t>(rounds), "power"));
    std::vector<double> bounds;
    for (int draw = 0; draw < kDraws; ++draw) {
      std::vector<double> noise(static_cast<std::size_t>(rounds));
      std::ranges::generate(noise, [&] { return random.normal(); });
      bounds.push_back(WalshAverages(noise).upper(level));
    }
    std::ranges::sort(bounds);
    place->second = bounds[kShown];
  }
  return place->second;
}

}  // namespace

SuiteRule suite_rule(double margin, std::vector<Look> looks, double alpha) {
  const double given = GateRule{.looks = looks}.alpha();
  for (Look& look : looks) {
    look.alpha *= alpha / given;
  }
  return {.margin = margin, .looks = std::move(looks)};
}

SuiteState suite_state(const SuiteRule& rule, const std::vector<std::vector<double>>& effects) {
  APO_CHECK(!effects.empty() && !rule.looks.empty());
  SuiteState state{.benchmarks = std::vector<BenchmarkState>(effects.size())};
  const auto rounds = static_cast<int>(std::ranges::max(effects, {}, &std::vector<double>::size).size());
  for (const Look& look : rule.looks) {
    state.finished = std::ranges::count(state.benchmarks, QualityFinding::inconclusive, &BenchmarkState::finding) == 0;
    if (state.finished || look.rounds > rounds) {
      state.rounds_wanted = state.finished ? 0 : look.rounds - rounds;
      return state;
    }
    look_at(rule, look, effects, state);
  }
  state.finished = true;
  return state;
}

GateAnswer gate_answer(const SuiteRule& rule, const SuiteState& state) {
  const auto any = [&](QualityFinding finding) {
    return std::ranges::find(state.benchmarks, finding, &BenchmarkState::finding) != state.benchmarks.end();
  };
  if (any(QualityFinding::worse)) {
    return GateAnswer::regressed;
  }
  const bool looked = state.benchmarks.front().rounds > 0;
  return looked && (rule.margin == 0 || !any(QualityFinding::inconclusive)) ? GateAnswer::passed
                                                                            : GateAnswer::undecided;
}

double detectable_effect(int rounds, double level, double sd) {
  const double in_sd = rounds < 1 ? std::numeric_limits<double>::infinity() : detectable_in_sd(rounds, level);
  return sd == 0 && std::isfinite(in_sd) ? 0 : in_sd * sd;
}

BenchmarkState geometric_mean_of(const SuiteRule& rule, const std::vector<std::vector<double>>& effects) {
  std::vector<double> means;
  const std::size_t rounds = std::ranges::min(effects, {}, &std::vector<double>::size).size();
  for (std::size_t round = 0; round < rounds; ++round) {
    double sum = 0;
    for (const std::vector<double>& one : effects) {
      sum += one[round];
    }
    means.push_back(sum / static_cast<double>(effects.size()));
  }
  BenchmarkState mean;
  for (const Look& look : rule.looks) {
    if (static_cast<std::size_t>(look.rounds) <= rounds) {
      const WalshAverages averages(std::span<const double>(means).first(static_cast<std::size_t>(look.rounds)));
      mean = {.rounds = look.rounds,
              .effect = averages.hodges_lehmann(),
              .lower = averages.lower(look.alpha),
              .upper = averages.upper(look.alpha),
              .level = look.alpha};
    }
  }
  return mean;
}

}  // namespace apo
