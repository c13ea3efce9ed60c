// harness/families/family_file_checks.cpp - holds shapes, units and workloads against each other.
#include <fmt/format.h>

#include <algorithm>

#include "harness/core/expression/expression.h"
#include "harness/core/text.h"
#include "harness/families/family_file.h"

namespace apo {
namespace {

void require(bool holds, const FamilyFile& file, const std::string& what, const std::string& hint) {
  if (!holds) {
    block_error(file.path, 1, what, hint);
  }
}

void check_extents(const FamilyFile& file, const FileTensor& tensor) {
  for (const std::string& extent : tensor.extents) {
    if (const std::string why = check_expression(extent, axis_names(file)); !why.empty()) {
      block_error(file.path, tensor.line, fmt::format("the shape of {}: {}", tensor.name, why),
                  "an expression over the axes: " + join(axis_names(file), " "));
    }
  }
  for (const Workload& workload : file.workloads) {
    for (const std::string& extent : tensor.extents) {
      const std::int64_t value = evaluate(extent, workload.axes);
      if (value < 0) {
        block_error(file.path, tensor.line,
                    fmt::format("'{}' of {} is {} in workload {}", extent, tensor.name, value, workload.name),
                    "an extent is 0, which makes the tensor empty, or more");
      }
    }
  }
}

bool is_split(const FileTensor& tensor, const FileUnitAxis& unit) {
  return tensor.role == Role::output && (unit.output.empty() || unit.output == tensor.name);
}

// A unit axis is a whole extent of every output, so that each of their elements belongs to one unit; an extent that is
// an expression in it is that in some workloads.
void check_units(const FamilyFile& file) {
  const std::vector<std::string> groups = unit_groups(file);
  for (const std::string& name : groups) {
    const bool is_output = std::ranges::any_of(
        file.tensors, [&](const FileTensor& tensor) { return tensor.role == Role::output && tensor.name == name; });
    require(name.empty() || is_output, file, fmt::format("apo:unit names the output '{}', which is none", name),
            "write '// apo:unit OUTPUT: AXIS...'");
  }
  for (const FileTensor& tensor : file.tensors) {
    require(
        groups.front().empty() || tensor.role != Role::output || std::ranges::find(groups, tensor.name) != groups.end(),
        file, fmt::format("no apo:unit line names the output {}", tensor.name), "write one for each output");
  }
  for (const FileUnitAxis& unit : file.units) {
    const auto fail = [&](int line, const std::string& what) {
      block_error(file.path, line, what,
                  "name axes along which the work falls into independent parts, or leave apo:unit out");
    };
    if (std::ranges::find(file.axes, unit.axis, &AxisSpec::name) == file.axes.end()) {
      fail(1, fmt::format("apo:unit names '{}', which is no axis", unit.axis));
    }
    for (const FileTensor& tensor : file.tensors) {
      const auto extents =
          std::ranges::count_if(tensor.extents, [&](const std::string& extent) { return has_word(extent, unit.axis); });
      if (is_split(tensor, unit) && extents == 0) {
        fail(tensor.line, fmt::format("output {} has no extent '{}', the axis of apo:unit", tensor.name, unit.axis));
      }
      for (const std::string& extent : tensor.extents) {
        const bool is_plain = std::ranges::any_of(file.workloads, [&](const Workload& workload) {
          return !has_word(extent, unit.axis) || axis_of_extent(file, extent, workload.axes) == unit.axis;
        });
        if (!is_plain) {
          fail(tensor.line, fmt::format("the extent '{}' of {} is not the plain axis '{}' of apo:unit", extent,
                                        tensor.name, unit.axis));
        }
      }
      if (extents > 1) {
        fail(tensor.line, fmt::format("{} has the axis '{}' of apo:unit twice", tensor.name, unit.axis));
      }
    }
  }
}

}  // namespace

std::vector<std::string> axis_names(const FamilyFile& file) {
  std::vector<std::string> names;
  for (const AxisSpec& axis : file.axes) {
    names.push_back(axis.name);
  }
  return names;
}

std::string axis_of_extent(const FamilyFile& file, const std::string& extent, const Axes& axes) {
  if (axes.contains(extent)) {
    return extent;
  }
  for (const FileUnitAxis& unit : file.units) {
    if (has_word(extent, unit.axis) && evaluate(extent, axes) == axes.at(unit.axis)) {
      return unit.axis;
    }
  }
  return "";
}

std::vector<std::string> unit_groups(const FamilyFile& file) {
  std::vector<std::string> groups;
  for (const FileUnitAxis& unit : file.units) {
    if (std::ranges::find(groups, unit.output) == groups.end()) {
      groups.push_back(unit.output);
    }
  }
  return groups.empty() ? std::vector<std::string>{""} : groups;
}

std::vector<FileUnitAxis> units_at(const FamilyFile& file, const Axes& axes) {
  std::vector<FileUnitAxis> units;
  for (const FileUnitAxis& unit : file.units) {
    const bool splits = std::ranges::all_of(file.tensors, [&](const FileTensor& tensor) {
      return !is_split(tensor, unit) || std::ranges::any_of(tensor.extents, [&](const std::string& extent) {
        return axis_of_extent(file, extent, axes) == unit.axis;
      });
    });
    if (splits) {
      units.push_back(unit);
    }
  }
  return units;
}

void check_family_file(FamilyFile& file) {
  const auto has = [&](Role role) {
    return std::ranges::any_of(file.tensors, [&](const FileTensor& tensor) { return tensor.role == role; });
  };
  require(!file.name.empty(), file, "no apo:family line", "start with '// apo:family NAME'");
  require(!file.axes.empty(), file, "no apo:axis line", "e.g. '// apo:axis n 1..1000000'");
  require(has(Role::input), file, "no apo:input line", "e.g. '// apo:input x f32[n] normal'");
  require(has(Role::output), file, "no apo:output line", "e.g. '// apo:output y f32[n]'");
  require(!file.workloads.empty(), file, "no apo:workload line", "e.g. '// apo:workload n1m production n=1048576'");
  std::ranges::stable_sort(file.tensors, {}, &FileTensor::role);
  for (const FileTensor& tensor : file.tensors) {
    check_extents(file, tensor);
    if (tensor.distribution.kind == DistributionKind::index) {
      const std::string why = check_expression(tensor.distribution.largest, axis_names(file));
      if (!why.empty()) {
        block_error(file.path, tensor.line, fmt::format("index(0..{}): {}", tensor.distribution.largest, why),
                    "an expression over the axes");
      }
    }
  }
  check_units(file);
  for (Workload& workload : file.workloads) {
    require(evaluate(file.legal, workload.axes) != 0, file,
            fmt::format("workload {} does not satisfy apo:requires {}", workload.name, file.legal),
            "change one of them");
    for (const WorkloadClass& each : file.classes) {
      if (workload.workload_class == "any" && evaluate(each.condition, workload.axes) != 0) {
        workload.workload_class = each.name;
      }
    }
  }
  if (file.classes.empty()) {
    file.classes = {{.name = "any", .condition = "1"}};
  }
  const bool is_plain = file.widest == ReferencePrecision::float64 && file.honest == ReferencePrecision::float32;
  require(is_plain || !file.reference_command.empty(), file, "apo:precision with a reference in C++",
          "such a reference is compiled for each precision: leave apo:precision out");
  require(file.widest != ReferencePrecision::declared || file.tolerance, file,
          "apo:precision declared without apo:tolerance",
          "a reference that only computes in the dtypes of the contract shows no error: say 'apo:tolerance rtol=1e-2 "
          "atol=1e-2'");
  require(file.reference_command.empty() || file.units.empty(), file, "apo:unit with a reference of another language",
          "such a reference computes all of the work in one run: leave apo:unit out");
}

}  // namespace apo
