// harness/core/records/judgement.cpp - the best of several runs.
#include "harness/core/records/judgement.h"

namespace apo {

bool is_candidate_run(bool candidate_first, std::size_t index) {
  const bool outer = index % 4 == 0 || index % 4 == 3;
  return outer == candidate_first;
}

double CommandRuns::best(bool of_candidate) const {
  double best = 0;
  for (const CommandRun& run : runs) {
    const bool better = higher_is_better ? run.value > best : run.value < best;
    best = run.candidate == of_candidate && (best == 0 || better) ? run.value : best;
  }
  return best;
}

}  // namespace apo
