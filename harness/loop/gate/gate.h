// harness/loop/gate/gate.h - `apo gate`: compares every stored variant with the checkout's variant of that name.
#pragma once

#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/evaluate/judge_pair.h"
#include "harness/loop/gate/gate_baseline.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

struct GateRequest {
  std::vector<StoredVariant> stored;
  std::vector<std::string> workloads;  // only these of the stored ones; empty = all
  double margin = 0;                   // log effect: log1p(0.02) allows 2 % more time
  CachePolicy cache_policy = CachePolicy::cold;
  std::string judge_preset = "auto";  // by an A/A sentinel of the stored variant
  Layout layout = Layout::random;
};

struct GatedVariant {
  std::string label;
  std::vector<std::string> workloads;
  std::string baseline_hash;  // of the sources
  std::string current_hash;
  std::string preset;  // of the judge; empty when nothing was timed
  GateRule rule;
  RegressionResult result;
};

// Returns the stored form of catalogue configurations such as "copy/parallel[KILOBYTES_PER_THREAD=64]". Workloads are
// names of their family, or FAMILY/NAME for one family; the default is the family's first workload that is meant for
// the variant's target.
std::vector<StoredVariant> store_variants(Workspace& workspace, const std::vector<std::string>& configurations,
                                          const std::vector<std::string>& workloads);

// Checks the whole request before any measurement. Throws UserError for a variant that the checkout lacks or has
// changed beyond comparison. A variant that this machine cannot run is undecided.
std::vector<GatedVariant> run_gate(Workspace& workspace, const GateRequest& request, Observer& observer);

}  // namespace apo
