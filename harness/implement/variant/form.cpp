// harness/implement/variant/form.cpp - apo:launch lines make a device variant.
#include "harness/implement/variant/form.h"

namespace apo {

bool is_device_variant(const Variant& variant) {
  return variant.target == Target::cuda && !variant.launches.empty();
}

}  // namespace apo
