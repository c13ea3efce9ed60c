// harness/loop/research/recorded_campaigns.h - reads the campaigns of recorded journals as research would have seen
// them.
#pragma once

#include <filesystem>
#include <vector>

#include "harness/loop/workspace/workspace.h"
#include "harness/research/foresight.h"

namespace apo {

// Every campaign of the journals that timed a candidate. Its past is what the other journals hold, and what the
// campaign itself had judged before: the rest of its own journal is left out, and copies of its experiments in others
// are too. The hand-kept journals are known to all. Variants are as the journal has them where it judged them, else as
// the catalogue has them. Throws UserError where a journal cannot be read.
std::vector<RecordedCampaign> recorded_campaigns(const Workspace& workspace,
                                                 const std::vector<std::filesystem::path>& journals,
                                                 const std::vector<HandKeptJournal>& hand_kept);

}  // namespace apo
