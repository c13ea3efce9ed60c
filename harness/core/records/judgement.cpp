// harness/core/records/judgement.cpp - the best of several runs, and the mean of many benchmarks.
#include "harness/core/records/judgement.h"

namespace apo {

bool is_candidate_run(bool candidate_first, std::size_t index) {
  const bool outer = index % 4 == 0 || index % 4 == 3;
  return outer == candidate_first;
}

namespace {

template <class ValueOf>
double best_of(const CommandRuns& runs, bool of_candidate, const ValueOf& value_of) {
  double best = 0;
  for (const CommandRun& run : runs.runs) {
    const double value = value_of(run);
    const bool better = runs.higher_is_better ? value > best : value < best;
    best = run.candidate == of_candidate && (best == 0 || better) ? value : best;
  }
  return best;
}

}  // namespace

double geometric_mean(const std::vector<NamedValue>& values) {
  double sum = 0;
  for (const NamedValue& one : values) {
    sum += std::log(one.value);
  }
  return std::exp(sum / static_cast<double>(values.size()));
}

double CommandRuns::best(bool of_candidate) const {
  return best_of(*this, of_candidate, [](const CommandRun& run) { return run.value; });
}

double CommandRuns::best(bool of_candidate, std::size_t benchmark) const {
  return best_of(*this, of_candidate, [&](const CommandRun& run) { return run.values.at(benchmark).value; });
}

}  // namespace apo
