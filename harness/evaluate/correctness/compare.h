// harness/evaluate/correctness/compare.h - compares outputs with the fp64 reference; NaN never passes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/outcome.h"
#include "harness/evaluate/correctness/draws.h"
#include "harness/runtime/tensor_data.h"

namespace apo {

// An output tensor compared with its reference.
struct TensorComparison {
  std::string tensor;
  bool correct = false;
  std::string evidence;       // one sentence: the first wrong element with its values
  std::int64_t compared = 0;  // elements
  std::int64_t wrong_units = 0;
  std::int64_t non_finite = 0;
  OutputErrors errors;                // without a workload
  double relative_error = 0;          // ||x - ref|| / ||ref||, for people; NaN when an element is not finite
  double closeness = 0;               // the larger part of Closeness over all units: at most 1 when correct
  std::optional<WrongElement> wrong;  // without what is known of the inputs
};

struct Comparison {
  bool correct = false;
  std::string evidence;  // of the first wrong tensor, or a summary
  std::vector<TensorComparison> tensors;
  CallDraws draws;  // of random outputs
};

// Compares all elements of expected.units, and no others, by the rule beside struct Tolerance in kernels/family.h. An
// element of a random output is held against the alternative that it is nearest to, and the draws against their
// probabilities.
enum class Units : std::uint8_t { drawn, in_doubt };  // the latter are chosen for what the outputs hold
Comparison compare_outputs(const Family& family, const Axes& axes, const Expected& expected, const OutputViews& outputs,
                           int threads = 1, Units units = Units::drawn);

// The values of these elements of a tensor, in their order.
std::vector<double> gathered(const TensorSpec& tensor, std::span<const std::byte> bytes,
                             const std::vector<ElementRun>& runs);

// Takes the larger of each.
void merge(OutputErrors& errors, const OutputErrors& others);

}  // namespace apo
