// harness/implement/plain_call.cpp - writes the calls, from the most arguments to the fewest.
#include "harness/implement/plain_call.h"

#include <fmt/format.h>

#include <string_view>

#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/implement/cached_build.h"
#include "harness/implement/object/elf.h"
#include "harness/implement/variant/args_header.h"

namespace apo {
namespace {

// No file of a variant begins with a dot.
std::string plain_name(const Variant& variant) {
  return variant.target == Target::cuda ? ".plain.cu" : ".plain.cpp";
}

// The first call that the compiler can make is made; the last one stands for all in its message. A fraction that
// becomes an integer on the way is a parameter in the wrong place.
constexpr std::string_view kCalls = R"(
#pragma GCC diagnostic error "-Wfloat-conversion"
#define APO_CALL(...)                                                                                \
  if constexpr (requires {{ static_cast<int>({family}(__VA_ARGS__)); }}) {{                              \
    return static_cast<int>({family}(__VA_ARGS__));                                                  \
  }} else if constexpr (requires {{ {family}(__VA_ARGS__); }}) {{                                        \
    {family}(__VA_ARGS__);                                                                           \
    return {done};                                                                                   \
  }} else
template <class Arguments>
int apo_call_plain(const Arguments& a, {more_type} more) {{
  APO_CALL({arguments}, more)
  APO_CALL({arguments})
  APO_CALL(a, more)
  APO_CALL(a)
  {family}({arguments});
}}
APO_EXPORT uint32_t apo_abi(void) {{ return APO_ABI_VERSION; }}
APO_EXPORT int apo_launch(const apo_call* call) {{
  return apo_call_plain(*static_cast<const {family}_args*>(call->arguments), {more});
}}
)";

}  // namespace

std::string plain_signature(const Family& family, const Variant& variant) {
  std::vector<std::string> parameters;
  for (const ArgumentField& field : argument_fields(family, variant)) {
    parameters.push_back(field.type + " " + field.name);
  }
  return "void " + family.name + "(" + join(parameters, ", ") + ")";
}

SourceFile plain_source(const Family& family, const Variant& variant) {
  const bool cuda = variant.target == Target::cuda;
  std::vector<std::string> arguments;
  for (const ArgumentField& field : argument_fields(family, variant)) {
    arguments.push_back("a." + field.name);
  }
  const std::string calls =
      fmt::format(fmt::runtime(kCalls), fmt::arg("family", family.name), fmt::arg("arguments", join(arguments, ", ")),
                  fmt::arg("more_type", cuda ? "cudaStream_t" : "int"),
                  fmt::arg("more", cuda ? "static_cast<cudaStream_t>(call->stream)" : "call->threads"),
                  fmt::arg("done", cuda ? "static_cast<int>(cudaGetLastError())" : "0"));
  return {.name = plain_name(variant),
          .text = fmt::format("// {} - calls the function {} of {}.\n#include \"{}\"\n#include \"{}\"\n{}",
                              plain_name(variant), family.name, variant.id(), args_header_name(family),
                              source_name(variant), calls),
          .path = ""};
}

CompiledSource compile_library_source(const Family& family, const Variant& variant, const std::filesystem::path& folder,
                                      const CompileFile& compile) {
  CompiledSource plain = {.step = compile({plain_name(variant)}), .file = plain_name(variant)};
  if (plain.step.ok || plain.step.timed_out) {
    return plain;
  }
  // Then nothing is wrong with the file, which has had the argument header before it so far.
  const bool is_called_wrongly = plain.step.evidence.starts_with(plain.file);
  const Words header = is_called_wrongly ? Words{"-include", args_header_name(family)} : Words{};
  CompiledSource own = {.step = compile(joined(header, {source_name(variant)})), .file = source_name(variant)};
  if (!own.step.ok) {
    return is_called_wrongly ? own : plain;
  }
  const std::string object = read_file(folder / kObject);
  if (!defines_symbol(object, "apo_launch") && !defines_symbol(object, "apo_abi")) {
    plain.step.evidence =
        is_called_wrongly ? fmt::format("{}:1: there is no function that can be called as '{}', and no apo_launch{}",
                                        source_name(variant), plain_signature(family, variant),
                                        variant.target == Target::cuda ? " or apo:launch line" : "")
                          : plain.step.evidence;
    return plain;
  }
  return own;
}

}  // namespace apo
