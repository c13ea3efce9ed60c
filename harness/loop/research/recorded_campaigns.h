// harness/loop/research/recorded_campaigns.h - reads the campaigns of recorded journals as research would have seen
// them.
#pragma once

#include <filesystem>
#include <vector>

#include "harness/loop/workspace/workspace.h"
#include "harness/research/foresight.h"

namespace apo {

// What every campaign knows beside the other journals.
struct KnownBefore {
  std::vector<std::filesystem::path> journals = {};
  std::vector<HandKeptJournal> hand_kept = {};
};

struct RecordedCampaigns {
  std::vector<RecordedCampaign> scored;  // of the journals
  std::vector<RecordedCampaign> known;   // of the journals that are known before, and of no other
};

// Every campaign that timed a candidate; of one that several journals hold, as copies of a journal do, the first. Its
// past is what the other journals and those of `known` hold, and what the campaign itself had judged before: the rest
// of its own journal is left out, and copies of its experiments in others are too. Variants are as the journal has them
// where it judged them, else as the catalogue has them. Throws UserError where a journal cannot be read.
RecordedCampaigns recorded_campaigns(const Workspace& workspace, std::vector<std::filesystem::path> journals,
                                     KnownBefore known);

}  // namespace apo
