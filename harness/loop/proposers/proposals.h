// harness/loop/proposers/proposals.h - makes candidates of what proposers answered.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/loop/proposers/ask_proposers.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/research/inputs.h"

namespace apo {

class Journal;

// The campaign that answers are checked against.
struct ProposalPlace {
  Workspace& workspace;
  Journal& journal;
  const Family& family;
  const Configuration& incumbent;
};

// Adds each source to the workspace's catalogue, as a file of .apo/proposals/FAMILY that waits to be judged, with what
// the author said of it as its metadata block; `settings` gets proposed settings of known variants. The program that
// a call's command begins with is the author of what names none. Each call gets a proposal for each candidate of its
// answer, in order; what became of those that were not taken begins with their line and the name that they have there.
void take_proposals(const ProposalPlace& place, std::vector<AnsweredCall>& answered,
                    std::vector<ProposedSettings>& settings);

// Adds the files that an interrupted campaign left waiting, and says which of them it cannot add.
void take_waiting_proposals(Workspace& workspace, const Family& family, Observer& observer);

// Whether its file waits to be judged.
bool is_waiting_proposal(const Workspace& workspace, const Variant& variant);
// After its experiment: a proposed variant that passed the gates is registered, another one is in the journal alone.
void settle_proposal(Workspace& workspace, const Experiment& experiment);

// The text as it is judged: what was said beside it becomes its metadata block, `// apo:KEY VALUE`, and lines that do
// not hold for it are dropped: its name, and what was copied from the incumbent. Throws UserError for what is no text,
// and for one that names another family than the incumbent's.
std::string with_metadata(const ProposedCandidate& candidate, const std::string& source, bool python,
                          const Variant& incumbent);

}  // namespace apo
