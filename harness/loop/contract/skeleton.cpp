// harness/loop/contract/skeleton.cpp - writes the block, a reference that copies, and a variant that does the same.
#include "harness/loop/contract/skeleton.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/core/text.h"
#include "harness/families/family_file.h"
#include "harness/implement/variant/args_header.h"

namespace apo {
namespace {

// Sizes of the first workloads: of one axis, of the last of several, and of the others.
struct Sizes {
  const char* name;
  const char* kind;
  std::int64_t only;
  std::int64_t last;
  std::int64_t others;
};
constexpr std::array<Sizes, 3> kSizes = {
    {{.name = "production", .kind = "production", .only = 1 << 20, .last = 1024, .others = 256},
     {.name = "ragged", .kind = "ragged", .only = 1001, .last = 1000, .others = 7},
     {.name = "tiny", .kind = "small", .only = 1, .last = 1, .others = 1}}};

constexpr std::int64_t kLargestAxis = std::int64_t{1} << 24;

std::string axis_name(const std::string& axis) {
  return split_words(axis).empty() ? "" : split_words(axis).front();
}

// The end of the range in "rows 1..65536"; without a range the one that the skeleton writes.
std::int64_t largest_of(const std::string& axis) {
  const std::size_t dots = axis.find("..");
  const std::vector<std::string> after =
      dots == std::string::npos ? std::vector<std::string>() : split_words(axis.substr(dots + 2));
  return after.empty() ? kLargestAxis : parse_int(after.front()).value_or(kLargestAxis);
}

std::string workload_line(const Sizes& sizes, const std::vector<std::string>& axes) {
  std::string line = fmt::format("// apo:workload  {} {}", sizes.name, sizes.kind);
  // Of many axes each is shorter, so that tensors of all of them stay small.
  std::int64_t others = sizes.others;
  for (std::size_t i = 2; i < axes.size() && others > 3; ++i) {
    others = std::max<std::int64_t>(3, others / 4);
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t wanted = axes.size() == 1 ? sizes.only : i + 1 == axes.size() ? sizes.last : others;
    const std::int64_t size = std::min(wanted, largest_of(axes[i]));
    line += fmt::format(" {}={}", axis_name(axes[i]), size);
  }
  return line + "\n";
}

std::string block(const SkeletonRequest& request, const std::vector<std::string>& axes) {
  std::string text =
      fmt::format("// apo:family    {}\n// apo:idea      Say in one sentence what it computes.\n", request.name);
  for (const std::string& axis : axes) {
    text += fmt::format("// apo:axis      {}{}\n", axis,
                        split_words(axis).size() == 1 ? fmt::format(" 1..{}", kLargestAxis) : "");
  }
  for (const std::string& scalar : request.scalars) {
    text += "// apo:scalar    " + scalar + "\n";
  }
  const std::string shape = "[" +
                            join(
                                [&] {
                                  std::vector<std::string> names;
                                  std::ranges::transform(axes, std::back_inserter(names), axis_name);
                                  return names;
                                }(),
                                ",") +
                            "]";
  for (const std::string& input :
       request.inputs.empty() ? std::vector<std::string>{"x f32" + shape + " normal"} : request.inputs) {
    text += "// apo:input     " + input + "\n";
  }
  const bool has_result = !request.outputs.empty() || !request.inouts.empty();
  for (const std::string& output : has_result ? request.outputs : std::vector<std::string>{"y f32" + shape}) {
    text += "// apo:output    " + output + "\n";
  }
  for (const std::string& inout : request.inouts) {
    text += "// apo:inout     " + inout + "\n";
  }
  for (const Sizes& sizes : kSizes) {
    text += workload_line(sizes, axes);
  }
  return text;
}

std::string elements(const FileTensor& tensor) {
  return tensor.extents.empty() ? "1" : "(" + join(tensor.extents, ") * (") + ")";
}

std::vector<FileTensor> arguments_of(const FamilyFile& file) {
  std::vector<FileTensor> arguments;
  std::ranges::copy_if(file.tensors, std::back_inserter(arguments), is_argument<FileTensor>);
  return arguments;
}

// `floats` names the C++ type of a float dtype, `integers` of an integer one.
template <class Floats, class Integers>
std::vector<std::string> parameters(const FamilyFile& file, Floats floats, Integers integers) {
  std::vector<std::string> list;
  for (const FileTensor& tensor : arguments_of(file)) {
    list.push_back(fmt::format("{}{}* {}", tensor.role == Role::output ? "" : "const ",
                               is_float(tensor.dtype) ? floats(tensor.dtype) : integers(tensor.dtype), tensor.name));
  }
  return list;
}

// Every output takes the elements of the first argument in turn; what a call updates, every other one.
std::string copies(const FamilyFile& file) {
  const FileTensor input = arguments_of(file).front();
  std::string text;
  for (const FileTensor& tensor : file.tensors) {
    if (tensor.role == Role::output) {
      text += fmt::format("  for (int64_t i = 0; i < {}; {}) {{\n    {}[i] = {}[i{}];\n  }}\n", elements(tensor),
                          tensor.in_place ? "i += 2" : "++i", tensor.name, input.name,
                          tensor.extents == input.extents ? "" : fmt::format(" % ({})", elements(input)));
    }
  }
  return text;
}

std::string reference(const FamilyFile& file) {
  std::vector<std::string> list;
  for (const AxisSpec& axis : file.axes) {
    list.push_back("int64_t " + axis.name);
  }
  for (const ScalarSpec& scalar : file.scalars) {
    list.push_back((is_float(scalar.dtype) ? "Real " : "int64_t ") + scalar.name);
  }
  const auto tensors = parameters(
      file, [](DType) { return std::string("Real"); }, [](DType) { return std::string("int64_t"); });
  list.insert(list.end(), tensors.begin(), tensors.end());
  return fmt::format("template <class Real>\nvoid reference({}) {{\n{}}}\n", join(list, ", "), copies(file));
}

std::string host_type(DType dtype) {
  return element_type(dtype, Target::host);
}

std::string variant(const FamilyFile& file) {
  std::vector<std::string> list = parameters(file, host_type, host_type);
  for (const ScalarSpec& scalar : file.scalars) {
    list.push_back(host_type(scalar.dtype) + " " + scalar.name);
  }
  for (const AxisSpec& axis : file.axes) {
    list.push_back("int64_t " + axis.name);
  }
  return fmt::format(
      "// apo:variant    {}/simple\n// apo:target     host\n// apo:idea       As anyone would write it "
      "first.\n#include <cstdint>\n\nvoid {}({}) {{\n{}}}\n",
      file.name, file.name, join(list, ", "), copies(file));
}

}  // namespace

Skeleton write_skeleton(const SkeletonRequest& request) {
  const std::vector<std::string> axes = request.axes.empty() ? std::vector<std::string>{"n"} : request.axes;
  const std::string head = block(request, axes);
  const FamilyFile file = parse_family(head, request.name + ".h");
  return {.family_file = head + reference(file), .variant_file = variant(file)};
}

}  // namespace apo
