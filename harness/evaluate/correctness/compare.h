// harness/evaluate/correctness/compare.h - compares outputs with the fp64 reference; NaN never passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/core/records/outcome.h"
#include "harness/evaluate/correctness/draws.h"
#include "harness/evaluate/correctness/every_element.h"
#include "harness/runtime/input_store.h"
#include "harness/runtime/runtime.h"
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

// What a call's outputs are, beside right or wrong.
struct CallFindings {
  OutputErrors errors;
  std::optional<WrongElement> wrong;  // the first, without what is known of the inputs
  std::string wrong_call_of;          // not this call is wrong but the witness: whose it was
  std::int64_t elements = 0;          // held against the reference or a witness
  std::int64_t undecided = 0;         // units that differ from the witness, beyond those that the reference computed
  CallDraws draws;                    // of the drawn units
};

// Checks that guards are whole, inputs of `set` unchanged (none: they have been compared already) and outputs right:
// the drawn units by the reference, all elements by hold_all(). Returns nullopt, or Outcome::incorrect with the first
// finding. `whose`: names the code that was called. Compares tensors on up to `threads` threads.
std::optional<Failure> inspect_call(const SharedTensors& shared_tensors, const Family& family,
                                    const CheckedInputs& inputs, const std::string& whose, std::optional<int> set,
                                    int threads = 1, CallFindings* findings = nullptr);

// The slot of the call that was wrong, of two slots; nullopt: it was that of an earlier comparison.
std::optional<int> wrong_slot(const CallFindings& findings, int slot, const std::string& other_slots);

// Holds all elements of a call's outputs against the witness of its inputs; the reference decides the units in doubt,
// of many the 32 furthest apart. A right call becomes the witness where there is none, and confirms one of another
// code.
std::optional<Failure> hold_all(const SharedTensors& shared_tensors, const Family& family, const CheckedInputs& inputs,
                                const std::string& whose, const TypicalErrors& typical, int threads,
                                CallFindings& findings);

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

// Takes the larger of each.
void merge(OutputErrors& errors, const OutputErrors& others);

// Prints "dk[0,12,3,7]".
std::string element_name(const TensorSpec& tensor, const Axes& axes, std::int64_t index);

}  // namespace apo
