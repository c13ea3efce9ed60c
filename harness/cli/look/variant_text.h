// harness/cli/look/variant_text.h - prints a variant for people, for `list` and `show`.
#pragma once

#include <string>

#include "harness/core/records/records.h"

namespace apo {

// "CHUNK 16,8,32; LANES 2", the default first; "" without tunables.
std::string tunables_text(const Variant& variant);

// "field   value" lines: target, techniques, idea, parent, prediction, requires, tunables, scratch, launches, source.
std::string describe_variant(const Variant& variant);

}  // namespace apo
