// harness/implement/variant/form.h - tells the two forms of a variant apart.
#pragma once

#include "harness/core/records/variant.h"

namespace apo {

// Does the harness launch the kernels itself (true), or does the variant export apo_launch (false)?
bool is_device_variant(const Variant& variant);

}  // namespace apo
