// harness/loop/exchange/traces.h - the journal's experiments as traces of FlashInfer-Trace: `apo export traces`.
#pragma once

#include <string>
#include <vector>

#include "journal/journal.h"

namespace apo {

struct Traces {
  std::vector<std::string> lines;  // one JSON object each, in the order of the experiments
  std::size_t left_out = 0;        // experiments without a result of their own: same code as the incumbent, interrupted
};

// For each judged experiment of the family ("" for all) that is no replay, one line a workload. What the journal does
// not hold is null. The reference is the incumbent of the same rounds.
Traces traces(Journal& journal, const std::string& family);

}  // namespace apo
