// harness/applications/recorded_family.cpp - types, places of addresses, and stretches that the call changed.
#include "harness/applications/recorded_family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "harness/core/base64.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/profile/application/application_summary.h"

namespace apo {
namespace {

constexpr const char* kDeclare = "say them with --declaration 'NAME(const float* x, float* y, int n)'";

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

const RecordedKernel* only_kernel(const RecordedCall& call) {
  return call.operations.size() == 1 && call.operations.front().kernel ? &*call.operations.front().kernel : nullptr;
}

// The symbol of C code and of Triton says nothing about parameters: nullopt.
std::optional<KernelSignature> signature_of(const RecordedKernel& kernel) {
  const std::string readable = demangled(kernel.name);
  return readable == kernel.name ? std::nullopt : std::optional(kernel_signature(readable));
}

// A tensor begins wherever an address of it was given.
struct Begin {
  KernelParameter parameter;
  bool is_mutable = false;  // some kernel takes it by a pointer that is not const
};
using Begins = std::map<std::pair<int, std::int64_t>, Begin>;  // by memory and byte

void add_begins(Begins& begins, const RecordedKernel& kernel, const KernelSignature& signature) {
  for (const KernelParameter& parameter : signature.parameters) {
    const auto place = std::ranges::find(kernel.places, parameter.offset, &RecordedPlace::parameter);
    if (parameter.is_pointer && place != kernel.places.end() && place->memory >= 0 && !place->in_map) {
      Begin& begin = begins.try_emplace({place->memory, place->offset}, Begin{.parameter = parameter}).first->second;
      begin.is_mutable = begin.is_mutable || !parameter.is_const;
    }
  }
}

void check_fits(const RecordedKernel& kernel, const KernelSignature& signature) {
  const auto bytes = std::ssize(bytes_of_base64(kernel.parameters).value_or(""));
  for (const KernelParameter& parameter : signature.parameters) {
    const std::int64_t size = parameter.is_pointer ? 8 : find_type(parameter.type)->bytes;
    if (parameter.offset + size > bytes) {
      throw UserError(fmt::format("the launch of {} has {} bytes of parameters, and '{}' lies behind them",
                                  signature.name, bytes, parameter.name),
                      kDeclare);
    }
  }
}

// Up to the last byte of [offset, end) that the call changed; `offset` where it changed none.
std::int64_t written_until(const ProgramCall& call, int memory, std::int64_t offset, std::int64_t end) {
  std::int64_t written = offset;
  for (const auto& [first, last] : call.written.at(static_cast<std::size_t>(memory))) {
    written = last > offset && first < end ? std::min(last, end) : written;
  }
  return written;
}

// Up to the next tensor, or to the last byte of it that was written.
std::int64_t bytes_from(const ProgramCall& call, const Begins& begins, Begins::const_iterator begin, bool& is_written) {
  const auto [memory, offset] = begin->first;
  const auto index = static_cast<std::size_t>(memory);
  const auto next = std::next(begin);
  const std::int64_t end =
      next != begins.end() && next->first.first == memory ? next->first.second : call.call.memory.at(index).bytes;
  const std::int64_t written = written_until(call, memory, offset, end);
  is_written = begin->second.is_mutable && written > offset;
  return (is_written ? written : end) - offset;
}

std::string bytes_at(const RecordedMemory& memory, std::int64_t offset, std::int64_t bytes) {
  return memory.contents.empty()
             ? std::string(static_cast<std::size_t>(bytes), '\0')
             : memory.contents.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes));
}

std::vector<RecordedTensor> tensors_of(const ProgramCall& call, const Begins& begins, const RecordedOptions& options) {
  std::vector<RecordedTensor> tensors;
  std::set<std::string> names;
  for (auto begin = begins.begin(); begin != begins.end(); ++begin) {
    const KernelParameter& parameter = begin->second.parameter;
    RecordedTensor tensor{
        .name = names.insert(parameter.name).second ? parameter.name : fmt::format("t{}", tensors.size()),
        .dtype = parameter.dtype,
        .memory = begin->first.first,
        .offset = begin->first.second};
    const std::int64_t width = dtype_bytes(tensor.dtype);
    const RecordedMemory& memory = call.call.memory.at(static_cast<std::size_t>(tensor.memory));
    tensor.elements = (bytes_from(call, begins, begin, tensor.is_written) + width - 1) / width;
    if (const auto given = options.elements.find(tensor.name); given != options.elements.end()) {
      tensor.elements = given->second;
    }
    tensor.elements = std::min(tensor.elements, (memory.bytes - tensor.offset) / width);
    if (tensor.elements < 1) {
      throw UserError(fmt::format("'{}' has no element: its address is the end of its memory", tensor.name), kDeclare);
    }
    tensor.bytes = bytes_at(memory, tensor.offset, tensor.elements * width);
    tensors.push_back(std::move(tensor));
  }
  std::ranges::stable_sort(tensors, {}, &RecordedTensor::is_written);
  return tensors;
}

// As the program's marks say. What is named twice is one tensor.
std::vector<RecordedTensor> named_tensors(const ProgramCall& call) {
  constexpr const char* kMark = "name each stretch of memory once, as 'apo:input x bf16[4096] ADDRESS'";
  std::vector<RecordedTensor> tensors;
  for (const NamedMemory& named : call.named) {
    const std::optional<DType> dtype = find_dtype(named.dtype);
    const RecordedMemory& memory = call.call.memory.at(static_cast<std::size_t>(named.memory));
    if (!dtype || named.elements > (memory.bytes - named.offset) / dtype_bytes(*dtype)) {
      throw UserError(fmt::format("the mark of '{}' says {}[{}], and its memory has {} bytes from there on", named.name,
                                  named.dtype, named.elements, memory.bytes - named.offset),
                      kMark);
    }
    const std::int64_t bytes = named.elements * dtype_bytes(*dtype);
    const std::int64_t end = named.offset + bytes;
    RecordedTensor tensor{
        .name = named.name,
        .dtype = *dtype,
        .elements = named.elements,
        .is_written = named.is_output || written_until(call, named.memory, named.offset, end) > named.offset,
        .memory = named.memory,
        .offset = named.offset,
        .bytes = bytes_at(memory, named.offset, bytes)};
    const auto other = std::ranges::find_if(tensors, [&](const RecordedTensor& one) {
      return one.name == tensor.name || (one.memory == tensor.memory && one.offset < end &&
                                         tensor.offset < one.offset + one.elements * dtype_bytes(one.dtype));
    });
    if (other == tensors.end()) {
      tensors.push_back(std::move(tensor));
    } else if (other->offset == tensor.offset && other->elements == tensor.elements && other->dtype == tensor.dtype) {
      other->is_written = other->is_written || tensor.is_written;
    } else {
      throw UserError(fmt::format("the marks of '{}' and '{}' overlap", other->name, tensor.name), kMark);
    }
  }
  std::ranges::stable_sort(tensors, {}, &RecordedTensor::is_written);
  return tensors;
}

// What the tensor held when the call had ended.
std::string result_of(const ProgramCall& call, const RecordedTensor& tensor) {
  std::string result = tensor.bytes;
  const auto memory = static_cast<std::size_t>(tensor.memory);
  std::int64_t at = 0;  // in the results
  for (const auto& [begin, end] : call.written.at(memory)) {
    const std::int64_t first = std::max(begin, tensor.offset);
    const std::int64_t last = std::min(end, tensor.offset + std::ssize(result));
    if (first < last) {
      call.results.at(memory).copy(result.data() + (first - tensor.offset), static_cast<std::size_t>(last - first),
                                   static_cast<std::size_t>(at + first - begin));
    }
    at += end - begin;
  }
  return result;
}

// Addresses within a tensor become those of an argument; memory that no other address names goes.
RecordedCall on_arguments(RecordedCall call, const std::vector<RecordedTensor>& tensors) {
  std::vector<int> left(call.memory.size(), -1);
  std::vector<RecordedMemory> kept;
  const auto move = [&](RecordedPlace& place) {
    const auto of = std::ranges::find_if(tensors, [&](const RecordedTensor& tensor) {
      const std::int64_t bytes = tensor.elements * dtype_bytes(tensor.dtype);
      return tensor.memory == place.memory && place.offset >= tensor.offset && place.offset < tensor.offset + bytes;
    });
    if (place.memory >= 0 && of != tensors.end()) {
      place.argument = static_cast<int>(of - tensors.begin());
      place.offset -= of->offset;
      place.memory = -1;
    } else if (place.memory >= 0) {
      const auto from = static_cast<std::size_t>(place.memory);
      if (left[from] < 0) {
        left[from] = static_cast<int>(kept.size());
        kept.push_back(call.memory[from]);
      }
      place.memory = left[from];
    }
  };
  for (RecordedOperation& operation : call.operations) {
    if (operation.kernel) {
      std::ranges::for_each(operation.kernel->places, move);
      continue;
    }
    move(operation.to);
    if (operation.from) {
      move(*operation.from);
    }
  }
  call.memory = std::move(kept);
  return call;
}

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
    const std::int64_t size = found.is_pointer ? 8 : find_type(found.type)->bytes;
    found.offset = (offset + size - 1) / size * size;
    offset = found.offset + size;
    signature.parameters.push_back(std::move(found));
  }
  return signature;
}

RecordedFamily recorded_family(const ProgramCall& call, const RecordedOptions& options) {
  RecordedFamily family{.name = options.name, .program = call.program, .tensors = {}, .signature = {}, .call = {}};
  Begins begins;
  const RecordedKernel* const only = only_kernel(call.call);
  if (only == nullptr && !options.declaration.empty()) {
    throw UserError("--declaration is of one kernel, and the range has several operations", "leave it out");
  }
  for (const RecordedOperation& operation : call.call.operations) {
    if (!operation.kernel) {
      continue;
    }
    try {
      const std::optional<KernelSignature> signature =
          options.declaration.empty() ? signature_of(*operation.kernel) : kernel_signature(options.declaration);
      if (signature) {
        check_fits(*operation.kernel, *signature);
        add_begins(begins, *operation.kernel, *signature);
      }
      family.signature = only != nullptr ? signature : std::nullopt;
    } catch (const UserError&) {
      if (only != nullptr && call.named.empty()) {
        throw;
      }  // what other kernels of the range take tells its tensors, too
    }
  }
  if (begins.empty() && call.named.empty()) {
    throw UserError(
        fmt::format("the types of what '{}' works on are not known", only != nullptr ? only->name : "the range"),
        only != nullptr ? kDeclare : "name it in the range: nvtxMark(\"apo:output y bf16[4096] ADDRESS\")");
  }
  family.tensors = call.named.empty() ? tensors_of(call, begins, options) : named_tensors(call);
  for (RecordedTensor& tensor : family.tensors) {
    tensor.result = result_of(call, tensor);
  }
  if (std::ranges::none_of(family.tensors, &RecordedTensor::is_written)) {
    throw UserError("the call changes none of its tensors", "record it on other values than the call before it");
  }
  for (const auto& [name, elements] : options.elements) {
    if (std::ranges::find(family.tensors, name, &RecordedTensor::name) == family.tensors.end()) {
      throw UserError(fmt::format("--elements names '{}', which is no tensor of the call", name), kDeclare);
    }
  }
  family.call = on_arguments(call.call, family.tensors);
  return family;
}

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
             "draw times\n// other factors around 1; integers are as they were recorded.\n",
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
