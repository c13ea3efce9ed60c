// kernels/registry.cpp - the list of families, and look-ups in their contracts.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "kernels/e88/e88.h"
#include "kernels/family.h"

namespace apo {
namespace {

std::deque<Family>& mutable_families() {
  static std::deque<Family> all = {e88_forward_family(), e88_backward_family()};
  return all;
}

}  // namespace

const std::deque<Family>& families() {
  return mutable_families();
}

const Family* find_family(std::string_view name) {
  const auto& all = families();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Family& family) { return family.name == name; });
  return found == all.end() ? nullptr : &*found;
}

void add_family(Family family) {
  if (find_family(family.name) != nullptr) {
    throw std::runtime_error("there is already a family '" + family.name + "'");
  }
  mutable_families().push_back(std::move(family));
}

const Workload* find_workload(const Family& family, std::string_view name) {
  const auto found = std::find_if(family.workloads.begin(), family.workloads.end(),
                                  [&](const Workload& workload) { return workload.name == name; });
  return found == family.workloads.end() ? nullptr : &*found;
}

const TensorSpec* find_tensor(const Family& family, std::string_view name) {
  const auto found = std::find_if(family.tensors.begin(), family.tensors.end(),
                                  [&](const TensorSpec& tensor) { return tensor.name == name; });
  return found == family.tensors.end() ? nullptr : &*found;
}

const TensorSpec* find_output(const Family& family, std::string_view name) {
  const auto found = std::find_if(family.tensors.begin(), family.tensors.end(), [&](const TensorSpec& tensor) {
    return tensor.name == name && tensor.role == Role::output;
  });
  return found == family.tensors.end() ? nullptr : &*found;
}

std::vector<TensorSpec> arguments_of(const Family& family) {
  std::vector<TensorSpec> arguments;
  std::ranges::copy_if(family.tensors, std::back_inserter(arguments), is_argument<TensorSpec>);
  return arguments;
}

bool updates_in_place(const Family& family) {
  return std::ranges::any_of(family.tensors, &TensorSpec::in_place);
}

std::string_view role_word(const TensorSpec& tensor) {
  return tensor.in_place ? "inout" : tensor.role == Role::output ? "output" : "input";
}

std::string element_name(const TensorSpec& tensor, const Axes& axes, std::int64_t element) {
  const std::vector<std::int64_t> extents = tensor.shape(axes);
  std::string indices;
  for (auto extent = extents.rbegin(); extent != extents.rend(); ++extent) {
    indices = std::to_string(element % *extent) + (indices.empty() ? "" : ",") + indices;
    element /= *extent;
  }
  return tensor.name + "[" + indices + "]";
}

std::int64_t element_count(const TensorSpec& tensor, const Axes& axes) {
  std::int64_t count = 1;
  for (const std::int64_t extent : tensor.shape(axes)) {
    count *= extent;
  }
  return count;
}

std::int64_t element_count(const Family& family, const Axes& axes) {
  std::int64_t count = 0;
  for (const TensorSpec& tensor : family.tensors) {
    count += element_count(tensor, axes);
  }
  return count;
}

bool has_doubles(const Family& family) {
  return std::any_of(family.tensors.begin(), family.tensors.end(),
                     [](const TensorSpec& tensor) { return tensor.dtype == DType::f64; });
}

std::string_view to_string(Target target) {
  return target == Target::host ? "host" : "cuda";
}

std::string_view to_string(WorkloadKind kind) {
  switch (kind) {
    case WorkloadKind::small:
      return "small";
    case WorkloadKind::ragged:
      return "ragged";
    case WorkloadKind::production:
      return "production";
    case WorkloadKind::extreme:
      return "extreme";
  }
  return "?";
}

std::string describe_axes(const Axes& axes) {
  std::string text;
  for (const auto& [name, value] : axes) {
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  }
  return text;
}

std::string check_axes(const Family& family, const Axes& axes) {
  for (const AxisSpec& axis : family.axes) {
    const auto found = axes.find(axis.name);
    if (found == axes.end()) {
      return "axis " + axis.name + " has no value";
    }
    if (found->second < axis.min || found->second > axis.max) {
      return "axis " + axis.name + " = " + std::to_string(found->second) + " is outside " + std::to_string(axis.min) +
             ".." + std::to_string(axis.max);
    }
  }
  for (const auto& entry : axes) {
    const std::string& name = entry.first;  // a binding could not be captured below: clang 14
    const bool known =
        std::any_of(family.axes.begin(), family.axes.end(), [&](const AxisSpec& axis) { return axis.name == name; });
    if (!known) {
      return "family " + family.name + " has no axis " + name;
    }
  }
  return family.invalid ? family.invalid(axes) : "";
}

}  // namespace apo
