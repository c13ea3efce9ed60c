// harness/implement/tvm_ffi.h - turns a shared object with a function of the TVM-FFI ABI into a library variant that
// calls it.
//
// The object is linked by the hash of its content, not by its own name: two objects of one name may meet in a process.
// The linker sees a stub with this name and nothing but the function.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/implement/compile.h"

namespace apo {

inline constexpr const char* kFfiCall = ".call.cpp";
inline constexpr const char* kFfiStub = ".stub.cpp";

// The source that exports the C ABI of kernels/abi.h and makes the call, and that of the stub. The tensors of the
// contract have the shapes of `axes`.
std::vector<SourceFile> ffi_sources(const Family& family, const Variant& variant, const Axes& axes);
// The object, in the folder that a worker copies with the build (kCompanions).
SourceFile ffi_object(const Variant& variant);
// Returns the path of the stub relative to the folder of the build.
std::string ffi_stub_path(const Variant& variant);
// Links with the stub in the folder of a build that has one; empty for other builds.
Words ffi_link_flags(const std::filesystem::path& built);

}  // namespace apo
