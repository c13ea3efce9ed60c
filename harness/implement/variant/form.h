// harness/implement/variant/form.h - tells the two forms of a variant apart.
#pragma once

#include "harness/core/records/variant.h"

namespace apo {

// True when the harness launches the kernels itself, false when the variant exports apo_launch.
bool is_device_variant(const Variant& variant);

}  // namespace apo
