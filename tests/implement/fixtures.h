// tests/implement/fixtures.h - small variants of the family copy, as text, and helpers to put them into files.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/core/system/files.h"
#include "harness/implement/variant/metadata.h"
#include "kernels/abi.h"
#include "tests/text.h"

namespace apo::test {

inline constexpr std::string_view kBody = R"(#include "copy.args.h"
APO_EXPORT uint32_t apo_abi() { return APO_ABI_VERSION; }
APO_EXPORT int apo_launch(const apo_call* call) {
  const copy_args& args = *static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i < args.n; ++i) args.y[i] = args.x[i];
  return 0;
}
)";

// The four required lines, then `more` lines of the block, then `body`.
inline std::string source(const std::string& name = "plain", const std::string& more = "",
                          std::string_view body = kBody) {
  return "// apo:variant copy/" + name + "\n// apo:target host\n// apo:technique straight-copy\n" +
         "// apo:idea One loop that the compiler turns into a call of memmove.\n" + more + std::string(body);
}

inline std::string cuda_source(const std::string& more, std::string_view body = "__global__ void copy_kernel() {}\n") {
  return "// apo:variant copy/device\n// apo:target cuda sm_80\n// apo:technique straight-copy\n// apo:idea One thread "
         "an "
         "element.\n" +
         more + std::string(body);
}

inline Variant variant(const std::string& name = "plain", const std::string& more = "", std::string_view body = kBody) {
  return parse_variant(source(name, more, body), name + ".cpp");
}

inline std::filesystem::path write(const std::filesystem::path& path, std::string_view contents) {
  write_file_atomically(path, contents);
  return path;
}

inline DeviceFacts h200() {
  return {.name = "NVIDIA H200", .major = 9, .sms = 132, .threads_per_block = 1024, .shared_per_block = 232448};
}

// Calls apo_launch of a shared object for family copy with four threads: its answer, and what it makes of {1, 2, 3}.
// `scratch`: the numbers are a scratch buffer too.
inline std::pair<int, std::vector<float>> call_copy(const std::string& object, bool scratch = false) {
  void* library = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw std::runtime_error(dlerror());
  }
  const auto launch = reinterpret_cast<int (*)(const apo_call*)>(dlsym(library, "apo_launch"));
  std::vector<float> x = {1, 2, 3}, y(3);
  std::vector<std::uintptr_t> arguments = {reinterpret_cast<std::uintptr_t>(x.data()),
                                           reinterpret_cast<std::uintptr_t>(y.data())};
  if (scratch) {
    arguments.push_back(arguments.front());
  }
  arguments.push_back(x.size());
  const apo_call call{APO_ABI_VERSION, sizeof(apo_call), arguments.data(), 4, 0, nullptr};
  const int answer = launch(&call);
  dlclose(library);
  return {answer, y};
}

}  // namespace apo::test
