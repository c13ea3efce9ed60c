// harness/loop/untried.h - what a campaign did not judge, and why: nothing registered goes without a word.
#pragma once

#include <string>
#include <vector>

#include "harness/loop/iteration.h"

namespace apo {

struct UntriedGroup {
  std::string why;
  std::vector<std::string> variants;  // by id
};

// Every variant of the family that was not judged and is neither incumbent nor baseline, each in one group, as the last
// iteration saw it. Files that are no variants come last, by path.
std::vector<UntriedGroup> untried(const CampaignFrame& frame, const CampaignProgress& state,
                                  const std::vector<IterationSummary>& iterations);

}  // namespace apo
