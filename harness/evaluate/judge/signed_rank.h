// harness/evaluate/judge/signed_rank.h - the exact Wilcoxon signed-rank distribution and the Hodges-Lehmann interval
// from it.
#pragma once

#include <span>
#include <vector>

namespace apo {

inline constexpr int kMaxSignedRank = 1000;  // the table of n has n(n+1)/2 entries

// Returns P(W+ >= w) for n untied effects of symmetric sign (Wilcoxon 1945), by the exact recursion; n in [1,
// kMaxSignedRank].
double signed_rank_tail(int n, int w);
// Returns the smallest w with P(W+ >= w) <= alpha; n(n+1)/2 + 1 where no w is that rare.
int signed_rank_critical(int n, double alpha);

// The n(n+1)/2 averages of all pairs (each effect with itself as well). Their order statistics are the exact
// confidence bounds of the centre of symmetry, their median is its estimate (Hodges & Lehmann 1963).
class WalshAverages {
 public:
  // Takes 1 to kMaxSignedRank finite effects; throws UserError otherwise.
  explicit WalshAverages(std::span<const double> effects);

  double hodges_lehmann() const;
  // Returns one-sided bounds at level alpha; -infinity and +infinity where so few effects cannot give that level.
  double lower(double alpha) const;
  double upper(double alpha) const;
  // Returns the two-sided p of "the centre is 0". Ties and zeros make it larger, never smaller.
  double two_sided_p() const;

 private:
  int n_ = 0;
  std::vector<double> sorted_;
};

double standard_deviation(std::span<const double> values);  // n - 1; 0 below two values; the order does not matter
double median(std::vector<double> values);                  // at least one value
double mean(std::span<const double> values);                // at least one value

}  // namespace apo
