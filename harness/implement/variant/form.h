// harness/implement/variant/form.h - tells the two forms of a variant apart.
#pragma once

#include "harness/core/records/variant.h"

namespace apo {

// True when the harness launches the kernels itself, by apo:launch lines; false when the variant's host code does.
bool is_device_variant(const Variant& variant);
// True for a device variant in Python, which Triton compiles.
bool is_triton(const Variant& variant);

}  // namespace apo
