// harness/applications/kernel_signature.cpp - types of numbers, and declarations as people and mangled symbols have
// them.
#include "harness/applications/kernel_signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/profile/application/application_summary.h"

namespace apo {
namespace {

struct NumberType {
  const char* name;
  DType dtype;
  std::int64_t bytes;  // also its alignment
};
// Vectors are numbers of their elements.
constexpr NumberType kTypes[] = {{"float", DType::f32, 4},
                                 {"double", DType::f64, 8},
                                 {"__half", DType::f16, 2},
                                 {"half", DType::f16, 2},
                                 {"c10::Half", DType::f16, 2},
                                 {"__nv_bfloat16", DType::bf16, 2},
                                 {"c10::BFloat16", DType::bf16, 2},
                                 {"__nv_fp8_e4m3", DType::e4m3, 1},
                                 {"__nv_fp8_e5m2", DType::e5m2, 1},
                                 {"int", DType::i32, 4},
                                 {"unsigned int", DType::i32, 4},
                                 {"unsigned", DType::i32, 4},
                                 {"int32_t", DType::i32, 4},
                                 {"long", DType::i64, 8},
                                 {"unsigned long", DType::i64, 8},
                                 {"long long", DType::i64, 8},
                                 {"unsigned long long", DType::i64, 8},
                                 {"int64_t", DType::i64, 8},
                                 {"size_t", DType::i64, 8},
                                 {"short", DType::i16, 2},
                                 {"int16_t", DType::i16, 2},
                                 {"char", DType::i8, 1},
                                 {"signed char", DType::i8, 1},
                                 {"int8_t", DType::i8, 1},
                                 {"unsigned char", DType::u8, 1},
                                 {"uint8_t", DType::u8, 1},
                                 {"bool", DType::boolean, 1},
                                 {"float2", DType::f32, 8},
                                 {"float4", DType::f32, 16},
                                 {"__half2", DType::f16, 4},
                                 {"__nv_bfloat162", DType::bf16, 4}};

const NumberType* find_type(const std::string& name) {
  const auto* const found =
      std::ranges::find(kTypes, name, [](const NumberType& one) -> std::string { return one.name; });
  return found == std::end(kTypes) ? nullptr : found;
}

// At commas that stand in no brackets.
std::vector<std::string> split_parameters(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char letter : text) {
    depth += letter == '<' || letter == '(' ? 1 : letter == '>' || letter == ')' ? -1 : 0;
    if (letter == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  std::erase_if(parts, [](const std::string& part) { return trim(part).empty(); });
  return parts;
}

// "const float* __restrict__ x", "float const*", "int".
KernelParameter parameter(const std::string& text, std::size_t number) {
  KernelParameter found{.name = fmt::format("p{}", number)};
  std::vector<std::string> words = split_words(replace_all(text, "*", " * "));
  found.is_pointer = std::erase(words, "*") == 1;
  found.is_const = std::erase(words, "const") > 0;
  std::erase_if(words, [](const std::string& word) { return word == "__restrict__" || word == "restrict"; });
  found.type = join(words, " ");
  if (find_type(found.type) == nullptr && words.size() > 1) {
    found.name = words.back();
    words.pop_back();
    found.type = join(words, " ");
  }
  const NumberType* const type = find_type(found.type);
  if (type == nullptr || std::ranges::count(text, '*') > 1 || !is_identifier(found.name)) {
    throw UserError(fmt::format("the kernel's parameter {} is '{}', which is no pointer to numbers and no number",
                                number, trim(text)),
                    kDeclare);
  }
  found.dtype = type->dtype;
  return found;
}

}  // namespace

std::int64_t bytes_of(const KernelParameter& parameter) {
  return parameter.is_pointer ? 8 : find_type(parameter.type)->bytes;
}

KernelSignature kernel_signature(const std::string& declaration) {
  const std::string text = demangled(declaration);
  // The parameters are the last brackets: "(anonymous namespace)" may stand before.
  const std::size_t end = text.rfind(')');
  std::size_t begin = end == std::string::npos ? 0 : end;
  for (int depth = 0; begin > 0;) {
    depth += text[begin] == ')' ? 1 : text[begin] == '(' ? -1 : 0;
    if (depth == 0) {
      break;
    }
    --begin;
  }
  if (begin == 0) {
    throw UserError(fmt::format("'{}' does not say what parameters the kernel takes", declaration), kDeclare);
  }
  KernelSignature signature{.name = trim(text.substr(0, begin)), .parameters = {}};
  for (const char* const before : {"extern \"C\" ", "static ", "__global__ ", "void "}) {
    signature.name =
        signature.name.starts_with(before) ? trim(signature.name.substr(std::strlen(before))) : signature.name;
  }
  std::int64_t offset = 0;
  for (const std::string& one : split_parameters(text.substr(begin + 1, end - begin - 1))) {
    KernelParameter found = parameter(one, signature.parameters.size());
    const std::int64_t size = bytes_of(found);
    found.offset = (offset + size - 1) / size * size;
    offset = found.offset + size;
    signature.parameters.push_back(std::move(found));
  }
  return signature;
}

}  // namespace apo
