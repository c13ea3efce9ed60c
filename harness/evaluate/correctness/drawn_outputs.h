// harness/evaluate/correctness/drawn_outputs.h - tells which alternative each element of a random output shows.
#pragma once

#include "harness/evaluate/correctness/draws.h"
#include "harness/runtime/tensor_data.h"

namespace apo {

// The expected values of a call whose outputs drew these alternatives: of each element the nearest one.
struct DrawnOutputs {
  Expected expected;
  CallDraws draws;
};
DrawnOutputs drawn_outputs(const Family& family, const Axes& axes, const Expected& expected,
                           const OutputViews& outputs);

}  // namespace apo
