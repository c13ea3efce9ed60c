// harness/evaluate/judge/rates.h - exact confidence bounds of a rate.
#pragma once

namespace apo {

struct RateBounds {
  double lower = 0;
  double upper = 1;
};

// Bounds of the rate that this many hits in this many trials do not refute (Clopper & Pearson 1934); 0 <= hits <=
// trials, at least one trial. Two-sided at `confidence`, half of the rest on each side.
RateBounds rate_bounds(int hits, int trials, double confidence);
// One-sided bound: a larger rate would give so few hits in less than 1 - confidence of all cases.
double rate_upper_bound(int hits, int trials, double confidence);

}  // namespace apo
