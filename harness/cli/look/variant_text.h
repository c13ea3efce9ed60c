// harness/cli/look/variant_text.h - a variant as people read it, for `list`, `show` and `diff`.
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

struct VariantField {
  std::string name;
  std::string value;
};

// The fields of its metadata block: target, techniques, idea, parent, prediction, requires, tunables, scratch,
// launches.
std::vector<VariantField> metadata_fields(const Variant& variant);

// Prints these fields and the place of the source as "field   value" lines.
std::string describe_variant(const Variant& variant);

// Looks in the catalogue, then in the journal. Throws UserError with "did you mean".
Variant known_variant(Workspace& workspace, const std::string& id);

}  // namespace apo
