// kernels/e88/tolerance.cpp - how far an E88 output may be from the fp64 reference.
//
// The yardstick. The contract allows fp32 arithmetic in any order, a tanh of relative error 2^-11 (tanh.approx.f32),
// and in the backward a cache of S_{t-1} and k^ in bf16 and y either read from y_cache or recomputed. sigma_i is the
// RMS, over 8 runs, of the error of an implementation that uses all of these at once, each with its full size and a
// random sign (struct Perturbed). It follows the conditioning of the inputs at hand by itself: time steps, heads and
// elements where errors grow are given more room, the others are not. Checkpoints and y_cache are rounded before the
// kernel sees them, so their error is common to all runs and is in sigma as it is.
//
// output_rounding. bf16 keeps 8 significant bits: rounding to nearest is off by at most u = 2^-8 of the value,
// uniformly within the ulp, so by u/sqrt(3) RMS at most.
//
// element_sigmas. sigma is itself an estimate: 8 runs of the elements of a row, which move together in part. With 4
// independent elements an error over sigma has a t distribution with 32 degrees of freedom, P(|t| > 12) = 2e-13. A
// check compares about 10^7 elements, so 12 fails a legal implementation once in 500,000 checks at worst. Measured
// over 1.5 10^7 elements of seven legal implementations in all regimes: at most 6.8 where N = V = 4 (t gives one in
// 10^7 there), 4.0 where N = V = 64.
//
// rms_factor, rms_spread. sigma takes every allowance at its full size, so the rms statistic of a legal implementation
// is about 0.4 to 1 and spreads by 1/sqrt(2n) over n elements. 1.5 + 2/sqrt(n) is 0.7 sqrt(n) + 2.8 of these above 1
// (measured: at most 0.8 of the limit), and above sqrt(6), the bound for a single element with two roundings. What
// fails: bf16 sums from N = 8 on (1.04 times the limit there, 4 times at N = 32), missing or displaced terms by 5 to
// 1000 times. A forward state kept in bf16 is below or at the limit (0.4 to 1.5 of it); in the backward a bf16 copy of
// the state is legal.
//
// Errors with a common cause. One rounded key or one unsaturated step can be most of the error of a whole unit, and 8
// runs then say little: the runs' own rms statistic spreads, where it is 1 for independent errors. sigma is multiplied
// by the largest of the 8, which is at most sqrt(8). In 5,040 checks of legal implementations on `extreme` inputs at N
// = 64, V = 96, T = 19, nine were refused without it and three with it, all of them of a tanh that is off by its whole
// allowance in step with its argument.
//
// A group is a row (one time step of one head), or 16 elements where rows are shorter: magnitudes change from step to
// step, so that a group of several steps would hide a wrong one among larger ones.
#include "kernels/e88/tolerance.h"

#include <algorithm>
#include <cmath>

namespace apo::e88 {

Spread::Spread(const Shape& shape, const TensorMap& expected, std::string_view tensor, std::int64_t unit)
    : shape_(shape), tensor_(tensor), unit_(unit), expected_(gather<double>(shape, expected, tensor, unit)) {}

double Spread::squared_error(const std::vector<float>& run, std::size_t i) const {
  const double difference = static_cast<double>(run[i]) - expected_[i];
  return difference * difference;
}

// The largest rms statistic of the runs themselves. 1 where the errors of the elements are independent; where they have
// a common cause, or a few rare ones, up to the root of the number of runs.
double Spread::togetherness(const std::vector<double>& squares) const {
  double most = 1;
  for (const std::vector<float>& run : runs_) {
    double sum = 0;
    for (std::size_t i = 0; i < run.size(); ++i) {
      sum += squares[i] > 0 ? squared_error(run, i) * kRealisations / squares[i] : 0;
    }
    most = std::max(most, std::sqrt(sum / static_cast<double>(run.size())));
  }
  return most;
}

void Spread::store(TensorMap& sigma) const {
  std::vector<double> squares(expected_.size());
  for (const std::vector<float>& run : runs_) {
    for (std::size_t i = 0; i < squares.size(); ++i) {
      squares[i] += squared_error(run, i);
    }
  }
  const double scale = togetherness(squares);
  scatter(shape_, tensor_, unit_, squares, sigma, [&](double sum) { return scale * std::sqrt(sum / kRealisations); });
}

void store_all(const std::vector<const Spread*>& spreads, TensorMap& sigma, int threads) {
  for_each_index(spreads.size(), threads, [&](std::size_t i) { spreads[i]->store(sigma); });
}

Tolerance tolerance(std::string_view tensor, const Axes& axes) {
  const Layout layout = layout_of(shape_of(axes), tensor, 0);
  const std::int64_t row = layout.rows == 1 || tensor == "checkpoints" ? axes.at("V") : layout.width;
  return {.output_rounding = 0x1p-8,
          .element_sigmas = 12,
          .rms_factor = 1.5,
          .rms_spread = 2,
          .group = std::max<std::int64_t>(row, 16)};
}

}  // namespace apo::e88
