// harness/implement/variant/form.cpp - apo:launch lines make a device variant.
#include "harness/implement/variant/form.h"

#include "harness/core/sources.h"

namespace apo {

bool is_device_variant(const Variant& variant) {
  return variant.target == Target::cuda && !variant.launches.empty();
}

bool is_triton(const Variant& variant) {
  return is_python(variant.source);
}

}  // namespace apo
