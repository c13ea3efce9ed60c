// harness/implement/variant/args_header.cpp - writes the struct and the constants that a variant includes.
#include "harness/implement/variant/args_header.h"

#include <algorithm>

#include "harness/core/error.h"
#include "harness/implement/variant/form.h"
#include "harness/implement/variant/settings.h"

namespace apo {
namespace {

std::string_view element_type(DType dtype, Target target) {
  const bool cuda = target == Target::cuda;
  switch (dtype) {
    case DType::f64:
      return "double";
    case DType::f32:
      return "float";
    case DType::f16:
      return cuda ? "__half" : "uint16_t";
    case DType::bf16:
      return cuda ? "__nv_bfloat16" : "uint16_t";
    case DType::e4m3:
      return cuda ? "__nv_fp8_e4m3" : "uint8_t";
    case DType::e5m2:
      return cuda ? "__nv_fp8_e5m2" : "uint8_t";
    case DType::i64:
      return cuda ? "long long" : "int64_t";  // NVRTC has no <stdint.h>
    case DType::i32:
      return "int";
    case DType::i16:
      return "short";
    case DType::i8:
      return "signed char";
    case DType::u8:
      return "unsigned char";
    case DType::boolean:
      return "bool";
  }
  check_failed("a known dtype", __FILE__, __LINE__);
}

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
  text += tensor_fields(family, variant.target, false) + tensor_fields(family, variant.target, true);
  for (const ScratchBuffer& buffer : variant.scratch) {
    text += "  void* " + buffer.name + ";  // scratch, " + buffer.bytes + " bytes\n";
  }
  for (const ScalarSpec& scalar : family.scalars) {
    text += "  alignas(8) " + std::string(element_type(scalar.dtype, variant.target)) + " " + scalar.name + ";\n";
  }
  for (const AxisSpec& axis : family.axes) {
    text += "  " + integer_type(variant) + " " + axis.name + ";\n";
  }
  return text + "};\n";
}

std::string constant(const Variant& variant, const std::string& name, const std::string& value) {
  return "inline constexpr " + integer_type(variant) + " " + name + " = " + value + ";\n";
}

std::string end(const Variant& variant) {
  return is_device_variant(variant) ? "" : "#define APO_EXPORT extern \"C\" __attribute__((visibility(\"default\")))\n";
}

}  // namespace

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
    text += constant(variant, tunable.name, std::to_string(resolved.at(tunable.name)));
  }
  return text + end(variant);
}

std::string exported_args_header(const Family& family, const Variant& variant) {
  std::string text = beginning(family, variant);
  for (const std::string& name : constant_names(family, variant)) {
    text +=
        constant(variant, name, "APO_" + name);  // undeclared where -D is missing, and named in the compiler's error
  }
  return text + end(variant);
}

}  // namespace apo
