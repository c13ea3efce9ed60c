// journal/facts/research/proposals.h - writes and reads what proposers answered.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/core/records/machine.h"
#include "harness/core/records/research.h"

namespace apo {

class Journal;

void add_proposer_call(Journal& journal, std::int64_t iteration, const ProposerCall& call);
std::vector<ProposerCall> proposer_calls_of(Journal& journal, std::int64_t campaign);  // in order
// The newest `most` of all campaigns on that family and target, in order.
std::vector<ProposerCall> newest_proposer_calls(Journal& journal, const std::string& family, Target target,
                                                std::int64_t most);
// The newest author of each proposed variant of that family, by the variant's name.
std::map<std::string, std::string> authors_of(Journal& journal, const std::string& family);

}  // namespace apo
