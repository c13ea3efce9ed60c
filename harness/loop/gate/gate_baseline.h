// harness/loop/gate/gate_baseline.h - the baseline file of `apo gate`: sources and workloads, no times.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/records/records.h"

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

}  // namespace apo
