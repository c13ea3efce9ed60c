// harness/evaluate/judge/equivalence.h - decides whether paired differences lie within a margin, by two one-sided
// tests.
#pragma once

#include <span>

namespace apo {

// Of each of the two tests (Schuirmann 1987, Lakens 2017); the interval is that of level 1 - 2 alpha. Five differences
// are the fewest whose signed ranks can reach it.
inline constexpr double kEquivalenceAlpha = 0.05;

struct Equivalence {
  double center = 0;  // Hodges and Lehmann's
  double lower = 0;
  double upper = 0;
  bool inside = false;  // both tests: the interval lies within the margin on both sides
  bool above = false;   // it lies beyond the margin, on one side
  bool below = false;
  int needed = 0;  // differences like these, until one of the three would hold; 0 where one does, or nobody knows
};

// `margin` > 0. One difference or more, all of them finite.
Equivalence test_equivalence(std::span<const double> differences, double margin);

}  // namespace apo
