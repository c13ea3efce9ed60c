// harness/evaluate/compare.h - compares outputs with the fp64 reference; NaN never passes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/evaluate/data.h"

namespace apo {

// One output tensor held against its reference.
struct TensorComparison {
  std::string tensor;
  bool correct = false;
  std::string evidence;       // one sentence: the worst element with its values, or why it failed
  std::int64_t compared = 0;  // elements
  std::int64_t wrong = 0;     // elements outside their tolerance, NaN included
  std::int64_t non_finite = 0;
  double relative_error = 0;  // ||x - ref|| / ||ref||
  double honest_error = 0;    // the same of the honest implementation
};

struct Comparison {
  bool correct = false;
  std::string evidence;  // of the first wrong tensor, or a summary
  std::vector<TensorComparison> tensors;
};

// `outputs` holds the raw bytes of every output tensor. Only the elements of expected.units are compared, all of those.
Comparison compare_outputs(const Family& family, const Axes& axes, const Expected& expected,
                           const TensorBytes& outputs);

}  // namespace apo
