// harness/evaluate/correctness/wrong_element.h - says of one wrong element where it is, and what the inputs are there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/records/outcome.h"
#include "harness/runtime/tensor_data.h"

namespace apo {

// The element's index along each axis of the tensor.
std::vector<std::int64_t> indices_of(const TensorSpec& tensor, const Axes& axes, std::int64_t element);

// Names tensor, axes and index; the values are the caller's.
WrongElement wrong_element(const TensorSpec& tensor, const Axes& axes, std::int64_t element);

// Adds the seed of the inputs, and the values of those inputs whose axes are all among the element's.
void add_inputs(WrongElement& wrong, const Family& family, const InputSet& inputs);

// "at B=0 T=12 its bound is 0.004; inputs there: x = 0.5, bias = 2; drawn from seed 77".
std::string sentence(const WrongElement& wrong);

}  // namespace apo
