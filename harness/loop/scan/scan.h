// harness/loop/scan/scan.h - measures all configurations of a family coarsely, before any is judged: what research
// ranks candidates by.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/core/observer.h"
#include "harness/loop/scan/scan_bench.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/research/prediction/scans.h"

namespace apo {

class Journal;

struct ScanRequest {
  Workspace& workspace;  // its target is chosen
  Journal& journal;      // has the machine
  Observer& observer;
  const Family& family;
  const Runtime& runtime;  // of the family
  const Workload& workload;
  CachePolicy cache = CachePolicy::cold;
  Configuration incumbent;
  std::vector<Configuration> proposed = {};  // settings, before any of a space
  double budget_s = 0;  // begin nothing after so long, the last part being for leaders; 0: scan all
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  std::uint64_t seed = 0;
  ScanBench* bench = nullptr;  // measures; else this process does
};

struct ScanSummary {
  std::vector<ScannedEffect> scanned;  // of the space; the valid ones first, the fastest at the head
  std::size_t left = 0;                // configurations that the budget did not reach
  int measured = 0;                    // now; the others were known
  double build_s = 0;                  // waiting for their builds
  double timing_s = 0;                 // likewise, with the check
};

// Measures what the journal does not have of this place: each variant, proposed settings, then those settings that a
// model of what is known suggests; of the leaders again with more calls. A row each is written as soon as it is there.
// Throws EnvironmentError where the incumbent does not run.
ScanSummary scan(const ScanRequest& request);

}  // namespace apo
