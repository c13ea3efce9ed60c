// harness/applications/recorded_texts.cpp - the files of a recorded family: its own, and those of its first variants.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "harness/applications/recorded_family.h"
#include "harness/core/base64.h"
#include "harness/core/error.h"
#include "harness/core/text.h"

namespace apo {
namespace {

std::string one_sentence(const RecordedFamily& family) {
  const std::string what = family.signature
                               ? "The kernel " + family.signature->name
                               : fmt::format("The {} operations of a range", family.call.operations.size());
  return one_line(cut_middle(what + ", as this program launched it: " + family.program, "...",
                             [](const std::string& text) { return text.size() <= 160; }));
}

// The value of a number among the parameters, as code.
std::string literal(const KernelParameter& parameter, const std::string& bytes) {
  const auto value = [&]<class Number>(Number number) {
    std::memcpy(&number, bytes.data() + parameter.offset, sizeof number);
    return number;
  };
  switch (parameter.dtype) {
    case DType::f64:
      return fmt::format("{:a}", value(0.0));
    case DType::f32:
      return fmt::format("{:a}f", value(0.0F));
    case DType::i64:
      return fmt::format("{}ll", value(std::int64_t{0}));
    case DType::i32:
      return fmt::format("static_cast<{}>({})", parameter.type, value(std::int32_t{0}));
    case DType::i16:
      return fmt::format("static_cast<{}>({})", parameter.type, value(std::int16_t{0}));
    case DType::i8:
    case DType::u8:
    case DType::boolean:
      return fmt::format("static_cast<{}>({})", parameter.type, static_cast<int>(value(std::uint8_t{0})));
    default:
      throw UserError(
          fmt::format("the kernel takes the number '{}' of type {} by value, which no variant is written with",
                      parameter.name, parameter.type),
          "write the variant's launch yourself");
  }
}

std::string dim3_text(const std::array<std::int64_t, 3>& sizes) {
  return fmt::format("dim3({}, {}, {})", sizes[0], sizes[1], sizes[2]);
}

std::string pointer_type(const KernelParameter& parameter) {
  return (parameter.is_const ? "const " : "") + parameter.type + "*";
}

}  // namespace

std::string family_text(const RecordedFamily& family, const std::string& answer, const std::string& record) {
  std::string text =
      fmt::format("// apo:family {}\n// apo:idea {}\n// apo:axis recorded 1..1\n", family.name, one_sentence(family));
  for (const RecordedTensor& tensor : family.tensors) {
    text += fmt::format("// apo:{} {} {}[{}] fill\n", tensor.is_written ? "inout" : "input", tensor.name,
                        to_string(tensor.dtype), tensor.elements);
  }
  return text +
         fmt::format(
             "// apo:workload recorded production recorded=1\n// apo:reference {} {}\n\n"
             "// Held against the recorded operations, not against fp64. Inputs are the recorded values, in every "
             "draw times\n// other factors around 1, or numbers between 0 and 1 in the place of nothing but zeros; "
             "integers are as they were recorded.\n",
             answer, record);
}

std::string recorded_variant_text(const RecordedFamily& family, const std::string& object) {
  return fmt::format("// apo:variant {}/recorded\n// apo:target cuda\n// apo:idea {}\n// apo:record {}\n", family.name,
                     one_sentence(family), object);
}

std::string first_variant_text(const RecordedFamily& family, const std::string& source) {
  if (!family.signature) {
    return "";
  }
  const KernelSignature& signature = *family.signature;
  const RecordedKernel& kernel = *family.call.operations.front().kernel;
  const std::string bytes = bytes_of_base64(kernel.parameters).value_or("");
  std::vector<std::string> declared;
  std::vector<std::string> taken;
  std::vector<std::string> given;
  std::set<std::string> named;
  for (const KernelParameter& parameter : signature.parameters) {
    const auto place = std::ranges::find(kernel.places, parameter.offset, &RecordedPlace::parameter);
    declared.push_back((parameter.is_pointer ? pointer_type(parameter) : parameter.type) + " " + parameter.name);
    if (!parameter.is_pointer) {
      given.push_back(literal(parameter, bytes));
    } else if (place == kernel.places.end() || place->argument < 0) {
      given.emplace_back("nullptr");
    } else {
      const RecordedTensor& tensor = family.tensors.at(static_cast<std::size_t>(place->argument));
      given.push_back(tensor.name +
                      (place->offset == 0 ? "" : fmt::format(" + {}", place->offset / dtype_bytes(tensor.dtype))));
      if (named.insert(tensor.name).second) {
        taken.push_back((tensor.is_written ? "" : "const ") + parameter.type + "* " + tensor.name);
      }
    }
  }
  const std::string called =
      source.empty() ? family.name + "_kernel" : replace_all(signature.name, "(anonymous namespace)::", "");
  const std::string head = fmt::format(
      "// apo:variant {}/first\n// apo:target cuda\n// apo:parent {}/recorded\n// apo:idea The kernel of the "
      "recording, "
      "to be changed.\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n\n",
      family.name, family.name);
  const std::string body =
      source.empty()
          ? fmt::format("extern \"C\" __global__ void {}({}) {{\n  // write what the recorded kernel does\n}}\n",
                        called, join(declared, ", "))
          : source + (source.ends_with('\n') ? "" : "\n");
  constexpr std::int64_t kUsualShared = 48 << 10;
  const std::string room =
      kernel.shared_bytes > kUsualShared
          ? fmt::format("  cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, {});\n", called,
                        kernel.shared_bytes)
          : "";
  return head + body +
         fmt::format("\nvoid {}({}, cudaStream_t stream) {{\n{}  {}<<<{}, {}, {}, stream>>>({});\n}}\n", family.name,
                     join(taken, ", "), room, called, dim3_text(kernel.grid), dim3_text(kernel.block),
                     kernel.shared_bytes, join(given, ", "));
}

}  // namespace apo
