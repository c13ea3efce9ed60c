// harness/research/baseline.h - the score of a researcher who knows nothing of the candidates.
#pragma once

#include <vector>

#include "harness/research/foresight.h"

namespace apo {

// A random order, and one band for every candidate: from the tenth to the ninetieth percentile of the effects in the
// other journals, with their median as the estimate. Candidates before a campaign's first accept have one band, later
// ones another: that much a stranger sees. Journals are left out as in score_foresight().
struct Baseline {
  double until_final = 0;          // experiments to expect until the variant that the campaign ended with, on average
  double seconds_until_final = 0;  // to expect
  BandScore bands;
  BandScore later_bands;
  double later_error = 0;  // mean distance of a later effect from the estimate
  int later = 0;
};

// `known` are campaigns of further journals.
Baseline score_baseline(const std::vector<RecordedCampaign>& campaigns, const std::vector<RecordedCampaign>& known);

}  // namespace apo
