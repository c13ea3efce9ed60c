// tests/loop/contract/family_check_test.cpp - a family that would let wrong kernels pass is refused.
#include "harness/loop/contract/family_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/loop/contract/mutants.h"
#include "tests/families/family_text.h"
#include "tests/text.h"

namespace apo {
namespace {

FamilyCheck check(const std::string& text) {
  SilentObserver observer;
  return check_family(parse_family(text, "softmax.h"), test_oracle(), 1, 2, observer);
}

std::string refusal_of(const std::string& text) {
  return error_of([&] { check(text); });
}

TEST(FamilyCheck, EveryPlantedMistakeInASoftmaxIsRefused) {
  const FamilyCheck result = check(kSoftmax);
  EXPECT_EQ(std::ranges::count(result.mutants, MutantState::refused, &MutantRow::state), 14);
  EXPECT_GT(result.honest_closeness, 0);
  EXPECT_LT(result.honest_closeness, 1);
}

TEST(FamilyCheck, TheWorkOfTheDefaultWorkloadNamesItsSpecialFunctions) {
  const FamilyCheck result = check(kSoftmax);
  EXPECT_EQ(result.workload, "r64_c256");
  std::map<std::string, double> counts;
  for (const NamedCount& special : result.work.special_by_name) {
    counts[special.name] = special.count;
  }
  EXPECT_EQ(counts, (std::map<std::string, double>{{"division", 64 * 256}, {"exp", 64 * 256}}));
  EXPECT_TRUE(result.notes.empty());
}

TEST(FamilyCheck, AProgramThatStartsSlowlyForEachDrawIsToldHowToStay) {
  const TemporaryFolder folder;
  const auto check_program = [&](const std::string& last_line) {
    write_file_atomically(folder.path() / "ref.py",
                          "import sys, time, numpy as np\ntime.sleep(0.4)\nfolder = sys.argv[1]\nwhile folder:\n"
                          "  x = np.load(folder + '/x.npy')\n  e = np.exp(x - x.max(axis=1, keepdims=True))\n"
                          "  np.save(folder + '/y.npy', e / e.sum(axis=1, keepdims=True))\n  " +
                              last_line + "\n");
    const std::string text = kSoftmax;
    const std::string head =
        replaced(text.substr(0, text.find("template")), "// apo:unit      rows\n",
                 "// apo:reference /usr/bin/python3 ref.py\n// apo:regimes typical\n// apo:workload big extreme rows=9 "
                 "cols=65536\n");
    SilentObserver observer;
    return check_family(parse_family(head, (folder.path() / "softmax.h").string()), test_oracle(), 1, 2, observer)
        .notes;
  };
  const std::vector<std::string> slow = check_program("break");
  ASSERT_EQ(slow.size(), 2u);
  expect_contains(slow[0], "checked on the 3 smallest of 4 workloads");
  expect_contains(slow[1], "'apo:next'");
  EXPECT_EQ(check_program("print('apo:next', flush=True); folder = sys.stdin.readline().strip()").size(), 1u);
}

TEST(FamilyCheck, AProgramThatDrawsInItsReferenceIsRefused) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "ref.py",
                        "import sys, numpy as np\nx = np.load(sys.argv[1] + '/x.npy')\n"
                        "noise = np.random.default_rng().normal(size=x.shape)\n"
                        "np.save(sys.argv[1] + '/y.npy', np.exp(x) + 1e-3 * noise)\n");
  const std::string text = kSoftmax;
  const std::string head = replaced(text.substr(0, text.find("template")), "// apo:unit      rows\n",
                                    "// apo:reference /usr/bin/python3 ref.py\n// apo:regimes typical\n");
  SilentObserver observer;
  expect_contains(error_of([&] {
                    check_family(parse_family(head, (folder.path() / "softmax.h").string()), test_oracle(), 1, 2,
                                 observer);
                  }),
                  "other outputs when it is called again");
}

TEST(FamilyCheck, AToleranceThatLetsZerosPassIsRefused) {
  const std::string error = refusal_of(
      replaced(kSoftmax, "// apo:unit ", "// apo:tolerance rtol=0.1 atol=10 because it is a test\n// apo:unit "));
  expect_contains(error, "lets 'zeros' pass");
}

TEST(FamilyCheck, AToleranceThatAnHonestVersionMissesIsRefused) {
  const std::string error =
      refusal_of(replaced(kSoftmax, "// apo:unit ", "// apo:tolerance rtol=1e-12 atol=0\n// apo:unit "));
  expect_contains(error, "the tolerance refuses an honest implementation");
}

TEST(FamilyCheck, UnitsThatAreNotIndependentAreRefused) {
  const std::string error = refusal_of(replaced(kSoftmax, "apo:unit      rows", "apo:unit      cols/50"));
  expect_contains(error, "when its unit is computed alone");
}

TEST(FamilyCheck, ALargeWorkloadOfAFileWithoutUnitsIsCheckedOnTheOnesThatAreFound) {
  const std::string small = replaced(kSoftmax, "// apo:unit      rows\n", "");
  EXPECT_TRUE(check(small).units.empty()) << "all workloads are small";
  const FamilyCheck large =
      check(replaced(small, "// apo:workload", "// apo:workload large production rows=300 cols=256\n// apo:workload"));
  EXPECT_EQ(unit_line(large.units), "// apo:unit rows");
  ASSERT_EQ(large.notes.size(), 1u);
  expect_contains(large.notes[0], "it is checked with '// apo:unit rows'");
}

// Each row takes work that grows with its length; a call of more than 65,536 elements ends the check.
std::string large_norm(const std::string& workload, const std::string& more = "") {
  return "// apo:family    norm\n// apo:idea      Rows over their norm.\n// apo:axis      B 1..1024\n"
         "// apo:axis      T 1..65536\n// apo:axis      C 1..65536\n// apo:input     x f32[B,T,C] normal\n"
         "// apo:output    y f32[B,T,C]\n// apo:output    size f32[B,T]\n" +
         more + "// apo:workload  " + workload +
         "\n#include <stdexcept>\ntemplate <class Real>\n"
         "void reference(int64_t B, int64_t T, int64_t C, const Real* x, Real* y, Real* size) {\n"
         "  if (B * T * (2 * C + 1) > 65536) throw std::runtime_error(\"called at a large size\");\n"
         "  for (int64_t i = 0; i < B * T; ++i, x += C, y += C) {\n    Real sum = 0;\n"
         "    for (int64_t c = 0; c < C; ++c) sum += x[c] * x[c];\n    size[i] = sqrt(sum);\n"
         "    for (int64_t c = 0; c < C; ++c) y[c] = x[c] / size[i];\n  }\n}\n";
}

TEST(FamilyCheck, NoCallHasTheSizeOfALargeWorkload) {
  const FamilyCheck result = check(large_norm("llm production B=64 T=4096 C=8192", "// apo:requires  C % 8 == 0\n"));
  EXPECT_EQ(unit_line(result.units), "// apo:unit B T") << "every axis that holds, not the first one";
  EXPECT_EQ(result.workload, "llm");
  EXPECT_EQ(result.work.flops, 64.0 * 4096 * 2 * 8192) << "of the workload itself";
  EXPECT_EQ(result.work.special_functions, 64.0 * 4096);
  EXPECT_FALSE(result.work.is_estimate);
  EXPECT_EQ(result.work.bytes, 4 * (2 * 64.0 * 4096 * 8192 + 64 * 4096));
  expect_contains(join(result.notes, "\n"), "B16_T16_C16 (small) and B15_T15_C16 (ragged) too");
}

TEST(FamilyCheck, AMessageNamesWorkloadSizesRegimeAndElementAndTheLinesThatMendIt) {
  const std::string text = large_norm("llm production B=64 T=4096 C=8192", "// apo:regimes typical zero_rows\n");
  try {
    check(text);
    FAIL();
  } catch (const UserError& error) {
    expect_contains(error.what(), "nan in y[");
    expect_contains(error.what(), "] (workload B15_T15_C15, B=15 C=15 T=15, regime zero_rows)");
    expect_contains(error.hint(), "leave zero_rows out of apo:regimes");
  }
}

// Squares of denormal numbers are 0 in binary32, and no legal rounding makes one negative.
TEST(FamilyCheck, NormsOfLongRowsAreCheckedInUnitsAndInEveryRegime) {
  const FamilyCheck result = check(
      "// apo:family    norms\n// apo:idea      The norm of each row.\n// apo:axis      rows 1..4096\n"
      "// apo:axis      cols 1..65536\n// apo:input     x f32[rows,cols] normal\n// apo:output    y f32[rows]\n"
      "// apo:workload  long production rows=1024 cols=1024\n// apo:workload  odd ragged rows=7 cols=31\n"
      "template <class Real>\nvoid reference(int64_t rows, int64_t cols, const Real* x, Real* y) {\n"
      "  for (int64_t i = 0; i < rows; ++i, x += cols) {\n    Real sum = 0;\n"
      "    for (int64_t j = 0; j < cols; ++j) sum += x[j] * x[j];\n    y[i] = sqrt(sum);\n  }\n}\n");
  ASSERT_EQ(result.units.size(), 1U) << "its outputs are few, and its inputs many";
  EXPECT_EQ(result.units.front().axis, "rows");
}

TEST(FamilyCheck, AReferenceThatCrashesWhereAnAxisIsCutIsCheckedWhole) {
  const FamilyCheck result = check(
      "// apo:family    histogram\n// apo:idea      Counts of labels.\n// apo:axis      n 1..1048576\n"
      "// apo:axis      classes 1..65536\n// apo:input     label i32[n] index(0..classes-1)\n"
      "// apo:output    count i32[classes]\n// apo:workload  long production n=262144 classes=64\n"
      "// apo:workload  one small n=1000 classes=4096\n"
      "template <class Real>\nvoid reference(int64_t n, int64_t classes, const int64_t* label, int64_t* count) {\n"
      "  for (int64_t c = 0; c < classes; ++c) count[c] = 0;\n"
      "  for (int64_t i = 0; i < n; ++i) ++count[label[i]];\n}\n");
  EXPECT_TRUE(result.units.empty());
}

std::string elementwise(const std::string& formula, const std::string& input, const std::string& output,
                        const std::string& more = "") {
  return "// apo:family    each\n// apo:idea      One formula.\n// apo:axis      n 1..65536\n// apo:input     x " +
         input + "\n// apo:output    y " + output + "[n]\n" + more +
         "// apo:workload  big production n=4096\n// apo:workload  odd ragged n=333\n"
         "template <class Real>\nvoid reference(int64_t n, const Real* x, Real* y) {\n"
         "  for (int64_t i = 0; i < n; ++i) y[i] = " +
         formula + ";\n}\n";
}

TEST(FamilyCheck, AnOutputOfWhichItsFormatLeavesOneValueIsRefused) {
  expect_contains(refusal_of(elementwise("exp(Real(-60) * x[i] * x[i])", "f32[n] normal(0,10)", "f16")),
                  "elements of output y are 0 in f16");
  expect_contains(refusal_of(elementwise("Real(1) / (Real(1) + exp(-x[i]))", "f32[n] uniform(4,120)", "f16")),
                  "elements of output y are 1 in f16");
}

TEST(FamilyCheck, ATotalHasOneValueAndIsAFamily) {
  std::string total = elementwise("0;\n  y[0] = sum<Real>(n, [&](int64_t i) { return x[i]; })", "f32[n] normal", "f32");
  total = replaced(replaced(total, "  for (int64_t i = 0; i < n; ++i) y[i] = 0;\n", ""), "f32[n]\n// apo:w",
                   "f32[1]\n// apo:w");
  EXPECT_GT(check(total).cases, 0);
}

// Another draw of one element changes a maximum seldom.
TEST(FamilyCheck, AnInputMattersWhereItDecidesTheOutputInFewDraws) {
  const std::string largest =
      replaced(elementwise("", "f32[n] normal\n// apo:input     least f32[1] normal(3.4,0.5)", "f32"),
               "f32[n]\n// apo:w", "f32[1]\n// apo:w");
  const auto family = [&](const std::string& first) {
    return replaced(replaced(largest, "const Real* x, ", "const Real* x, const Real* least, "),
                    "  for (int64_t i = 0; i < n; ++i) y[i] = ;\n",
                    "  y[0] = " + first + ";\n  for (int64_t i = 0; i < n; ++i) y[0] = fmax(y[0], x[i]);\n");
  };
  EXPECT_GT(check(family("fmax(-100, least[0])")).cases, 0);
  expect_contains(refusal_of(family("-100")), "no output depends on input least");
}

TEST(FamilyCheck, AFamilyMostOfWhoseMistakesChangeNothingIsRefused) {
  expect_contains(refusal_of(elementwise("either(x[i], Real(0))", "f32[n] normal", "f32")), "change nothing");
}

TEST(FamilyCheck, ABoundThatIsWideForNoStatedReasonIsRefusedWithTheOperationThatCausesIt) {
  const std::string far = "sin(x[i] + pow(Real(30), Real(i % 4)))";
  const std::string error = refusal_of(elementwise(far, "f32[n] normal", "f32"));
  expect_contains(error, "the derived bound of y is");
  expect_contains(error, "'pow' causes most of it");
  const FamilyCheck told =
      check(elementwise(far, "f32[n] normal", "f32", "// apo:tolerance derived because the table is coarse\n"));
  ASSERT_FALSE(told.notes.empty());
  expect_contains(told.notes[0], "'pow' causes most of it");
}

// The last group of an error bound has the rest of a row: here elements 256 to 332, of which 20 are large.
TEST(FamilyCheck, ABoundIsComparedWithTheValuesOfItsOwnGroup) {
  const std::string large = "exp(x[i]) * Real(i >= 300 && i < 320 ? 1e6 : 1)";
  EXPECT_TRUE(check(elementwise(large, "f32[n] normal", "f32", "// apo:regimes typical\n")).notes.empty());
}

TEST(FamilyCheck, AToleranceThatIsWiderThanTheDerivedOneNeedsAReason) {
  const std::string wide = "// apo:tolerance rtol=0.001 atol=0";
  const std::string error = refusal_of(elementwise("exp(x[i])", "f32[n] normal", "f32", wide + "\n"));
  expect_contains(error, "x the derived bound");
  const FamilyCheck reasoned =
      check(elementwise("exp(x[i])", "f32[n] uniform(0,1)", "f32", wide + " because half a table is enough\n"));
  EXPECT_EQ(reasoned.tolerance, "the file: rtol=0.001 atol=0 because half a table is enough");
}

TEST(FamilyCheck, ARegimeInWhichNothingIsFiniteIsLeftOutUnlessTheFileNamesIt) {
  const FamilyCheck check_of_exp = check(elementwise("exp(x[i])", "f32[n] normal", "f32"));
  EXPECT_TRUE(std::ranges::find(check_of_exp.left_out, "extreme") != check_of_exp.left_out.end());
  expect_contains(join(check_of_exp.notes, "\n"), "regime extreme is left out");
  expect_contains(refusal_of(elementwise("exp(x[i])", "f32[n] normal", "f32", "// apo:regimes typical extreme\n")),
                  "(workload odd, n=333, regime extreme)");
}

TEST(FamilyCheck, NanAndInfinitiesAreComparedWhereTheContractSaysSo) {
  const std::string text =
      elementwise("x[i] < Real(0) ? Real(0) : x[i]", "f32[n] normal", "f32", "// apo:values nan inf\n");
  EXPECT_GT(std::ranges::count(check(text).mutants, MutantState::refused, &MutantRow::state), 5);
}

// The statement for each element of a dropout.
std::string dropped(const std::string& statement, const std::string& random = "// apo:random y mask by seed\n") {
  return "// apo:family    dropped\n// apo:axis      n 1..65536\n// apo:scalar    keep f32 0.75\n"
         "// apo:input     x f32[n] normal\n// apo:input     seed i64[1] uniform(0,1000000000)\n"
         "// apo:output    y f32[n]\n// apo:output    mask u8[n]\n" +
         random +
         "// apo:workload  big production n=16384\n// apo:workload  odd ragged n=333\n"
         "template <class Real>\nvoid reference(int64_t n, Real keep, const Real* x, const int64_t*, Real* y, int64_t* "
         "mask) {\n  for (int64_t i = 0; i < n; ++i) {\n    " +
         statement + "\n  }\n}\n";
}

TEST(FamilyCheck, RandomOutputsRefuseMistakesOfWhatIsDrawn) {
  const FamilyCheck result = check(dropped("mask[i] = drawn(keep, 1, 0); y[i] = Real(mask[i]) * x[i] / keep;"));
  for (const MutantRow& row : result.mutants) {
    const Mutant& mutant = mutant_named(row.mutant);
    const bool makes_sense = row.mutant != "one-nan" || row.tensor != "mask";
    if (makes_sense && !mutant.mild && !mutant.may_be_drawn) {
      EXPECT_EQ(row.state, MutantState::refused) << row.mutant << " in " << row.tensor;
    }
  }
}

TEST(FamilyCheck, WhatIsDrawnAndWhatTheFileSaysOfItGoTogether) {
  const std::string both = "mask[i] = drawn(keep, 1, 0); y[i] = Real(mask[i]) * x[i] / keep;";
  expect_contains(refusal_of(dropped(both, "")), "calls drawn(), but no line '// apo:random OUTPUT'");
  expect_contains(refusal_of(dropped(both, "// apo:random mask by seed\n")), "output y depends on drawn()");
  expect_contains(refusal_of(dropped("mask[i] = drawn(keep, 1, 0); y[i] = x[i];")),
                  "names y, which no drawn() decides");
  expect_contains(refusal_of(dropped("mask[i] = drawn(keep, 1, 0); y[i] = Real(mask[i]) * drawn(keep, x[i], 0);")),
                  "has several drawn() decide y[");
  expect_contains(refusal_of(dropped("mask[i] = drawn(keep * 2, 1, 0); y[i] = Real(mask[i]) * x[i];")),
                  "drawn() with a probability of 1.5");
  expect_contains(refusal_of(dropped("mask[i] = drawn<Real>(65, [](int64_t) { return 1.0; }); y[i] = Real(mask[i]);")),
                  "drawn() of 65 weights");
}

TEST(FamilyCheck, AnOutputThatIsNearlyConstantIsRefused) {
  const std::string error = refusal_of(replaced(kSoftmax, "cols] normal", "cols] uniform(1,1.001)"));
  expect_contains(error, "all of output y is within 1 % of");
}

}  // namespace
}  // namespace apo
