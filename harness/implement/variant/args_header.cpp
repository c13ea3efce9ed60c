// harness/implement/variant/args_header.cpp - writes the struct and the constants that a variant includes.
#include "harness/implement/variant/args_header.h"

#include <algorithm>

#include "harness/core/sources.h"
#include "harness/implement/variant/settings.h"

namespace apo {
namespace {

// The toolkit's headers of the element types.
std::string element_headers(const Family& family, Target target) {
  if (target != Target::cuda) {
    return "";
  }
  std::string text = "#include <cuda_bf16.h>\n";
  const auto uses = [&](DType dtype) {
    return std::ranges::find(family.tensors, dtype, &TensorSpec::dtype) != family.tensors.end();
  };
  text += uses(DType::f16) ? "#include <cuda_fp16.h>\n" : "";
  return text + (uses(DType::e4m3) || uses(DType::e5m2) ? "#include <cuda_fp8.h>\n" : "");
}

void add_tensors(const Family& family, Target target, bool outputs, std::vector<ArgumentField>& fields) {
  for (const TensorSpec& tensor : arguments_of(family)) {
    if ((tensor.role == Role::output) == outputs) {
      fields.push_back({.type = (outputs ? "" : "const ") + element_type(tensor.dtype, target) + "*",
                        .name = tensor.name,
                        .comment = tensor.shape_text + " " + std::string(to_string(tensor.dtype))});
    }
  }
}

std::string integer_type(const Variant& variant) {
  return is_device_variant(variant) ? "long long" : "int64_t";  // NVRTC has no <stdint.h>
}

// Everything but the constants.
std::string beginning(const Family& family, const Variant& variant) {
  std::string text = "// " + args_header_name(family) + " - generated from the contract of " + family.name + " for " +
                     variant.id() + "; do not edit.\n#pragma once\n";
  text += is_device_variant(variant) ? "" : "#include \"kernels/abi.h\"\n";
  text += element_headers(family, variant.target);
  text += "struct " + family.name + "_args {\n";
  for (const ArgumentField& field : argument_fields(family, variant)) {
    text += (field.scalar ? "  alignas(8) " : "  ") + field.type + " " + field.name + ";" +
            (field.comment.empty() ? "" : "  // " + field.comment) + "\n";
  }
  return text + "};\n";
}

std::string constant(const Variant& variant, const std::string& name, const std::string& value) {
  return "inline constexpr " + integer_type(variant) + " " + name + " = " + value + ";\n";
}

// A toggle is a macro, so that it may switch a whole kernel.
std::string constant(const Variant& variant, const Tunable& tunable, const std::string& value) {
  return tunable.technique.empty() ? constant(variant, tunable.name, value)
                                   : "#define " + tunable.name + " " + value + "\n";
}

std::string end(const Variant& variant) {
  return is_device_variant(variant) ? "" : "#define APO_EXPORT extern \"C\" __attribute__((visibility(\"default\")))\n";
}

}  // namespace

const ElementNames& element_names(DType dtype) {
  // NVRTC has no <stdint.h>.
  static constexpr ElementNames kNames[] = {{DType::f64, "double", "double", 2},
                                            {DType::f32, "float", "float", 2},
                                            {DType::f16, "uint16_t", "__half", 2},
                                            {DType::bf16, "uint16_t", "__nv_bfloat16", 4},
                                            {DType::e4m3, "uint8_t", "__nv_fp8_e4m3", 10},
                                            {DType::e5m2, "uint8_t", "__nv_fp8_e5m2", 12},
                                            {DType::i64, "int64_t", "long long", 0},
                                            {DType::i32, "int", "int", 0},
                                            {DType::i16, "short", "short", 0},
                                            {DType::i8, "signed char", "signed char", 0},
                                            {DType::u8, "unsigned char", "unsigned char", 1},
                                            {DType::boolean, "bool", "bool", 6}};
  return *std::ranges::find(kNames, dtype, &ElementNames::dtype);
}

std::string element_type(DType dtype, Target target) {
  const ElementNames& names = element_names(dtype);
  return target == Target::cuda ? names.cuda : names.host;
}

std::vector<ArgumentField> argument_fields(const Family& family, const Variant& variant) {
  std::vector<ArgumentField> fields;
  add_tensors(family, variant.target, false, fields);
  add_tensors(family, variant.target, true, fields);
  for (const ScratchBuffer& buffer : variant.scratch) {
    fields.push_back({.type = "void*", .name = buffer.name, .comment = "scratch, " + buffer.bytes + " bytes"});
  }
  for (const ScalarSpec& scalar : family.scalars) {
    fields.push_back(
        {.type = element_type(scalar.dtype, variant.target), .name = scalar.name, .comment = "", .scalar = true});
  }
  for (const AxisSpec& axis : family.axes) {
    fields.push_back({.type = integer_type(variant), .name = axis.name, .comment = ""});
  }
  return fields;
}

std::string args_header_name(const Family& family) {
  return family.name + ".args.h";
}

std::vector<std::string> constant_names(const Family& family, const Variant& variant) {
  std::vector<std::string> names;
  for (const AxisSpec& axis : family.axes) {
    if (axis.specialised) {
      names.push_back("k" + axis.name);
    }
  }
  for (const Tunable& tunable : variant.tunables) {
    names.push_back(tunable.name);
  }
  return names;
}

std::string args_header(const Family& family, const Variant& variant, const Axes& axes, const Settings& settings) {
  std::string text = beginning(family, variant);
  for (const AxisSpec& axis : family.axes) {
    text += axis.specialised ? constant(variant, "k" + axis.name, std::to_string(axes.at(axis.name))) : "";
  }
  const Settings resolved = resolve_settings(variant, settings);
  for (const Tunable& tunable : variant.tunables) {
    text += constant(variant, tunable, std::to_string(resolved.at(tunable.name)));
  }
  return text + end(variant);
}

std::string exported_args_header(const Family& family, const Variant& variant) {
  std::string text = beginning(family, variant);
  for (const AxisSpec& axis : family.axes) {
    // Undeclared where -D is missing, and named in the compiler's error.
    text += axis.specialised ? constant(variant, "k" + axis.name, "APO_k" + axis.name) : "";
  }
  for (const Tunable& tunable : variant.tunables) {
    const std::string given = "APO_" + tunable.name;  // #if takes an undefined name for 0
    text += (tunable.technique.empty() ? "" : "#ifndef " + given + "\n#error \"" + given + " is missing\"\n#endif\n") +
            constant(variant, tunable, given);
  }
  return text + end(variant);
}

}  // namespace apo
