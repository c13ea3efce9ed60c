// harness/core/recording/step.cpp - finds the tensors of each launch among its parameters, and puts the arm's
// operations on them.
#include "harness/core/recording/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "harness/core/base64.h"
#include "harness/core/error.h"

namespace apo {
namespace {

// Where the tensors of a launch begin in the step's memory; nullopt where it is not the kernel's on such tensors.
std::optional<std::vector<RecordedPlace>> tensors_of(const RecordedCall& step, const RecordedKernel& launch,
                                                     const RecordedKernel& kernel,
                                                     const std::vector<std::int64_t>& bytes) {
  RecordedKernel same = launch;
  same.name = kernel.name;
  same.module = kernel.module;
  same.places = kernel.places;
  if (!(same == kernel) || launch.places.size() != kernel.places.size()) {
    return std::nullopt;
  }
  std::vector<RecordedPlace> tensors(bytes.size());
  for (std::size_t i = 0; i < kernel.places.size(); ++i) {
    const RecordedPlace& of_family = kernel.places[i];
    const RecordedPlace& here = launch.places[i];
    if (here.parameter != of_family.parameter || here.in_map != of_family.in_map || here.memory < 0) {
      return std::nullopt;
    }
    if (of_family.argument < 0) {
      continue;  // memory of the kernel's own
    }
    const RecordedPlace begin{.memory = here.memory, .offset = here.offset - of_family.offset};
    const auto tensor = static_cast<std::size_t>(of_family.argument);
    const std::int64_t room = step.memory.at(static_cast<std::size_t>(here.memory)).bytes - begin.offset;
    if (tensor >= bytes.size() || begin.offset < 0 || room < bytes[tensor] ||
        (tensors[tensor].memory >= 0 && !(tensors[tensor] == begin))) {
      return std::nullopt;
    }
    tensors[tensor] = begin;
  }
  return tensors;
}

// An operation of the arm, on the tensors of one launch.
RecordedOperation on(const std::vector<RecordedPlace>& tensors, RecordedOperation operation, int first_module,
                     int first_memory) {
  const auto move = [&](RecordedPlace& place) {
    if (place.memory >= 0) {
      place.memory += first_memory;
      return;
    }
    const RecordedPlace& tensor = tensors.at(static_cast<std::size_t>(place.argument));
    place.memory = tensor.memory;
    place.offset += tensor.offset;
    place.argument = -1;
  };
  if (operation.kernel) {
    operation.kernel->module += first_module;
  }
  visit_places(operation, move);
  return operation;
}

void check_is_named(const RecordedKernel& kernel, std::size_t tensors) {
  for (std::size_t i = 0; i < tensors; ++i) {
    if (std::ranges::find(kernel.places, static_cast<int>(i), &RecordedPlace::argument) == kernel.places.end()) {
      throw UserError(fmt::format("the kernel '{}' is not given the family's tensor {}", kernel.name, i),
                      "record the family with 'apo record --kernel', which has the kernel's own tensors");
    }
  }
}

}  // namespace

RecordedCall call_of(const LaunchPlan& plan, const std::string& image, int tensors,
                     const std::vector<std::int64_t>& scratch, const std::vector<std::int64_t>& words) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  RecordedCall call{.operations = {}, .modules = {{.image = image, .variables = {}}}, .memory = {}, .device = ""};
  for (const std::int64_t bytes : scratch) {
    call.memory.push_back({.bytes = std::max<std::int64_t>(bytes, 1), .contents = "", .is_scratch = true});
  }
  const std::size_t addresses = static_cast<std::size_t>(tensors) + scratch.size();
  std::string parameters((addresses + words.size()) * kWord, '\0');
  if (!words.empty()) {
    std::memcpy(parameters.data() + addresses * kWord, words.data(), words.size() * kWord);
  }
  std::vector<RecordedPlace> places;
  for (std::size_t i = 0; i < addresses; ++i) {
    const int number = static_cast<int>(i);
    places.push_back({.parameter = number * static_cast<int>(kWord),
                      .argument = number < tensors ? number : -1,
                      .memory = number < tensors ? -1 : number - tensors});
  }
  for (const KernelLaunch& launch : plan.launches) {
    if (launch.persist > 0) {
      throw UserError(
          fmt::format("'{}' cannot be launched inside a recorded step: it keeps a tensor in the L2", launch.kernel),
          "write it as first.cu of 'apo record' is, with a function that launches it");
    }
    constexpr std::int64_t kPortableCluster = 8;
    call.operations.push_back(
        {.kernel = RecordedKernel{
             .module = 0,
             .name = launch.kernel,
             .grid = launch.grid,
             .block = launch.block,
             .cluster = launch.cluster,
             .shared_bytes = launch.shared_bytes,
             .most_shared_bytes = launch.shared_bytes,
             .non_portable_cluster = launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > kPortableCluster,
             .cooperative = launch.cooperative,
             .parameters = base64(parameters),
             .places = places}});
  }
  return call;
}

StepWith step_with(const RecordedCall& step, const RecordedKernel& kernel, const std::string& at,
                   const std::vector<std::int64_t>& bytes, const RecordedCall& arm) {
  check_is_named(kernel, bytes.size());
  StepWith with{.call = step};
  with.call.operations.clear();
  const auto first_module = static_cast<int>(step.modules.size());
  const auto first_memory = static_cast<int>(step.memory.size());
  for (const RecordedOperation& operation : step.operations) {
    const bool is_named = operation.kernel && is_symbol_of(operation.kernel->name, at);
    const auto tensors = is_named ? tensors_of(step, *operation.kernel, kernel, bytes) : std::nullopt;
    with.kept += is_named && !tensors ? 1 : 0;
    if (!tensors) {
      with.call.operations.push_back(operation);
      continue;
    }
    ++with.replaced;
    for (const RecordedOperation& one : arm.operations) {
      with.call.operations.push_back(on(*tensors, one, first_module, first_memory));
    }
  }
  if (with.replaced == 0) {
    throw UserError(with.kept > 0
                        ? fmt::format("the step launches '{}' {} times, never with the sizes and numbers of the family",
                                      at, with.kept)
                        : fmt::format("the step does not launch '{}'", at),
                    "record a launch of this step as the family ('apo record --kernel NAME --nth K'), or name another "
                    "kernel with --at");
  }
  with.call.modules.insert(with.call.modules.end(), arm.modules.begin(), arm.modules.end());
  with.call.memory.insert(with.call.memory.end(), arm.memory.begin(), arm.memory.end());
  return with;
}

}  // namespace apo
