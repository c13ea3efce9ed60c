// harness/loop/proposers/propose.h - the step of an iteration in which somebody outside proposes candidates.
#pragma once

#include <cstdint>

#include "harness/loop/campaign_progress.h"
#include "harness/research/research.h"

namespace apo {

// Writes the brief, asks the campaign's proposers and keeps what became of their answers in the journal. Returns how
// many candidates there are now that research has not seen.
int propose(const CampaignFrame& frame, CampaignProgress& state, std::int64_t iteration, const ResearchInputs& inputs,
            const ResearchBrief& brief);

}  // namespace apo
