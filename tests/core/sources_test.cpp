// tests/core/sources_test.cpp - what identifies the files of a variant, and how they differ.
#include "harness/core/sources.h"

#include <gtest/gtest.h>

#include "harness/core/hash.h"

namespace apo {
namespace {

std::string diff(const std::string& before, const std::string& after) {
  return unified_diff({{"a.cpp", before, ""}}, {{"b.cpp", after, ""}});
}

std::string numbers(int from, int to) {
  std::string text;
  for (int i = from; i <= to; ++i) {
    text += std::to_string(i) + "\n";
  }
  return text;
}

TEST(SourceIdentity, IsTheFilesOwnHashWithoutHeadersAndThatOfAManifestWithThem) {
  EXPECT_EQ(source_identity({.source = "x"}), sha256("x"));
  const Variant variant{.source = "x", .headers = {{"a.h", "1", "/somewhere"}}};
  EXPECT_EQ(source_manifest(variant), sha256("x") + "  -\n" + sha256("1") + "  a.h\n");
  EXPECT_EQ(source_identity(variant), sha256(source_manifest(variant)));
  EXPECT_EQ(source_identity(variant), source_identity({.source = "x", .headers = {{"a.h", "1", ""}}}));
  EXPECT_NE(source_identity(variant), source_identity({.source = "x", .headers = {{"b.h", "1", ""}}}));
}

TEST(SourceIdentity, IsAnotherUnderAnotherContract) {
  const Variant variant{.source = "x", .contract = "c"};
  EXPECT_EQ(source_identity(variant), sha256(sha256("x") + "  -\n" + sha256("c") + "  contract\n"));
  EXPECT_NE(source_identity(variant), source_identity({.source = "x", .contract = "d"}));
}

TEST(Language, IsToldByTheBlockElseByTheFirstLineOfCode) {
  for (const char* python :
       {"# apo:idea x\nx = 1\n", "import torch\n", "#!/usr/bin/env python3\n# words\nfrom a import b\n",
        "def run(x): return x\n", "class A(B): pass\n", "\"\"\"What it is.\"\"\"\nx = '__global__ void k() {}'\n",
        "class Model:\n  pass\n", "N = 64\n", "@triton.jit\ndef k(x):\n",
        "\n\nimport torch\nsource = '#include <x.h> __global__'\n"}) {
    EXPECT_TRUE(is_python(python)) << python;
    EXPECT_EQ(guessed_extension(python), ".py") << python;
  }
  for (const char* other : {"// apo:idea x\nimport torch\n", "#include <x.h>\nimport y\n", "import std;\n", "int x;\n",
                            "", "#pragma once\nclass Model:\n", "class A : public B\n{};\n", "N = 64;\n", "BEGIN\n",
                            "extern \"C\" void f();\n"}) {
    EXPECT_FALSE(is_python(other)) << other;
  }
  EXPECT_EQ(guessed_extension("#include <x.h>\n__global__ void k() {}\n"), ".cu");
  EXPECT_EQ(guessed_extension("int x;\n"), ".cpp");
}

TEST(SourceName, IsTheUsersWhereItIsAPlainOne) {
  Variant variant;
  variant.name = "simple";
  for (const char* path : {"", "/tmp/x.txt", "/tmp/a b.cpp", "/tmp/-o.cpp", "journal:copy/simple", "/tmp/x.cu"}) {
    variant.path = path;
    EXPECT_EQ(source_name(variant), "simple.cpp") << path;
  }
  variant.path = "/tmp/mine-2.cpp";
  EXPECT_EQ(source_name(variant), "mine-2.cpp");
}

TEST(UnifiedDiff, OfEqualFilesIsEmpty) {
  EXPECT_EQ(diff("a\nb\n", "a\nb\n"), "");
  EXPECT_EQ(diff("", ""), "");
}

TEST(UnifiedDiff, ShowsChangesWithThreeLinesAroundThem) {
  EXPECT_EQ(diff(numbers(1, 20), numbers(1, 9) + "ten\n" + numbers(11, 20)),
            "--- a.cpp\n+++ b.cpp\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n");
  EXPECT_EQ(diff("a", "a\nb\n"), "--- a.cpp\n+++ b.cpp\n@@ -1 +1,2 @@\n a\n+b\n")
      << "whether the last line ends is no change";
  EXPECT_EQ(diff("", "a\n"), "--- a.cpp\n+++ b.cpp\n@@ -0,0 +1 @@\n+a\n");
}

TEST(UnifiedDiff, ComparesHeadersByName) {
  EXPECT_EQ(unified_diff({{"a.cpp", "x\n", ""}, {"gone.h", "1\n", ""}, {"same.h", "2\n", ""}},
                         {{"b.cpp", "x\n", ""}, {"new.h", "3\n", ""}, {"same.h", "2\n", ""}}),
            "--- gone.h\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n--- /dev/null\n+++ new.h\n@@ -0,0 +1 @@\n+3\n");
}

}  // namespace
}  // namespace apo
