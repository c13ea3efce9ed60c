// journal/compact.h - makes a journal small by dropping the raw measurements that no verdict and no report reads.
#pragma once

#include <cstdint>

#include "journal/journal.h"

namespace apo {

struct Compacted {
  std::int64_t rounds = 0;        // that lost their timed calls, counted once a workload
  std::int64_t sampled_rows = 0;  // sampled instructions that became one row with others of their line and state
  std::int64_t bytes_before = 0;  // of the file
  std::int64_t bytes_after = 0;
};

// Drops the timed calls of every round, whose effect and medians stay, and adds the PC samples of one line and state
// together. Then writes the file anew without unused pages. Nobody else may have it open: throws UserError.
Compacted compact(Journal& journal);

}  // namespace apo
