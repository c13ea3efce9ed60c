// tests/implement/fixtures.h - small variants of the family copy, as text, and helpers to put them into files.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/core/error.h"
#include "harness/core/records/records.h"
#include "harness/core/system/files.h"
#include "harness/implement/variant/metadata.h"

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

inline std::string message(const UserError& error) {
  return std::string(error.what()) + " | " + error.hint();
}

// What + hint of the UserError that `operation` throws; "" when it throws none.
template <class Operation>
std::string error_of(Operation operation) {
  try {
    operation();
  } catch (const UserError& error) {
    return message(error);
  }
  return "";
}

inline void expect_contains(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << "wanted: " << part << "\ngot:    " << text;
}

}  // namespace apo::test
