// harness/runtime/tensor_data.cpp - rounds inputs to their storage dtype before any computation.
#include "harness/runtime/tensor_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>
#include <tuple>

#include "harness/core/error.h"
#include "kernels/closeness.h"
#include "kernels/parallel.h"
#include "kernels/random.h"

namespace apo {
namespace {

// Keeps the values of these tensors as they are stored, and their bytes. They are rounded where they lie: those of a
// large tensor take long to allocate again.
void store(InputSet& inputs, const std::vector<const TensorSpec*>& tensors, TensorMap& raw, int threads) {
  struct Stored {
    std::vector<std::byte>& bytes;
    std::vector<double>& values;
  };
  std::vector<Stored> stored;
  for (const TensorSpec* tensor : tensors) {
    stored.push_back({inputs.bytes[tensor->name], inputs.values[tensor->name]});
    stored.back().values = std::move(raw.at(tensor->name));
  }
  const int of_each = threads_of_each(threads, tensors.size());
  for_each_index(tensors.size(), threads, [&](std::size_t t) {
    const DType dtype = tensors[t]->dtype;
    std::vector<double>& values = stored[t].values;
    stored[t].bytes = encode(dtype, values, of_each);
    with_dtype(dtype, [&]<DType kDType>() {
      for_each_chunk(values.size(), of_each, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          values[i] = round_to(kDType, values[i]);
        }
      });
    });
  });
}

bool is_any_derived(const Family& family) {
  return std::ranges::any_of(family.tensors,
                             [](const TensorSpec& tensor) { return tensor.role == Role::derived_input; });
}

void derive_missing(const Family& family, InputSet& inputs, int threads) {
  std::vector<const TensorSpec*> missing;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::derived_input && !inputs.values.contains(tensor.name)) {
      missing.push_back(&tensor);
    }
  }
  if (missing.empty()) {
    return;
  }
  TensorMap derived = family.derive(inputs.drawn_axes, inputs.values, threads);
  store(inputs, missing, derived, threads);
}

// The unit of the drawn inputs that `unit` repeats.
std::int64_t drawn_unit(const Family& family, const InputSet& inputs, std::int64_t unit) {
  if (inputs.axes == inputs.drawn_axes) {
    return unit;
  }
  const std::int64_t drawn = family.unit_count(inputs.drawn_axes);
  return unit % drawn;  // the repeated axis is the outermost
}

// The elements of `units` in their order, from tensors of the drawn axes: whole ones, or with `known` those that have
// the elements of these units alone, one behind the other.
TensorMap gather_units(const Family& family, const InputSet& inputs, const std::vector<std::int64_t>& units,
                       const TensorMap& all, int threads, const std::vector<std::int64_t>* known = nullptr) {
  struct Output {
    const std::string& name;
    const std::vector<double>& from;
    std::vector<double>& to;
  };
  TensorMap gathered;
  std::vector<Output> outputs;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::output) {
      outputs.push_back({tensor.name, all.at(tensor.name), gathered[tensor.name]});
    }
  }
  for_each_index(outputs.size(), threads, [&](std::size_t i) {
    const auto& [name, from, to] = outputs[i];
    std::map<std::int64_t, std::int64_t> begins;  // of the known units
    std::int64_t end = 0;
    for (const std::int64_t unit : known != nullptr ? *known : std::vector<std::int64_t>()) {
      begins[unit] = end;
      for (const ElementRun& run : family.unit_elements(inputs.drawn_axes, name, unit)) {
        end += run.count;
      }
    }
    for (const std::int64_t unit : units) {
      std::int64_t next = known != nullptr ? begins.at(unit) : 0;
      for (const ElementRun& run : family.unit_elements(inputs.drawn_axes, name, unit)) {
        const std::int64_t first = known != nullptr ? next : run.offset;
        to.insert(to.end(), from.begin() + first, from.begin() + first + run.count);
        next += run.count;
      }
    }
  });
  return gathered;
}

// The tensor of the workload's axes, of which `bytes` are the part that was drawn.
InputView view_of(const TensorSpec& tensor, const InputSet& inputs, std::span<const std::byte> bytes) {
  const auto [outer, period, count] = repeats_of(tensor, inputs.drawn_axes, inputs.axes);
  return {.tile = bytes, .outer = outer, .period = period, .count = count};
}

}  // namespace

Repeats repeats_of(const TensorSpec& tensor, const Axes& drawn, const Axes& whole) {
  const std::vector<std::int64_t> few = tensor.shape(drawn);
  const std::vector<std::int64_t> many = tensor.shape(whole);
  const auto [differs, other] = std::ranges::mismatch(few, many);
  if (differs == few.end()) {
    return {};
  }
  return {.outer = std::accumulate(few.begin(), differs, std::int64_t{1}, std::multiplies<>()),
          .period = *differs,
          .count = *other};
}

bool OutputView::is_unwritten(DType dtype, std::int64_t element) const {
  const auto width = static_cast<std::size_t>(dtype_bytes(dtype));
  const bool is_known = poison != 0xFF || is_float(dtype) || dtype == DType::boolean;
  return is_known && std::ranges::all_of(bytes.subspan(static_cast<std::size_t>(element) * width, width),
                                         [&](std::byte one) { return one == std::byte{poison}; });
}

double OutputView::value(DType dtype, std::int64_t element) const {
  std::uint64_t bits = 0;
  const auto width = static_cast<std::size_t>(dtype_bytes(dtype));
  std::memcpy(&bits, bytes.data() + static_cast<std::size_t>(element) * width, width);
  return from_bits(dtype, bits);
}

namespace {

// With the values of all inputs where drawing them took these, else with none.
InputSet drawn_inputs(const Family& family, const Workload& workload, std::uint64_t seed, const std::string& regime,
                      int threads) {
  Axes axes = workload.axes;
  if (!workload.repeated_axis.empty()) {
    std::int64_t& entries = axes.at(workload.repeated_axis);
    entries = std::min(entries, workload.distinct);
  }
  InputSet inputs{.axes = workload.axes, .drawn_axes = axes, .seed = seed, .regime = regime, .values = {}, .bytes = {}};
  if (family.draw) {
    inputs.bytes = family.draw(axes, seed, regime, threads);
    if (is_any_derived(family)) {
      inputs.values = values_of(family, inputs, threads);
    }
  } else {
    TensorMap raw = family.fill(axes, seed, regime, threads);
    std::vector<const TensorSpec*> drawn;
    for (const TensorSpec& tensor : family.tensors) {
      if (tensor.role == Role::input) {
        drawn.push_back(&tensor);
      }
    }
    store(inputs, drawn, raw, threads);
  }
  derive_missing(family, inputs, threads);
  return inputs;
}

}  // namespace

InputSet stored_inputs(const Family& family, const Workload& workload, std::uint64_t seed, const std::string& regime,
                       int threads) {
  InputSet inputs = drawn_inputs(family, workload, seed, regime, threads);
  inputs.values.clear();
  return inputs;
}

InputSet make_inputs(const Family& family, const Workload& workload, std::uint64_t seed, const std::string& regime,
                     int threads) {
  InputSet inputs = drawn_inputs(family, workload, seed, regime, threads);
  if (inputs.values.empty()) {
    inputs.values = values_of(family, inputs, threads);
  }
  return inputs;
}

InputSet make_inputs(const Family& family, const Axes& axes, std::uint64_t seed, const std::string& regime,
                     int threads) {
  return make_inputs(family, Workload{.name = "", .axes = axes}, seed, regime, threads);
}

TensorMap values_of(const Family& family, const InputSet& inputs, int threads) {
  if (!inputs.values.empty()) {
    return inputs.values;
  }
  TensorMap values;
  const auto add = [&](const std::string& name, std::span<const std::byte> bytes) {
    values[name] = decode(find_tensor(family, name)->dtype, bytes, threads);
  };
  for (const auto& [name, bytes] : inputs.bytes) {
    add(name, bytes);
  }
  for (const auto& [name, runs] : inputs.runs) {
    add(name, gathered(runs));
  }
  return values;
}

InputSet inputs_from(const Family& family, const Axes& axes, TensorMap values, int threads) {
  InputSet inputs{.axes = axes, .drawn_axes = axes, .seed = 0, .regime = "given", .values = {}, .bytes = {}};
  std::vector<const TensorSpec*> all;
  for (const TensorSpec& tensor : family.tensors) {
    const auto given = values.find(tensor.name);
    if (tensor.role == Role::output || (given == values.end() && tensor.role == Role::derived_input)) {
      continue;
    }
    const auto needed = static_cast<std::size_t>(element_count(tensor, axes));
    if (given == values.end() || given->second.size() != needed) {
      throw UserError(fmt::format("input '{}' needs {} elements of shape {}, {} were given", tensor.name, needed,
                                  tensor.shape_text,
                                  given == values.end() ? "none" : std::to_string(given->second.size())));
    }
    all.push_back(&tensor);
  }
  store(inputs, all, values, threads);
  derive_missing(family, inputs, threads);
  return inputs;
}

namespace {

double median_of(std::vector<double>& values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

TypicalError typical_error(const Family& family, const Axes& axes, const std::string& tensor,
                           const Expected& expected) {
  constexpr std::size_t kEnough = std::size_t{1} << 16;  // elements
  const Tolerance tolerance = family.tolerance(tensor, axes);
  const std::span<const double> reference = expected.reference.at(tensor);
  const std::span<const double> noise = expected.noise.at(tensor);
  const std::size_t step = std::max<std::size_t>(1, reference.size() / kEnough);  // of each so many units one
  const std::int64_t units = expected.units.empty() ? family.unit_count(axes) : std::ssize(expected.units);
  std::vector<double> relative;
  TypicalError typical;
  std::size_t begin = 0;
  for (std::int64_t i = 0; i < units; ++i) {
    std::size_t count = 0;
    const std::int64_t unit = expected.units.empty() ? i : expected.units[static_cast<std::size_t>(i)];
    for (const ElementRun& run : family.unit_elements(axes, tensor, unit)) {
      count += static_cast<std::size_t>(run.count);
    }
    if (static_cast<std::size_t>(i) % step == 0) {
      const std::vector<double> scales = error_scales(tolerance, noise.subspan(begin, count));
      const std::vector<double> magnitudes = error_scales(tolerance, reference.subspan(begin, count));
      for (std::size_t at = 0; at < count; ++at) {
        if (magnitudes[at] > 0) {
          relative.push_back(scales[at] / magnitudes[at]);
        }
        if (scales[at] > 0) {
          typical.smallest = typical.smallest > 0 ? std::min(typical.smallest, scales[at]) : scales[at];
        }
      }
    }
    begin += count;
  }
  typical.relative = median_of(relative);
  // Where most elements are exact, those that the reference leaves undecided say nothing of the others.
  typical.smallest = typical.relative > 0 ? typical.smallest : 0;
  return typical;
}

// A kernel gives infinity, or the largest number, for what the dtype of an output does not hold.
void check_formats_hold(const Family& family, const TensorMap& reference, const InputSet& inputs) {
  for (const auto& [name, values] : reference) {
    const TensorSpec& tensor = *find_tensor(family, name);
    const double most = facts_of(tensor.dtype).largest * (1 + unit_roundoff(tensor.dtype));
    const auto beyond = std::ranges::find_if(values, [&](double value) {
      return std::isfinite(value) && std::fabs(value) > most && is_float(tensor.dtype);
    });
    if (beyond != values.end()) {
      throw NothingToCompare(
          fmt::format("the reference of family {} gives {} in {}, more than {} holds ({})", family.name, *beyond,
                      element_name(tensor, inputs.axes, beyond - values.begin()), to_string(tensor.dtype),
                      describe_axes(inputs.axes)),
          "leave the regime out with '// apo:regimes all but NAME', or use a wider dtype");
    }
  }
}

}  // namespace

TypicalErrors typical_errors(const Family& family, const Axes& axes, const Expected& expected) {
  TypicalErrors errors;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::output) {
      errors[tensor.name] = typical_error(family, axes, tensor.name, expected);
    }
  }
  return errors;
}

bool is_cheap(const Family& family, const Axes& axes, double most_operations) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 22;
  constexpr double kOfSpecialFunction = 10;  // operations
  if (element_count(family, axes) > kMostElements) {
    return false;
  }
  const Work work = family.work(axes);
  return work.flops + kOfSpecialFunction * work.special_functions <= most_operations;
}

bool may_leave_out(const Family& family, const std::string& regime) {
  return !family.names_regimes && regime != family.regimes.front();
}

namespace {

ExpectedValues expected_values(const Family& family, const InputSet& inputs, const Asked& asked) {
  TensorBytes put_together;
  StoredTensors stored(inputs.bytes.begin(), inputs.bytes.end());
  for (const auto& [name, runs] : inputs.runs) {
    stored[name] = put_together[name] = gathered(runs);
  }
  return family.expected(inputs.drawn_axes, stored, asked);
}

// Keeps those units that were computed.
void leave_out_others(Expected& expected, std::vector<std::int64_t>& drawn, const std::vector<std::int64_t>& computed) {
  std::vector<std::int64_t> kept;
  std::vector<std::int64_t> kept_drawn;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    if (std::ranges::binary_search(computed, drawn[i])) {
      kept.push_back(expected.units.empty() ? static_cast<std::int64_t>(i) : expected.units[i]);
      kept_drawn.push_back(drawn[i]);
    }
  }
  expected.left_out = std::ssize(drawn) - std::ssize(kept);
  if (expected.left_out > 0) {
    expected.units = std::move(kept);
  }
  drawn = std::move(kept_drawn);
}

}  // namespace

Expected expect(const Family& family, const InputSet& inputs, const std::vector<std::int64_t>& units, int threads,
                TensorMap* whole, const Patience& patience) {
  std::vector<std::int64_t> drawn;
  for (std::int64_t i = 0; i < (units.empty() ? family.unit_count(inputs.axes) : std::ssize(units)); ++i) {
    drawn.push_back(drawn_unit(family, inputs, units.empty() ? i : units[static_cast<std::size_t>(i)]));
  }
  const std::set<std::int64_t> distinct(drawn.begin(), drawn.end());
  const std::vector<std::int64_t> computed =
      units.empty() ? units : std::vector<std::int64_t>(distinct.begin(), distinct.end());
  Expected expected{.units = units, .reference = {}, .noise = {}, .random = {}};
  if (family.expected && !family.alternatives) {
    ExpectedValues values = expected_values(family, inputs,
                                            {.units = computed,
                                             .whole = whole != nullptr,
                                             .threads = threads,
                                             .patience = patience,
                                             .seed = derive_seed(inputs.seed, "order of units")});
    if (values.units != drawn) {
      leave_out_others(expected, drawn, values.units);
      values.reference = gather_units(family, inputs, drawn, values.reference, threads, &values.units);
      values.noise = gather_units(family, inputs, drawn, values.noise, threads, &values.units);
    }
    expected.reference = std::move(values.reference);
    expected.noise = std::move(values.noise);
    if (whole != nullptr) {
      *whole = std::move(values.whole);
    }
    check_formats_hold(family, expected.reference, inputs);
    return expected;
  }
  const auto gathered = [&](const TensorMap& all) { return gather_units(family, inputs, drawn, all, threads); };
  const TensorMap values = values_of(family, inputs, threads);
  if (family.alternatives) {
    Alternatives all = family.alternatives(inputs.drawn_axes, values, computed, threads);
    for (const Alternative& one : all.each) {
      expected.random.each.push_back(
          {.values = gathered(one.values), .noise = gathered(one.noise), .probability = gathered(one.probability)});
      check_formats_hold(family, expected.random.each.back().values, inputs);
    }
    expected.random.draws = gathered(all.draws);
    expected.reference = expected.random.each.front().values;
    expected.noise = expected.random.each.front().noise;
    return expected;
  }
  TensorMap reference =
      family.reference(inputs.drawn_axes, values, whole != nullptr ? std::vector<std::int64_t>() : computed, threads);
  expected.reference = gathered(reference);
  expected.noise = gathered(family.noise(inputs.drawn_axes, values, reference, computed, threads));
  check_formats_hold(family, expected.reference, inputs);
  if (whole != nullptr) {
    *whole = std::move(reference);
  }
  return expected;
}

std::vector<std::int64_t> draw_units(std::int64_t count, std::int64_t most, std::uint64_t seed) {
  if (count <= most) {
    return {};
  }
  std::set<std::int64_t> drawn = {0, count - 1};
  Random random(derive_seed(seed, "units"));
  while (static_cast<std::int64_t>(drawn.size()) < most) {
    drawn.insert(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(count))));
  }
  return {drawn.begin(), drawn.end()};
}

std::vector<NamedView> input_views(const Family& family, const InputSet& inputs) {
  std::vector<NamedView> views;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::output) {
      continue;
    }
    const auto runs = inputs.runs.find(tensor.name);
    views.push_back({tensor.name, runs != inputs.runs.end() ? InputView{.tile = {}, .runs = runs->second}
                                                            : view_of(tensor, inputs, inputs.bytes.at(tensor.name))});
  }
  return views;
}

namespace {

std::vector<std::byte> copied(const InputView& view) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(view.bytes()));
  view.copy_to(bytes.data(), 1);
  return bytes;
}

}  // namespace

TensorBytes whole_bytes(const Family& family, const InputSet& inputs) {
  TensorBytes whole;
  for (const NamedView& input : input_views(family, inputs)) {
    whole[input.name] = copied(input.view);
  }
  return whole;
}

std::vector<std::byte> gathered(const ByteRuns& runs) {
  return copied({.tile = {}, .runs = runs});
}

}  // namespace apo
