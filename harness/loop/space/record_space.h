// harness/loop/space/record_space.h - builds, verifies and times every legal configuration of a variant once.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/core/system/lock_file.h"
#include "harness/loop/exchange/t4.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

struct SpaceRequest {
  std::string variant;
  std::string workload;  // empty: the family's first for the target
  CachePolicy cache = CachePolicy::cold;
  bool sanitize = true;
  std::filesystem::path output;  // a T4 file; what it holds is not measured again
};

struct RecordingSummary {
  T4File file;                          // as it is on disk
  std::size_t legal = 0;                // configurations
  std::size_t measured = 0;             // by this call
  std::vector<std::string> unmeasured;  // what this machine could not measure, each with its reason
};

// The settings as a configuration of T4, every tunable stated.
T4Configuration to_t4(const Settings& settings);

// The result of a configuration's experiment against the reference. False where the machine failed, and not the
// candidate: there is no result then.
bool is_measured(const Experiment& experiment);
T4Result result_of(const Experiment& experiment, const T4Configuration& configuration);

// Held while a recording goes on. Throws UserError where another one writes into this file.
LockFile only_recording_into(const std::filesystem::path& output);

// The gates and rounds of 'apo evaluate --judge quick', of each configuration against one reference: the first one that
// is valid. Its outputs are checked on the workload and one small shape; on a GPU the rounds are short, and processes
// are shared until something fails in them. Writes the file after each, so that it is always whole. Nothing goes to the
// journal. Throws UserError for a variant with one configuration, and for a file that holds another space.
RecordingSummary record_space(Workspace& workspace, const SpaceRequest& request, Observer& observer);

}  // namespace apo
