// harness/evaluate/correctness/inspect_call.h - inspects guard zones, inputs and outputs after a call.
#pragma once

#include <optional>

#include "harness/runtime/runtime.h"

namespace apo {

// Checks that guards are whole, inputs (of one set, or all) unchanged and outputs right. Returns nullopt, or
// Outcome::incorrect with the first finding. Compares tensors on up to `threads` threads; merges how far the outputs
// are off into `errors`.
std::optional<Failure> inspect_call(const SharedTensors& shared_tensors, const Family& family, const Axes& axes,
                                    const Expected& expected, std::optional<int> set = {}, int threads = 1,
                                    OutputErrors* errors = nullptr);

}  // namespace apo
