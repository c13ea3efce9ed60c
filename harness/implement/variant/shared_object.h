// harness/implement/variant/shared_object.h - a shared object with functions of the TVM-FFI ABI, as a variant.
#pragma once

#include <string>
#include <string_view>

#include "harness/core/records/variant.h"

namespace apo {

inline constexpr std::string_view kFfiPrefix = "__tvm_ffi_";  // of an exported function's symbol
inline constexpr std::size_t kMaxObjectBytes = std::size_t{256} << 20;

// Returns the object of a variant with an apo:ffi line. Throws UserError where it is not among its files.
const SourceFile& object_of(const Variant& variant);

// Returns `function`, or if it is empty the one that the object exports; of several that of the family's name. Throws
// UserError for a file that is no shared object of this machine, and if it has no such function or several.
std::string ffi_function(std::string_view bytes, const std::string& path, const std::string& function,
                         const std::string& family);

// The metadata block of a variant that is the object in the file `path`. Its target is cuda when it holds device code
// or needs a library of CUDA. `family` may be empty, which is not an error yet.
std::string ffi_block(std::string_view bytes, const std::string& path, const std::string& family,
                      const std::string& name);

}  // namespace apo
