// harness/runtime/runtime.cpp - converts between a family's contract and the buffers of a call.
#include "harness/runtime/runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <exception>
#include <numeric>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/hash.h"
#include "harness/core/system/files.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"
#include "kernels/random.h"

namespace apo {

namespace {

void add_scratch(SharedTensorsSpec& spec, const std::vector<std::int64_t>& bytes, int slot) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    spec.buffers.push_back(
        {.name = fmt::format("scratch {}", i), .bytes = bytes[i], .role = BufferRole::scratch, .slot = slot});
  }
}

}  // namespace

std::uint8_t poison_byte(DType dtype, std::uint64_t seed) {
  if (is_float(dtype) || dtype == DType::boolean) {
    return 0xFF;
  }
  return static_cast<std::uint8_t>(1 + derive_seed(seed, "poison") % 0xFE);
}

SharedTensorsSpec shared_tensors_spec(const Family& family, const Axes& axes, int sets,
                                      const std::vector<std::int64_t>& scratch0,
                                      const std::vector<std::int64_t>& scratch1, std::uint64_t layout_seed,
                                      Target target) {
  constexpr std::int64_t kCudaAlignment = 256;  // cudaMalloc's
  SharedTensorsSpec spec;
  spec.alignment = target == Target::cuda ? kCudaAlignment : spec.alignment;
  spec.input_sets = sets;
  spec.layout_seed = layout_seed;
  for (const TensorSpec& tensor : family.tensors) {
    const std::int64_t width = dtype_bytes(tensor.dtype);
    const auto number = static_cast<int>(find_tensor(family, tensor.name) - family.tensors.data());
    spec.buffers.push_back({.name = tensor.name,
                            .bytes = width * element_count(tensor, axes),
                            .role = tensor.role == Role::output ? BufferRole::output : BufferRole::input,
                            .element_bytes = static_cast<int>(width),
                            // What a call updates holds its contents, of which any byte may be one.
                            .poison = tensor.in_place
                                          ? std::uint8_t{0xFF}
                                          : poison_byte(tensor.dtype, derive_seed(layout_seed, tensor.name)),
                            .in_place = tensor.in_place ? number : -1});
  }
  add_scratch(spec, scratch0, 0);
  add_scratch(spec, scratch1, 1);
  for (const ScalarSpec& scalar : family.scalars) {
    spec.words.push_back(std::bit_cast<std::int64_t>(to_bits(scalar.dtype, scalar.value)));
  }
  for (const AxisSpec& axis : family.axes) {
    spec.words.push_back(axes.at(axis.name));
  }
  return spec;
}

void repeat_on_device(SharedTensorsSpec& spec, const Family& family, const Axes& drawn, const Axes& whole) {
  for (std::size_t i = 0; i < family.tensors.size(); ++i) {
    spec.buffers.at(i).repeats = repeats_of(family.tensors[i], drawn, whole);
  }
  std::ranges::transform(family.axes, spec.words.end() - std::ssize(family.axes),
                         [&](const AxisSpec& axis) { return whole.at(axis.name); });
}

Result<Done> load_build(Worker& worker, int slot, const Build& build) {
  if (auto changed = check_object(build)) {
    return *changed;
  }
  return worker.load(slot, build.object_path, build.plan);
}

void share_inputs(SharedTensors& shared_tensors, int set, const Family& family, const InputSet& inputs, int threads) {
  for (const NamedView& input : input_views(family, inputs)) {
    shared_tensors.share_input(set, input.name, input.view, threads);
  }
}

void bring_inputs(const Runtime& runtime, SharedTensors& shared_tensors, int set, const CheckedInputs& checked,
                  int threads) {
  const KeptInputs kept = runtime.device_inputs->find(checked);
  if (kept.handle.empty()) {
    share_inputs(shared_tensors, set, *runtime.family, checked.inputs, threads);
    return;
  }
  for (const NamedView& input : input_views(*runtime.family, checked.inputs)) {
    shared_tensors.keep_input(set, input.name, input.view, kept);
  }
}

TensorBytes read_outputs(const SharedTensors& shared_tensors, const Family& family) {
  TensorBytes outputs;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::output) {
      outputs[tensor.name] = shared_tensors.read_output(tensor.name);
    }
  }
  return outputs;
}

OutputViews view_outputs(const SharedTensors& shared_tensors, const Family& family) {
  OutputViews outputs;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::output) {
      outputs[tensor.name] = {shared_tensors.output(tensor.name), shared_tensors.poison(tensor.name)};
    }
  }
  return outputs;
}

int calls_in_sample(const Family& family, const Axes& axes, double call_ns, CachePolicy cache, double sample_ns) {
  constexpr double kLongCallNs = 2e6;
  constexpr std::int64_t kMostCopied = 256 << 20;
  if (!std::isfinite(call_ns) || call_ns <= 0) {
    throw UserError("a call of " + format_g(call_ns) + " ns is not a time", "measure it again");
  }
  if (call_ns >= kLongCallNs || (cache == CachePolicy::cold && tensor_bytes(family, axes) > kMostCopied)) {
    return 1;
  }
  const double most = updates_in_place(family) ? kMostImages : 1e6;
  return static_cast<int>(std::clamp(std::ceil(sample_ns / call_ns), 2.0, most));
}

std::int64_t tensor_bytes(const Family& family, const Axes& axes) {
  std::int64_t bytes = 0;
  for (const TensorSpec& tensor : family.tensors) {
    bytes += dtype_bytes(tensor.dtype) * element_count(tensor, axes);
  }
  return bytes;
}

std::optional<Failure> check_scratch(const std::vector<std::int64_t>& bytes) {
  const double all = std::accumulate(bytes.begin(), bytes.end(), 0.0);
  const double memory = static_cast<double>(physical_memory_bytes());
  if (all <= memory) {
    return std::nullopt;
  }
  return Failure{.outcome = Outcome::out_of_memory,
                 .evidence = "cannot allocate " + format_bytes(all) + " of scratch: this machine has " +
                             format_bytes(memory) + " of memory"};
}

namespace {

constexpr std::size_t kShown = 12;  // digits of a hash

}  // namespace

std::optional<Failure> check_object(const Build& build) {
  if (!build.plan.has_device_code_only() || build.object_hash.empty() || !guard_is_on(Guard::code)) {
    return std::nullopt;
  }
  const std::string found = sha256(read_file(build.object_path));
  if (found == build.object_hash) {
    return std::nullopt;
  }
  return Failure{.outcome = Outcome::faulted,
                 .evidence = "'" + build.object_path + "' is not what was built: its sha256 is " +
                             found.substr(0, kShown) + " instead of " + build.object_hash.substr(0, kShown)};
}

}  // namespace apo
