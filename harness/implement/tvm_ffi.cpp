// harness/implement/tvm_ffi.cpp - writes the call: a DLPack tensor for each tensor of the contract, then the stream.
#include "harness/implement/tvm_ffi.h"

#include <fmt/format.h>

#include "harness/core/hash.h"
#include "harness/core/text.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/shared_object.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

constexpr const char* kStubs = "stub";

constexpr std::string_view kCall =
    R"({declaration}extern "C" __attribute__((visibility("default"))) uint32_t apo_abi(void) {{ return APO_ABI_VERSION; }}
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

class CallText {
 public:
  CallText(const Variant& variant, const Axes& axes) : cuda_(variant.target == Target::cuda), axes_(axes) {}

  void add(const Family& family) {
    add_tensors(family, false);
    for (const ScalarSpec& spec : family.scalars) {
      arguments_ += scalar(spec);
      ++count_;
    }
    add_tensors(family, true);
  }
  std::string text(const std::string& function) const {
    return fmt::format(fmt::runtime(kCall),
                       fmt::arg("declaration", "extern \"C\" apo_ffi::Function " + function + ";\n"),
                       fmt::arg("device", cuda_ ? "apo_ffi::current_gpu()" : "0"), fmt::arg("tensors", tensors_),
                       fmt::arg("arguments", arguments_), fmt::arg("function", function), fmt::arg("count", count_),
                       fmt::arg("stream", cuda_ ? "  apo_ffi::set_stream(device, call->stream);\n" : ""));
  }

 private:
  void add_tensors(const Family& family, bool outputs) {
    for (const TensorSpec& tensor : family.tensors) {
      if ((tensor.role == Role::output) != outputs) {
        continue;
      }
      const std::vector<std::int64_t> shape = tensor.shape(axes_);
      tensors_ += fmt::format("  apo_ffi::DenseTensor<{}> {} = {{{{{}}}}};\n", shape.size(), "t" + tensor.name,
                              fmt::join(shape, ", "));
      arguments_ += fmt::format("    {}.argument(pointers[{}], {}, device, {}),\n", "t" + tensor.name, pointer_++,
                                cuda_ ? "apo_ffi::kCuda" : "apo_ffi::kHost", element(tensor.dtype));
      ++count_;
    }
  }

  bool cuda_;
  const Axes& axes_;
  std::string tensors_;
  std::string arguments_;
  int pointer_ = 0;
  int count_ = 0;
};

std::string object_name(const Variant& variant) {
  return "apo_" + sha256(object_of(variant).text).substr(0, 32) + ".so";
}

}  // namespace

std::vector<SourceFile> ffi_sources(const Family& family, const Variant& variant, const Axes& axes) {
  const std::string function = std::string(kFfiPrefix) + variant.function;
  CallText call(variant, axes);
  call.add(family);
  return {
      {.name = kFfiCall,
       .text = fmt::format("// {} - calls {} of {}.\n#include \"kernels/abi.h\"\n#include \"kernels/tvm_ffi.h\"\n{}",
                           kFfiCall, function, variant.object, call.text(function)),
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
