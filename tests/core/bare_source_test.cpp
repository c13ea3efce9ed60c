// tests/core/bare_source_test.cpp - two texts are the same program when a compiler sees the same.
#include "harness/core/bare_source.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

bool same(const char* a, const char* b, bool python = false) {
  return bare_source(a, python) == bare_source(b, python);
}

TEST(BareSource, CommentsBlanksAndLinesDoNotCount) {
  EXPECT_TRUE(same("int f(int x) {\n  return x + 1;  // one more\n}\n", "int f( int x ) { /* a\nb */ return x+1; }"));
  EXPECT_TRUE(same("a; // b", "a;"));
  EXPECT_TRUE(same("", "  \n\t// nothing\n"));
}

TEST(BareSource, WhatTheCompilerSeesCounts) {
  EXPECT_FALSE(same("return x;", "returnx;"));
  EXPECT_FALSE(same("a + +b;", "a ++b;"));
  EXPECT_FALSE(same("\"a // b\"", "\"a"));
  EXPECT_FALSE(same("'\\'' /* a */", "'\\''b"));
  EXPECT_FALSE(same("f(\"a  b\");", "f(\"a b\");")) << "blanks in a string";
  EXPECT_FALSE(same("#define A\n1", "#define A 1")) << "the preprocessor has lines";
  EXPECT_FALSE(same("x\n#pragma unroll 4\nfor", "x\nfor"));
}

TEST(BareSource, LinesOfTheBlockCountThatTheHarnessObeys) {
  EXPECT_FALSE(same("// apo:tune A 1,2\nx", "// apo:tune A 2,1\nx"));
  EXPECT_FALSE(same("// apo:launch k grid=1 block=32\nx", "// apo:launch k grid=2 block=32\nx"));
  EXPECT_TRUE(same("// apo:launch  k grid=1\nx", "// apo:launch k   grid=1\nx"));
  EXPECT_TRUE(same("// apo:idea One.\n// apo:parent a\nx", "// apo:predict 2x..3x over parent: yes\nx"));
}

TEST(BareSource, OfPythonTheIndentationCounts) {
  EXPECT_TRUE(same("def f():\n    return 1  # one\n", "# new\ndef f():\n\n    return 1\n", true));
  EXPECT_FALSE(same("if a:\n    b\n    c", "if a:\n    b\nc", true));
}

TEST(BareSource, UnfinishedTextsEnd) {
  for (const char* text : {"/*", "\"", "'\\", "/", "#", "// apo:", "\\"}) {
    EXPECT_LE(bare_source(text, false).size(), 12U) << text;
    EXPECT_LE(bare_source(text, true).size(), 12U) << text;
  }
}

}  // namespace
}  // namespace apo
