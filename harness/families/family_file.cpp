// harness/families/family_file.cpp - reads a family's block line by line, then checks it as a whole.
#include "harness/families/family_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/core/error.h"
#include "harness/core/expression/expression.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/families/draw_inputs.h"
#include "harness/implement/variant/headers.h"

namespace apo {
namespace {

// The words of the reference's command that are files beside the family's: they are part of the contract.
std::vector<SourceFile> read_scripts(const FamilyFile& file) {
  std::vector<SourceFile> scripts;
  for (const std::string& word : file.reference_command) {
    const std::filesystem::path path = std::filesystem::path(file.path).parent_path() / word;
    std::error_code error;
    if (word.find('/') == std::string::npos && std::filesystem::is_regular_file(path, error)) {
      scripts.push_back({.name = word, .text = read_file(path), .path = path.string()});
    }
  }
  return scripts;
}

// A command's error does not cover hardware that flushes denormal numbers. Nor does it, or a tolerance in numbers,
// cover other orders of a sum, which a common offset makes large.
void leave_out_uncovered_regimes(FamilyFile& file) {
  const bool is_command = !file.reference_command.empty();
  const bool in_numbers = file.tolerance && !file.tolerance->is_derived;
  std::erase_if(file.regimes, [&](const std::string& regime) {
    const bool is_far = regime == "offset" || regime == "negative_offset" || regime == "largest";
    return (is_command && regime == "denormal") || ((is_command || in_numbers) && is_far);
  });
}

// Keeps the regimes that change an input, so that no message names one that did nothing.
void leave_out_idle_regimes(FamilyFile& file) {
  const auto has_special = [](const FileTensor& tensor) { return tensor.distribution.special.any(); };
  const bool lists_special = std::ranges::find(file.regimes, "special") != file.regimes.end();
  if (!lists_special && std::ranges::any_of(file.tensors, has_special)) {
    file.regimes.emplace_back("special");  // which the contract speaks of
  }
  std::erase_if(file.regimes, [&](const std::string& regime) {
    return regime != "typical" && std::ranges::none_of(file.tensors, [&](const FileTensor& tensor) {
             return tensor.role == Role::input && changes(regime, tensor.distribution, tensor.dtype);
           });
  });
}

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

// One more than the axis, as row pointers are: a part has the begin of each of its entries and the end of the last.
bool is_ends(const std::string& extent, const FileUnitAxis& unit, Axes axes) {
  const std::int64_t more = evaluate(extent, axes) - axes.at(unit.axis)++;
  return more == 1 && evaluate(extent, axes) - axes.at(unit.axis) == 1;
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
          return !has_word(extent, unit.axis) ||
                 (axis_of_extent(file, extent, workload.axes) == unit.axis &&
                  !(tensor.role == Role::output && is_ends(extent, unit, workload.axes)));
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

bool holds_special_values(const FamilyFile& file) {
  return std::ranges::any_of(file.tensors,
                             [](const FileTensor& tensor) { return tensor.distribution.special.any_not_finite(); });
}

bool draws_outputs(const FamilyFile& file) {
  return std::ranges::any_of(file.tensors, &FileTensor::random);
}

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
    if (has_word(extent, unit.axis) && (evaluate(extent, axes) == axes.at(unit.axis) || is_ends(extent, unit, axes))) {
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
  require(has(Role::input), file, "no apo:input line", "e.g. '// apo:input x f32[n] normal'; apo:inout is one too");
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
  require(file.reference_command.empty() || !draws_outputs(file), file,
          "apo:random with a reference of another language", "what is drawn is said in C++, with drawn(p, a, b)");
  require(file.reference_command.empty() || file.units.empty(), file, "apo:unit with a reference of another language",
          "such a reference computes all of the work in one run: leave apo:unit out");
}

FamilyFile parse_family(std::string_view text, const std::string& path) {
  FamilyFile file{.path = path, .text = std::string(text)};
  file.regimes = known_regimes();
  const std::vector<BlockLine> block = read_block(text, path);
  read_family_lines(file, block);
  if (!file.names_regimes) {
    leave_out_uncovered_regimes(file);
  }
  check_family_file(file);
  leave_out_idle_regimes(file);
  file.headers = file.reference_command.empty() ? find_headers(text, path, file.name, {}) : read_scripts(file);
  return file;
}

FamilyFile load_family_file(const std::string& path) {
  const std::filesystem::path absolute = std::filesystem::absolute(path).lexically_normal();
  const std::string text = read_file(absolute);
  if (text.size() > kMaxSourceBytes) {
    throw UserError(fmt::format("'{}' is larger than {} bytes", path, kMaxSourceBytes), "give the family's file");
  }
  if (is_binary(text) || text.find("apo:family") == std::string::npos) {
    throw UserError("'" + path + "' is not a family file: it has no line '// apo:family NAME'",
                    "give a file that begins with that line; 'apo new NAME' writes one");
  }
  return parse_family(text, absolute.string());
}

bool is_family_file(std::string_view text) {
  const std::string line = first_block_line(text, "//");
  return line.starts_with("apo:family ") || line.starts_with("apo:family\t");
}

std::string contract_text(const FamilyFile& file) {
  std::string text = file.text;
  for (const SourceFile& header : file.headers) {
    text += "// " + header.name + "\n" + header.text;
  }
  return text;
}

std::string unit_line(const std::vector<FileUnitAxis>& units) {
  std::string line = "// apo:unit";
  for (const FileUnitAxis& unit : units) {
    line += unit.block == 1 ? " " + unit.axis : fmt::format(" {}/{}", unit.axis, unit.block);
  }
  return line;
}

std::string regimes_line(const std::vector<std::string>& left_out) {
  return "// apo:regimes all but " + join(left_out, " ");
}

FamilyFile with_found(const FamilyFile& file, const std::vector<FileUnitAxis>& units,
                      const std::vector<std::string>& left_out) {
  std::vector<std::string> lines = split(file.text, '\n');
  const auto end = lines.begin() + read_block(file.text, file.path).back().number;
  std::vector<std::string> found;
  FamilyFile whole = file;
  if (!units.empty()) {
    found.push_back(unit_line(units));
    whole.units = units;
  }
  if (!left_out.empty()) {
    found.push_back(regimes_line(left_out));
    whole.no_regimes = left_out;
    std::erase_if(whole.regimes,
                  [&](const std::string& name) { return std::ranges::find(left_out, name) != left_out.end(); });
  }
  lines.insert(end, found.begin(), found.end());
  whole.text = join(lines, "\n");
  return whole;
}

}  // namespace apo
