// harness/implement/args_header.cpp - writes the struct and the constants that a variant includes.
#include "harness/implement/args_header.h"

#include "harness/core/error.h"
#include "harness/implement/metadata.h"
#include "harness/implement/settings.h"

namespace apo {
namespace {

std::string_view element_type(DType dtype, Target target) {
  switch (dtype) {
    case DType::bf16:
      return target == Target::cuda ? "__nv_bfloat16" : "uint16_t";
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
  }
  check_failed("a known dtype", __FILE__, __LINE__);
}

std::string tensor_fields(const Family& family, Target target, bool outputs) {
  std::string text;
  for (const TensorSpec& tensor : family.tensors) {
    if ((tensor.role == Role::output) != outputs) {
      continue;
    }
    text += "  ";
    text += outputs ? "" : "const ";
    text += element_type(tensor.dtype, target);
    text += "* " + tensor.name + ";  // " + tensor.shape_text + " " + std::string(to_string(tensor.dtype)) + "\n";
  }
  return text;
}

std::string constant(const std::string& type, const std::string& name, std::int64_t value) {
  return "inline constexpr " + type + " " + name + " = " + std::to_string(value) + ";\n";
}

}  // namespace

std::string args_header_name(const Family& family) {
  return family.name + ".args.h";
}

std::string args_header(const Family& family, const Variant& variant, const Axes& axes, const Settings& settings) {
  const bool device = is_device_variant(variant);
  const std::string integer = device ? "long long" : "int64_t";  // NVRTC has no <stdint.h>
  std::string text = "// " + args_header_name(family) + " - generated from the contract of " + family.name + " for " +
                     variant.id() + "; do not edit.\n#pragma once\n";
  text += device ? "" : "#include \"kernels/abi.h\"\n";
  text += variant.target == Target::cuda ? "#include <cuda_bf16.h>\n" : "";
  text += "struct " + family.name + "_args {\n";
  text += tensor_fields(family, variant.target, false) + tensor_fields(family, variant.target, true);
  for (const ScratchBuffer& buffer : variant.scratch) {
    text += "  void* " + buffer.name + ";  // scratch, " + buffer.bytes + " bytes\n";
  }
  for (const AxisSpec& axis : family.axes) {
    text += "  " + integer + " " + axis.name + ";\n";
  }
  text += "};\n";
  for (const AxisSpec& axis : family.axes) {
    text += axis.specialised ? constant(integer, "k" + axis.name, axes.at(axis.name)) : "";
  }
  const Settings resolved = resolve_settings(variant, settings);
  for (const Tunable& tunable : variant.tunables) {
    text += constant(integer, tunable.name, resolved.at(tunable.name));
  }
  text += device ? "" : "#define APO_EXPORT extern \"C\" __attribute__((visibility(\"default\")))\n";
  return text;
}

}  // namespace apo
