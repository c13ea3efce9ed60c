// harness/implement/tvm_ffi.cpp - writes the call: a DLPack tensor for each tensor of the contract, then the stream.
#include "harness/implement/tvm_ffi.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/core/hash.h"
#include "harness/core/text.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/shared_object.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

constexpr const char* kStubs = "stub";

constexpr std::string_view kCall =
    R"(extern "C" apo_ffi::Function {function};
extern "C" __attribute__((visibility("default"))) uint32_t apo_abi(void) {{ return APO_ABI_VERSION; }}
extern "C" __attribute__((visibility("default"))) int apo_launch(const apo_call* call) {{
  void* const* pointers = static_cast<void* const*>(call->arguments);
  const int32_t device = {device};
{tensors}  const apo_ffi::Any arguments[] = {{
{arguments}  }};
{stream}  apo_ffi::call({function}, arguments, {count});
  return 0;
}}
)";

// Code, bits and lanes of DLPack.
std::string element(DType dtype) {
  return fmt::format("{{{}, {}, 1}}", element_names(dtype).dlpack, 8 * dtype_bytes(dtype));
}

std::string scalar(const ScalarSpec& spec) {
  if (is_float(spec.dtype)) {
    return fmt::format("    {{apo_ffi::kNumber, 0, {{.number = {:a}}}}},\n", spec.value);
  }
  const bool boolean = spec.dtype == DType::boolean;
  return fmt::format("    {{apo_ffi::{}, 0, {{.integer = {}}}}},\n", boolean ? "kBoolean" : "kInteger",
                     boolean ? std::int64_t{spec.value != 0} : static_cast<std::int64_t>(spec.value));
}

// The text that calls `function` with the inputs, the scalars and the outputs, in this order.
std::string call_of(const std::string& function, const Family& family, const Variant& variant, const Axes& axes) {
  const bool cuda = variant.target == Target::cuda;
  std::string tensors;
  std::vector<std::string> arguments;
  int pointer = 0;
  const auto add_tensors = [&](bool outputs) {
    for (const TensorSpec& tensor : arguments_of(family)) {
      if ((tensor.role == Role::output) == outputs) {
        const std::vector<std::int64_t> shape = tensor.shape(axes);
        tensors += fmt::format("  apo_ffi::DenseTensor<{}> t{} = {{{{{}}}}};\n", shape.size(), tensor.name,
                               fmt::join(shape, ", "));
        arguments.push_back(fmt::format("    t{}.argument(pointers[{}], {}, device, {}),\n", tensor.name, pointer++,
                                        cuda ? "apo_ffi::kCuda" : "apo_ffi::kHost", element(tensor.dtype)));
      }
    }
  };
  add_tensors(false);
  std::ranges::transform(family.scalars, std::back_inserter(arguments), scalar);
  add_tensors(true);
  return fmt::format(fmt::runtime(kCall), fmt::arg("function", function),
                     fmt::arg("device", cuda ? "apo_ffi::current_gpu()" : "0"), fmt::arg("tensors", tensors),
                     fmt::arg("arguments", join(arguments, "")), fmt::arg("count", arguments.size()),
                     fmt::arg("stream", cuda ? "  apo_ffi::set_stream(device, call->stream);\n" : ""));
}

std::string object_name(const Variant& variant) {
  return "apo_" + sha256(object_of(variant).text).substr(0, 32) + ".so";
}

}  // namespace

std::vector<SourceFile> ffi_sources(const Family& family, const Variant& variant, const Axes& axes) {
  const std::string function = std::string(kFfiPrefix) + variant.function;
  return {
      {.name = kFfiCall,
       .text = fmt::format("// {} - calls {} of {}.\n#include \"kernels/abi.h\"\n#include \"kernels/tvm_ffi.h\"\n{}",
                           kFfiCall, function, variant.object, call_of(function, family, variant, axes)),
       .path = ""},
      {.name = kFfiStub,
       .text = fmt::format("// {} - stands for {} when {} is linked.\nextern \"C\" int {}() {{ return 0; }}\n",
                           kFfiStub, variant.object, variant.id(), function),
       .path = ""}};
}

SourceFile ffi_object(const Variant& variant) {
  return {.name = (fs::path(kCompanions) / object_name(variant)).string(), .text = object_of(variant).text, .path = ""};
}

std::string ffi_stub_path(const Variant& variant) {
  return (fs::path(kStubs) / object_name(variant)).string();
}

Words ffi_link_flags(const fs::path& built) {
  if (!fs::is_directory(built / kStubs)) {
    return {};
  }
  const fs::path stub = *fs::directory_iterator(built / kStubs);
  return {"-L" + (built / kStubs).string(), "-l:" + stub.filename().string(),
          std::string("-Wl,-rpath,$ORIGIN/") + kCompanions};
}

}  // namespace apo
