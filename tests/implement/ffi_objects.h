// tests/implement/ffi_objects.h - shared objects with the TVM-FFI ABI, compiled without its headers.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "harness/core/system/files.h"
#include "harness/core/system/process.h"

namespace apo::test {

// What c_api.h and dlpack.h of the library declare.
inline constexpr const char* kFfiTypes = R"(#include <cstdint>
struct Any { int32_t type; uint32_t zero; union { int64_t i; double f; void* p; }; };
struct Tensor { void* data; int32_t device_type, device, dimensions; uint8_t code, bits; uint16_t lanes;
                int64_t *shape, *strides; uint64_t offset; };
#define EXPORT(NAME) extern "C" int __tvm_ffi_##NAME(void*, const Any* a, int32_t n, [[maybe_unused]] Any* result)
)";
// A right variant of family copy.
inline constexpr const char* kFfiCopy = R"(EXPORT(copy) {
  if (n != 2 || a[0].type != 7 || a[1].type != 7) return -1;
  const Tensor& x = *static_cast<Tensor*>(a[0].p);
  for (int64_t i = 0; i < x.shape[0]; ++i)
    static_cast<float*>(static_cast<Tensor*>(a[1].p)->data)[i] = static_cast<const float*>(x.data)[i];
  return 0;
}
)";

inline std::filesystem::path ffi_object(const std::filesystem::path& path, const std::string& code,
                                        const std::vector<std::string>& flags = {"-shared"}) {
  std::vector<std::string> command = {"g++", "-std=c++20", "-O1", "-fPIC", "-x", "c++", "-", "-o", path.string()};
  command.insert(command.end(), flags.begin(), flags.end());
  const ProcessResult result = run_process(command, {.input = kFfiTypes + code});
  EXPECT_TRUE(result.ok()) << result.error;
  return path;
}

}  // namespace apo::test
