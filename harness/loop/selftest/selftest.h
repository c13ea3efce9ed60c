// harness/loop/selftest/selftest.h - runs the judge on this machine: identical code, known differences, noise by level.
#pragma once

#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/selftest_record.h"
#include "harness/loop/selftest/selftest_request.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

struct SelftestResult {
  Selftest selftest;
  Machine machine;
  std::vector<SelftestComparison> comparisons;
  std::vector<std::string> remarks;
};

// Judges every comparison as `apo compare` does, and stores it in the journal at once. Throws UserError for unknown
// names, EnvironmentError where a bundled kernel does not run.
SelftestResult run_selftest(Workspace& workspace, const SelftestRequest& request, Observer& observer);

}  // namespace apo
