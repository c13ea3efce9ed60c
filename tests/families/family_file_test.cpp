// tests/families/family_file_test.cpp - what a family's block may say, and the line that each mistake is blamed on.
#include "harness/families/family_file.h"

#include <gtest/gtest.h>

#include <vector>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "tests/families/family_text.h"
#include "tests/text.h"

namespace apo {
namespace {

std::string mistake_in(const std::string& text) {
  try {
    parse_family(text, "f.h");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(FamilyFile, EveryLineOfTheBlockIsRead) {
  const FamilyFile file = parse_family(
      "// apo:family  f\n// apo:axis N 1..8 specialised features\n// apo:scalar eps f32 1e-6\n"
      "// apo:output y bf16[N]\n// apo:input  a e4m3[N] uniform(-1,1)\n// apo:input i i32[] index(0..N-1)\n"
      "// apo:derive d f16[N]\n// apo:unit N/4\n// apo:regimes typical, wide\n// apo:class narrow N <= 4\n"
      "// apo:workload w production cuda N=3\n// apo:repeatable yes\n// apo:requires N != 5\n"
      "// apo:tolerance rtol=0.5 atol=0\n",
      "f.h");
  EXPECT_EQ(file.axes[0].meaning, "features");
  EXPECT_TRUE(file.axes[0].specialised);
  EXPECT_EQ(file.scalars[0].value, static_cast<double>(1e-6f));
  EXPECT_EQ(file.tensors.back().name, "y") << "outputs come last, wherever their line stands";
  EXPECT_EQ(file.tensors[1].distribution.largest, "N-1");
  EXPECT_EQ(file.tensors[2].role, Role::derived_input);
  EXPECT_EQ(file.units[0].block, 4);
  EXPECT_EQ(file.regimes, (std::vector<std::string>{"typical", "wide"}));
  EXPECT_EQ(file.workloads[0].workload_class, "narrow");
  EXPECT_EQ(file.workloads[0].target, Target::cuda);
  EXPECT_EQ(file.tolerance->relative, 0.5);
}

TEST(FamilyFile, MemoryThatACallUpdatesIsAnInputAndAnOutputOfOneName) {
  const FamilyFile file = parse_family(
      "// apo:family f\n// apo:axis n 1..8\n// apo:inout p f32[n] positive\n// apo:output y f32[n]\n"
      "// apo:input x f32[n]\n// apo:workload w production n=3\n",
      "f.h");
  std::vector<std::string> found;
  for (const FileTensor& tensor : file.tensors) {
    found.push_back(tensor.name + (tensor.role == Role::output ? " output" : " input") +
                    (is_argument(tensor) ? "" : ", no argument"));
  }
  EXPECT_EQ(found, (std::vector<std::string>{"p input, no argument", "x input", "p output", "y output"}));
  EXPECT_EQ(file.tensors.front().distribution.kind, DistributionKind::positive);
}

TEST(FamilyFile, EachMistakeNamesItsLine) {
  struct Mistake {
    const char* from;
    const char* to;
    const char* error;
  };
  const Mistake mistakes[] = {
      {"// apo:output    y f32[rows,cols]\n", "", "f.h:1: no apo:output line"},
      {"f32[rows,cols] normal", "f33[rows,cols] normal", "f.h:5: unknown dtype 'f33'"},
      {"f32[rows,cols] normal", "f32[rows,columns] normal", "f.h:5: the shape of x: "},
      {"f32[rows,cols] normal", "f32[rows,cols-2] normal", "f.h:5: 'cols-2' of x is -1 in workload r1_c1"},
      {"cols 1..65536", "cols 1..65536 default 0", "f.h:4: the default 0 of axis cols is outside 1..65536"},
      {"apo:unit      rows", "apo:unit      rows\n// apo:unit y: cols", "f.h:8: apo:unit is repeated"},
      {"apo:unit      rows", "apo:unit      z: rows", "f.h:1: apo:unit names the output 'z', which is none"},
      {"f32[rows,cols] normal", "f32[rows,cols] gaussian", "f.h:5: the distribution 'gaussian' cannot be read"},
      {"y f32[rows,cols]", "y f32[cols]", "f.h:6: output y has no extent 'rows', the axis of apo:unit"},
      {"y f32[rows,cols]", "y f32[rows+1,cols]", "f.h:6: the extent 'rows+1' of y is not the plain axis 'rows'"},
      {"apo:unit      rows", "apo:unit      row", "f.h:1: apo:unit names 'row', which is no axis"},
      {"y f32[rows,cols]", "rows f32[rows,cols]", "f.h:6: the name 'rows' is taken"},
      {"rows=7 cols=100", "rows=7", "f.h:9: workload r7_c100 gives no value for axis cols"},
      {"rows=7 cols=100", "rows=70000 cols=100", "f.h:9: rows=70000 is outside 1..65536"},
      {"rows=7 cols=100", "rows=7 cols=100 depth=2", "f.h:9: no axis 'depth'"},
      {"r7_c100 ragged", "r64_c256 ragged", "f.h:9: the workload 'r64_c256' is repeated"},
      {"apo:unit ", "apo:units ", "f.h:7: unknown key 'apo:units'"},
      {"rows 1..65536", "rows 5..2", "f.h:3: the range 5..2 of axis rows is empty"},
      {"apo:unit      rows", "apo:random    z", "f.h:7: 'z' is no output before this line"},
      {"apo:unit      rows", "apo:random    y by x", "f.h:7: 'x' is no integer input before this line"},
      {"softmax\n", "soft max\n", "f.h:1: the name 'soft max' is not an identifier"},
  };
  for (const Mistake& mistake : mistakes) {
    const std::string error = mistake_in(replaced(kSoftmax, mistake.from, mistake.to));
    EXPECT_TRUE(error.starts_with(mistake.error)) << mistake.to << ": " << error;
  }
  EXPECT_EQ(mistake_in(kSoftmax), "");
}

TEST(FamilyFile, AWorkloadMayLeaveOutAnAxisThatHasADefault) {
  const FamilyFile file = parse_family(
      replaced(replaced(kSoftmax, "cols 1..65536", "cols 1..65536 default 9 of a row"), " cols=100", ""), "f.h");
  EXPECT_EQ(file.workloads[1].axes.at("cols"), 9);
  EXPECT_EQ(file.workloads[0].axes.at("cols"), 256);
  EXPECT_EQ(file.axes[1].meaning, "of a row");
}

TEST(FamilyFile, AFamilyIsToldFromAVariantByItsFirstLine) {
  EXPECT_TRUE(is_family_file(kSoftmax));
  EXPECT_TRUE(is_family_file("// a comment\n\n// apo:family f\n"));
  EXPECT_FALSE(is_family_file("// apo:variant copy/simple\n// apo:family f\n"));
  EXPECT_FALSE(is_family_file("int x;\n// apo:family f\n"));
  EXPECT_FALSE(is_family_file(""));
}

TEST(FamilyFile, AFileThatIsNoneIsNamed) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a.so").string();
  for (const std::string& text : {std::string(), std::string("\0// apo:family f\n", 18), std::string("int x;\n")}) {
    write_file_atomically(path, text);
    expect_contains(error_of([&] { load_family_file(path); }), "a.so' is not a family file: it has no line");
  }
}

}  // namespace
}  // namespace apo
