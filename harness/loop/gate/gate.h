// harness/loop/gate/gate.h - `apo gate`: compares every stored variant with the checkout's variant of that name.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/judge_pair.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

// A complete variant as it was stored.
struct StoredVariant {
  Variant variant;    // parsed from the stored source
  Settings settings;  // empty: the defaults of each source, so that a changed default is held against it
  std::vector<std::string> workloads;  // at least one

  // Returns "copy/parallel[KILOBYTES_PER_THREAD=64]"; without settings the bare name.
  std::string label() const { return Configuration{.variant = variant.id(), .settings = settings}.label(); }
};

// Writes the whole file or nothing. Throws UserError for a source that is no UTF-8 text.
void write_baseline(const std::filesystem::path& file, const std::vector<StoredVariant>& variants);
// Throws UserError that names the file and what is wrong with it. Checks every source against its hash and parses it
// again.
std::vector<StoredVariant> read_baseline(const std::filesystem::path& file);

// Selects by name: FAMILY/NAME (every stored configuration of it) or a label; all without names. Throws UserError for a
// name that is not in the file.
std::vector<StoredVariant> select_variants(const std::vector<StoredVariant>& stored,
                                           const std::vector<std::string>& names, const std::string& file);

struct GateRequest {
  std::vector<StoredVariant> stored;
  std::vector<std::string> workloads;  // only these of the stored ones; empty = all
  double margin = 0;                   // log effect: log1p(0.02) allows 2 % more time
  CachePolicy cache_policy = CachePolicy::cold;
  std::string judge_preset = "auto";  // by an A/A sentinel of the stored variant
  Layout layout = Layout::random;
};

// A stored variant against the checkout's, or command B against A.
struct GatedPair {
  std::string label;
  std::vector<std::string> workloads;  // of two commands the metric
  std::string baseline_hash = {};      // of the sources, which commands do not have
  std::string current_hash = {};
  PairOutcome outcome = {.gate = GateVerdict::undecided};  // without workloads where nothing was timed
  std::vector<GateResult> gates = {};                      // the last one says why, when the verdict is `failed`
  std::size_t rounds = 0;
};

// Returns the stored form of catalogue configurations such as "copy/parallel[KILOBYTES_PER_THREAD=64]". Workloads are
// names of their family, or FAMILY/NAME for one family; the default is the family's first workload that is meant for
// the variant's target.
std::vector<StoredVariant> store_variants(Workspace& workspace, const std::vector<std::string>& configurations,
                                          const std::vector<std::string>& workloads);

// Checks the whole request before any measurement. Throws UserError for a variant that the checkout lacks or has
// changed beyond comparison. A variant that this machine cannot run is undecided.
std::vector<GatedPair> run_gate(Workspace& workspace, const GateRequest& request, Observer& observer);

}  // namespace apo
