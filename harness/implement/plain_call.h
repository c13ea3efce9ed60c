// harness/implement/plain_call.h - lets a plain function be a library variant: the source that calls it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "harness/core/records/records.h"
#include "harness/implement/compile.h"

namespace apo {

// "void copy(const float* x, float* y, int64_t n)": tensors in the order of the contract, scratch buffers, axes.
std::string plain_signature(const Family& family, const Variant& variant);

// A file that includes the variant's own and exports the C ABI of kernels/abi.h by calling its function. The function
// is named like the family; it takes the arguments of plain_signature() or `const <family>_args&`, and after them,
// optionally, `int threads` (on cuda `cudaStream_t stream`). An int that it returns is apo_launch's answer.
SourceFile plain_source(const Family& family, const Variant& variant);

// Compiles a file of the draft's folder into kObject; `what` is its name, after a flag perhaps.
using CompileFile = std::function<CompileStep(const Words& what)>;

struct CompiledSource {
  CompileStep step;
  std::string file;  // that became the object
};

// Compiles plain_source(), or the variant's own file where that exports the C ABI itself: two definitions of apo_launch
// are an error of the compiler, so that a file need not declare its form.
CompiledSource compile_library_source(const Family& family, const Variant& variant, const std::filesystem::path& folder,
                                      const CompileFile& compile);

}  // namespace apo
