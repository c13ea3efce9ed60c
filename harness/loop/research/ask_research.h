// harness/loop/research/ask_research.h - asks research outside of a campaign.
#pragma once

#include "harness/core/observer.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/research/research.h"

namespace apo {

struct ResearchAnswer {
  ResearchInputs inputs;
  ResearchBrief brief;
};

// Returns the research of the next iteration of this campaign, from its starting point. The policy's target is the
// workspace's. Takes the incumbent's profile from the journal, or measures and keeps one; nothing else is written.
ResearchAnswer ask_research(Workspace& workspace, const Policy& policy, Observer& observer);

// The same on the machine of the journal, which need not be here, and with the profile that was taken there.
ResearchAnswer ask_recorded_research(Workspace& workspace, const Policy& policy, Observer& observer);

}  // namespace apo
