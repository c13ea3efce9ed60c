// harness/evaluate/correctness/inspect_call.h - inspects guard zones, inputs and outputs after a call.
#pragma once

#include <optional>

#include "harness/evaluate/correctness/wrong_element.h"
#include "harness/runtime/runtime.h"

namespace apo {

// What a call's outputs are, beside right or wrong.
struct CallFindings {
  OutputErrors errors;
  std::optional<WrongElement> wrong;  // the first, without what is known of the inputs
};

// Checks that guards are whole, inputs of `set` unchanged (none: they have been compared already) and outputs right.
// Returns nullopt, or Outcome::incorrect with the first finding. Compares tensors on up to `threads` threads.
std::optional<Failure> inspect_call(const SharedTensors& shared_tensors, const Family& family, const Axes& axes,
                                    const Expected& expected, std::optional<int> set, int threads = 1,
                                    CallFindings* findings = nullptr);

}  // namespace apo
