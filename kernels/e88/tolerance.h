// kernels/e88/tolerance.h - how far an E88 output may be from the fp64 reference; derived in tolerance.cpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/e88/sequence.h"
#include "kernels/e88/shape.h"
#include "kernels/parallel.h"

namespace apo::e88 {

// How many perturbed runs the noise is estimated from.
constexpr std::uint32_t kRealisations = 8;

// Returns run(Perturbed{i}) for every realisation i.
template <class Run>
auto perturbed_runs(int threads, const Run& run) {
  std::vector<decltype(run(Perturbed{}))> results(kRealisations);
  for_each_index(kRealisations, threads,
                 [&](std::size_t i) { results[i] = run(Perturbed{static_cast<std::uint32_t>(i)}); });
  return results;
}

// Gathers the RMS difference of a unit's perturbed runs from the reference, for one tensor.
class Spread {
 public:
  Spread(const Shape& shape, const TensorMap& expected, std::string_view tensor, std::int64_t unit);
  void add(std::vector<float> run) { runs_.push_back(std::move(run)); }
  void store(TensorMap& sigma) const;

 private:
  double squared_error(const std::vector<float>& run, std::size_t i) const;
  double togetherness(const std::vector<double>& squares) const;

  const Shape& shape_;
  std::string_view tensor_;
  std::int64_t unit_;
  std::vector<double> expected_;
  std::vector<std::vector<float>> runs_;
};

void store_all(const std::vector<const Spread*>& spreads, TensorMap& sigma, int threads);

Tolerance tolerance(std::string_view tensor, const Axes& axes);

}  // namespace apo::e88
