// harness/evaluate/judge/rates.h - exact confidence bounds of a rate.
#pragma once

namespace apo {

struct RateBounds {
  double lower = 0;
  double upper = 1;
};

// The rates that so many hits in so many trials do not refute (Clopper & Pearson 1934); 0 <= hits <= trials, at least
// one trial. Two-sided at `confidence`, each side taking half of what is left.
RateBounds rate_bounds(int hits, int trials, double confidence);
// One-sided: no rate above it would give so few hits more often than in 1 - confidence of all cases.
double rate_upper_bound(int hits, int trials, double confidence);

}  // namespace apo
