// tests/shipped_families.h - adds the families of kernels/ to a test program that includes this.
#pragma once

#include "harness/families/known_families.h"
#include "tests/families/family_text.h"

namespace apo {

inline const bool kShippedFamilies = add_known_families("", test_oracle()).empty();

}  // namespace apo
