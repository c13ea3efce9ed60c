// harness/runtime/tensor_data.h - input sets in their storage dtype, and the expected outputs.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/worker/protocol/shared_tensors.h"
#include "kernels/encode.h"
#include "kernels/family.h"

namespace apo {

// The raw bytes of an output tensor, and the byte that filled it before the call.
struct OutputView {
  std::span<const std::byte> bytes;
  std::uint8_t poison = 0xFF;  // no value of a float or a bool; of an integer: unknown

  OutputView() = default;
  template <class Bytes>
  requires std::convertible_to<const Bytes&, std::span<const std::byte>> OutputView(const Bytes& of,
                                                                                    std::uint8_t filled_with = 0xFF)
      : bytes(of), poison(filled_with) {}
  // Whether the element of `width` bytes at this place of the tensor still holds what filled it.
  bool is_unwritten(DType dtype, std::int64_t element) const;
  double value(DType dtype, std::int64_t element) const;
};
using OutputViews = std::map<std::string, OutputView, std::less<>>;

// All inputs of one call, derived ones included. `values`, where they are kept, are exactly what `bytes` hold: tensors
// of `drawn_axes`, which equal `axes` except for a workload that repeats its inputs along one of them. An input that is
// put together of parts of other sets has runs in place of bytes.
struct InputSet {
  Axes axes;
  Axes drawn_axes;
  std::uint64_t seed = 0;
  std::string regime;
  TensorMap values;
  TensorBytes bytes;
  std::map<std::string, ByteRuns, std::less<>> runs = {};
  std::shared_ptr<const void> owner = nullptr;  // of what the runs point to
};

// Whether a check goes on without this regime where it meets NothingToCompare: the author of the family did not name
// it.
bool may_leave_out(const Family& family, const std::string& regime);

// Fills, rounds to the storage dtypes, derives, and rounds again.
InputSet make_inputs(const Family& family, const Axes& axes, std::uint64_t seed, const std::string& regime,
                     int threads);
// The same for a workload, which may repeat its inputs.
InputSet make_inputs(const Family& family, const Workload& workload, std::uint64_t seed, const std::string& regime,
                     int threads);
// The same without the values: each element is converted when something reads it.
InputSet stored_inputs(const Family& family, const Workload& workload, std::uint64_t seed, const std::string& regime,
                       int threads);
// The values of a set, made of its bytes where they were not kept.
TensorMap values_of(const Family& family, const InputSet& inputs, int threads);
// Takes given values instead of the generator's: every tensor of role input has to be present with the right count
// (else UserError); absent derived inputs are derived.
InputSet inputs_from(const Family& family, const Axes& axes, TensorMap values, int threads);

// How large the errors of legal implementations are (scale_i of struct Tolerance), where the reference does not say it.
struct TypicalError {
  double relative = 0;  // to the larger of |value| and the RMS of its group: the median of the drawn elements
  double smallest = 0;  // of the drawn elements that have any; 0 where most have none
};

// The outputs of a correct call for some units of the work (empty = all of them). Each output holds only the elements
// of these units, in the order of the units and of Family::unit_elements.
struct Expected {
  std::vector<std::int64_t> units;
  TensorMap reference;        // fp64
  TensorMap noise;            // Family::noise: the RMS error that legal implementations make at each element
  Alternatives random;        // where outputs are: the first alternative is the reference, with its noise
  std::int64_t left_out = 0;  // units that were asked for and would have taken too long
};

// Throws NothingToCompare where the reference or its honest version is not finite, or more than an output holds. With
// `whole` it also computes the outputs of all units there, in the same go.
Expected expect(const Family& family, const InputSet& inputs, const std::vector<std::int64_t>& units, int threads,
                TensorMap* whole = nullptr, const Patience& patience = {});

// How large errors are, from some of the expected units. Of each output.
using TypicalErrors = std::map<std::string, TypicalError, std::less<>>;
TypicalErrors typical_errors(const Family& family, const Axes& axes, const Expected& expected);

// Whether all units have at most so many operations, and 2^22 elements in all tensors together: with 2^27 the reference
// takes a fraction of a second.
bool is_cheap(const Family& family, const Axes& axes, double most_operations = 0x1p27);

// Draws at most `most` units without repetition; all of them (as an empty list) when there are no more than that. The
// first and the last unit are always included, because kernels often go wrong at borders.
std::vector<std::int64_t> draw_units(std::int64_t count, std::int64_t most, std::uint64_t seed);

// How a tensor of the one shape repeats what a tensor of the other has, along the extent in which they differ.
Repeats repeats_of(const TensorSpec& tensor, const Axes& drawn, const Axes& whole);

struct NamedView {
  std::string name;
  InputView view;
};
// The inputs, derived ones too, in the order of the contract. They have to outlive the views.
std::vector<NamedView> input_views(const Family& family, const InputSet& inputs);
// Copies of their bytes, as a call gets them.
TensorBytes whole_bytes(const Family& family, const InputSet& inputs);
std::vector<std::byte> gathered(const ByteRuns& runs);

}  // namespace apo
