// tests/implement/precompiled_test.cpp - which headers come first, and that the object is the same with them.
#include "harness/implement/precompiled.h"

#include <gtest/gtest.h>

#include "harness/core/system/machine.h"
#include "tests/implement/fixtures.h"

namespace apo {
namespace {

std::string headers_in(const std::string& text) {
  return standard_headers({{.name = "a.cpp", .text = text, .path = ""}});
}

TEST(PrecompiledHeaders, AreThoseOfTheStandardThatNothingBeforeThemChanges) {
  EXPECT_EQ(headers_in("#include <vector>\n # include  <cmath>\n#include <vector>\n#include \"own.h\"\n"),
            "#include <cmath>\n#include <vector>\n");
  EXPECT_EQ(headers_in("#include <immintrin.h>\n#include <omp.h>\n#include <cub/cub.cuh>\n#include <cassert>\n"),
            "#include <immintrin.h>\n");
  for (const char* harmless : {"#pragma once", "#pragma GCC ivdep", "  #pragma omp parallel for", "#define STEPS 4"}) {
    EXPECT_NE(headers_in(std::string("#include <cmath>\n") + harmless + "\n"), "") << harmless;
  }
  for (const char* line : {"#define _GNU_SOURCE", "#pragma GCC optimize(\"fast-math\")", "#undef __AVX512F__",
                           "_Pragma(\"GCC target(\\\"avx2\\\")\")", "# pragma pack(1)"}) {
    EXPECT_EQ(headers_in(std::string(line) + "\n#include <cmath>\n"), "") << line;
  }
}

TEST(PrecompiledHeaders, TheObjectIsTheSame) {
  const TemporaryFolder folder;
  const std::string text =
      "#include <algorithm>\n#include <cmath>\n#include <vector>\n"
      "float most(const std::vector<float>& v) { return std::sqrt(*std::max_element(v.begin(), v.end())); }\n"
      "void sort(std::vector<float>& v) { std::sort(v.begin(), v.end()); }\n";
  test::write(folder.path() / "a.cpp", text);
  const Toolchain gcc = describe_compiler("g++");
  const Words flags = {"-std=c++20", "-march=native", "-O3", "-g1"};
  constexpr double kPatience = 1000;
  const auto object = [&](const Words& first) {
    const Words command = {gcc.compiler, "-Winvalid-pch", "-Werror", "-c", "a.cpp", "-o", "a.o"};
    const CompileStep step = run_step(joined(joined(command, flags), first), folder.path(), kPatience);
    EXPECT_TRUE(step.ok) << step.log;
    return read_file(folder.path() / "a.o");
  };
  PrecompiledHeaders headers;
  const auto words = [&] {
    return headers.words_for(gcc, flags, {{.name = "a.cpp", .text = text, .path = ""}}, kPatience);
  };
  EXPECT_EQ(words(), Words());
  EXPECT_EQ(words(), Words());
  EXPECT_EQ(words(), Words());
  ASSERT_FALSE(words().empty());
  EXPECT_EQ(words(), words());
  EXPECT_TRUE(object(words()) == object({}));
  Toolchain clang = gcc;
  clang.version = "Debian clang version 14.0.6";
  EXPECT_EQ(headers.words_for(clang, flags, {{.name = "a.cpp", .text = text, .path = ""}}, kPatience), Words());
}

}  // namespace
}  // namespace apo
