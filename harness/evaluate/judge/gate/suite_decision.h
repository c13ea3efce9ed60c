// harness/evaluate/judge/gate/suite_decision.h - the regression test of many benchmarks at once, with one error budget.
//
// Why a suite is red with probability `alpha` at most where no benchmark became slower by more than the margin,
// whatever their number and however they depend on each other:
// 1. A coin decides which side runs first in a round. Where nothing changed, that makes the sign of each round's effect
//    a fair coin, whatever drifts between rounds, so the signed-rank test of a benchmark at a look is exact: its p is
//    below any level with a probability of that level at most. (With a margin, effects have to be symmetric about it.)
// 2. Look k tests all benchmarks by Holm's step-down (1979) at its level a_k; those rejected earlier count as rejected.
//    Consider the first rejection that is wrong. All rejected before it are right, so no fewer hypotheses remain than
//    there are true ones, m0, and the p of one of these is at most a_k / m0. That happens with a probability of a_k at
//    most (Bonferroni over the m0 true ones).
// 3. The looks' levels add up to alpha. A wrong rejection has a first one, at some look: by the union bound alpha.
// A benchmark that is decided is not run again and not tested any more, which can only leave rejections out. Its
// absence from later runs must not change the spread of the others; a program that can't select benchmarks meets that
// trivially.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/core/comparisons/comparison.h"
#include "harness/evaluate/judge/gate/gate_decision.h"

namespace apo {

// Fixed before the first round. Effects are natural logs of time(A) / time(B): below 0 is slower.
struct SuiteRule {
  double margin = 0;        // log effect that is tolerated; 0: none is
  std::vector<Look> looks;  // each with its one-sided level, for the whole suite

  double alpha() const { return GateRule{.looks = looks}.alpha(); }
};

// The looks with levels that add up to alpha.
SuiteRule suite_rule(double margin, std::vector<Look> looks, double alpha);

struct BenchmarkState {
  // Worse: slower by more than the margin. Better: faster at all, with an error budget of its own. Equivalent: slower
  // by no more than the margin; without a margin neither slower nor faster by 0.5 %.
  QualityFinding finding = QualityFinding::inconclusive;
  int rounds = 0;     // of the look that decided it, else of its last look
  double effect = 0;  // Hodges-Lehmann
  double lower = 0;   // both at `level`: what is worse or better by them is so in the suite
  double upper = 0;
  double level = 0;  // one-sided, after Holm's correction
};

struct SuiteState {
  std::vector<BenchmarkState> benchmarks;
  bool finished = false;
  int rounds_wanted = 0;  // until the next look; 0 when finished
};

// `effects[b]` holds the effects of benchmark b, one a round from the first on, until it was decided or longer. A pure
// function of them: the finding of an earlier look stands whatever came later.
SuiteState suite_state(const SuiteRule& rule, const std::vector<std::vector<double>>& effects);

// What the suite's findings come to. Regressed: one is worse. Without a margin nothing was asked to be resolved: it
// passes unless no benchmark was looked at. With one, every benchmark has to be shown not to be worse.
GateAnswer gate_answer(const SuiteRule& rule, const SuiteState& state);

// Returns the log effect that this many rounds with a normal noise of this standard deviation show at a one-sided level
// in 95 of 100 cases; infinite where so few rounds can't show anything.
double detectable_effect(int rounds, double level, double sd);

// The mean effect over all benchmarks, at the last look before one of them was left out. Its bounds are at that look's
// level, so they hold whichever look it is. No look yet: all zeros.
BenchmarkState geometric_mean_of(const SuiteRule& rule, const std::vector<std::vector<double>>& effects);

}  // namespace apo
