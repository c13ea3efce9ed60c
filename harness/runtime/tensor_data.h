// harness/runtime/tensor_data.h - input sets in their storage dtype, and the expected outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/worker/protocol/shared_tensors.h"
#include "kernels/family.h"

namespace apo {

using TensorBytes = std::map<std::string, std::vector<std::byte>, std::less<>>;

// The raw bytes of every output tensor. Each is read once, so that later changes do not matter to the judgement.
using OutputViews = std::map<std::string, std::span<const std::byte>, std::less<>>;

std::vector<std::byte> encode(DType dtype, const std::vector<double>& values, int threads = 1);
std::vector<double> decode(DType dtype, std::span<const std::byte> bytes, int threads = 1);

// All inputs of one call, derived ones included. `values` are exactly what `bytes` hold: tensors of `drawn_axes`, which
// equal `axes` except for a workload that repeats its inputs along one of them.
struct InputSet {
  Axes axes;
  Axes drawn_axes;
  std::uint64_t seed = 0;
  std::string regime;
  TensorMap values;
  TensorBytes bytes;
};

// Fills, rounds to the storage dtypes, derives, and rounds again.
// Whether a check goes on without this regime where it meets NothingToCompare: the author of the family did not name it.
bool may_leave_out(const Family& family, const std::string& regime);

InputSet make_inputs(const Family& family, const Axes& axes, std::uint64_t seed, const std::string& regime,
                     int threads);
// The same for a workload, which may repeat its inputs.
InputSet make_inputs(const Family& family, const Workload& workload, std::uint64_t seed, const std::string& regime,
                     int threads);
// Takes given values instead of the generator's: every tensor of role input has to be present with the right count
// (else UserError); absent derived inputs are derived.
InputSet inputs_from(const Family& family, const Axes& axes, TensorMap values, int threads);

// The outputs of a correct call for some units of the work (empty = all of them). Each output holds only the elements
// of these units, in the order of the units and of Family::unit_elements.
struct Expected {
  std::vector<std::int64_t> units;
  TensorMap reference;  // fp64
  TensorMap noise;      // Family::noise: the RMS error that legal implementations make at each element
};

// Throws NothingToCompare where the reference or its honest version is not finite, or more than an output holds.
Expected expect(const Family& family, const InputSet& inputs, const std::vector<std::int64_t>& units, int threads);

// Draws at most `most` units without repetition; all of them (as an empty list) when there are no more than that. The
// first and the last unit are always included, because kernels often go wrong at borders.
std::vector<std::int64_t> draw_units(std::int64_t count, std::int64_t most, std::uint64_t seed);

struct NamedView {
  std::string name;
  InputView view;
};
// The inputs, derived ones too, in the order of the contract. They have to outlive the views.
std::vector<NamedView> input_views(const Family& family, const InputSet& inputs);

}  // namespace apo
