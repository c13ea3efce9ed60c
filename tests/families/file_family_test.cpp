// tests/families/file_family_test.cpp - what is derived from a reference, and how its faults end.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/families/known_families.h"
#include "harness/runtime/input_store.h"
#include "harness/runtime/tensor_data.h"
#include "kernels/closeness.h"
#include "tests/families/family_text.h"

namespace apo {
namespace {

const Axes kAxes = {{"cols", 100}, {"rows", 7}};

TEST(FileFamily, SoftmaxAddsUpToOneAndItsHonestVersionIsNear) {
  const Family family = family_of(parse_family(kSoftmax, "softmax.h"), test_oracle());
  const InputSet inputs = make_inputs(family, kAxes, 1, "typical", 2);
  const Expected expected = expect(family, inputs, {0, 6}, 2);
  const std::vector<double>& y = expected.reference.at("y");
  ASSERT_EQ(y.size(), 200u);
  EXPECT_NEAR(std::accumulate(y.begin(), y.begin() + 100, 0.0), 1, 1e-12);
  const TensorMap whole = family.honest(kAxes, inputs.values, {0, 6}, 1);
  const std::vector<double> honest(whole.at("y").begin(), whole.at("y").begin() + 100);
  const std::vector<double> row(y.begin(), y.begin() + 100);
  const std::vector<double> noise(expected.noise.at("y").begin(), expected.noise.at("y").begin() + 100);
  const Tolerance tolerance = family.tolerance("y", kAxes);
  EXPECT_TRUE(closeness(tolerance, row, noise, honest).holds());
  std::vector<double> zeros(100);
  EXPECT_GT(closeness(tolerance, row, noise, zeros).element, 100);
}

TEST(FileFamily, ItsProgramWritesNoFileAndStartsNoProcess) {
  const TemporaryFolder folder;
  const std::string note = folder.path() / "note";
  const Family family = family_of(
      parse_family("// apo:family f\n// apo:axis n 1..64\n// apo:input x f32[n] normal\n// apo:output y f32[n]\n"
                   "// apo:workload a small n=6\n#include <fcntl.h>\n#include <unistd.h>\n"
                   "static const int before = open(\"" +
                       note +
                       "\", O_WRONLY | O_CREAT, 0600);\n"
                       "template <class Real> void reference(int64_t n, const Real* x, Real* y) {\n"
                       "  for (int64_t i = 0; i < n; ++i) y[i] = x[i];\n"
                       "  y[0] = before; y[1] = fork() < 0; y[2] = open(\"/etc/passwd\", O_RDONLY) >= 0;\n}\n",
                   "f.h"),
      test_oracle());
  const Axes axes = {{"n", 6}};
  const std::vector<double> y =
      family.reference(axes, make_inputs(family, axes, 1, "typical", 1).values, {}, 1).at("y");
  EXPECT_EQ(y[0], -1) << "a file was made before the program began";
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[2], 1) << "it may read";
  EXPECT_FALSE(std::filesystem::exists(note));
}

TEST(FileFamily, WorkIsCountedFromTheReference) {
  const Family family = family_of(parse_family(kSoftmax, "softmax.h"), test_oracle());
  const Work work = family.work({{"cols", 256}, {"rows", 64}});
  ASSERT_EQ(work.special_by_name.size(), 2u);
  EXPECT_EQ(work.special_by_name[1].name, "exp");
  EXPECT_EQ(work.special_by_name[1].count, 64 * 256);
  EXPECT_EQ(work.special_functions, 64 * 256) << "divisions can be one a row";
  EXPECT_EQ(work.flops, 64 * 256 * 2);
  EXPECT_EQ(work.bytes, 64 * 256 * 8);
}

TEST(FileFamily, AnAxisSplitsTheWorkWhereItIsAWholeExtent) {
  const FamilyFile file = parse_family(
      "// apo:family f\n// apo:axis kept 0..1\n// apo:axis n 0..64\n// apo:axis m 0..64\n"
      "// apo:input x f32[n,m] normal\n// apo:output y f32[n,m]\n// apo:output z f32[kept?n:1,m]\n// apo:unit n m/4\n"
      "// apo:workload a ragged kept=1 n=6 m=7\n// apo:workload b small kept=0 n=6 m=7\n"
      "template <class Real> void reference(int64_t kept, int64_t n, int64_t m, const Real* x, Real* y, Real* z) {\n"
      "  for (int64_t i = 0; i < (kept ? n * m : m); ++i) z[i] = 0;\n"
      "  for (int64_t i = 0; i < n * m; ++i) { y[i] = 2 * x[i]; z[kept ? i : i % m] += x[i]; }\n}\n",
      "f.h");
  const Family family = family_of(file, test_oracle());
  EXPECT_EQ(family.unit_count(file.workloads[0].axes), 6 * 2);
  EXPECT_EQ(family.unit_count(file.workloads[1].axes), 2) << "z is a sum over n";
  EXPECT_EQ(family.unit_count({{"kept", 1}, {"n", 0}, {"m", 7}}), 0);
  const Axes none = {{"kept", 0}, {"n", 0}, {"m", 7}};
  const InputSet inputs = make_inputs(family, none, 1, "typical", 1);
  const TensorMap outputs = family.reference(none, inputs.values, {}, 1);
  EXPECT_EQ(outputs.at("z"), std::vector<double>(7, 0)) << "a sum over an empty axis";
  EXPECT_TRUE(outputs.at("y").empty());
}

TEST(FileFamily, APartHasTheRowPointersOfItsRowsAndTheEndOfTheLast) {
  const FamilyFile file = parse_family(
      "// apo:family f\n// apo:axis n 1..64\n// apo:axis m 1..64\n// apo:input p i32[n + 1] fill\n"
      "// apo:input x f32[m] normal\n// apo:output y f32[n]\n// apo:unit n/3\n// apo:workload a ragged n=7 m=14\n"
      "void fill_p(int64_t n, int64_t m, Random&, int64_t* p) {\n"
      "  for (int64_t i = 0; i <= n; ++i) p[i] = m * i / n;\n}\n"
      "template <class Real> void reference(int64_t n, int64_t, const int64_t* p, const Real* x, Real* y) {\n"
      "  for (int64_t i = 0; i < n; ++i) { y[i] = 0; for (int64_t j = p[i]; j < p[i + 1]; ++j) y[i] += x[j]; }\n}\n",
      "f.h");
  const Family family = family_of(file, test_oracle());
  const Axes& axes = file.workloads[0].axes;
  const std::vector<ElementRun> runs = family.unit_elements(axes, "p", 1);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].offset, 3);
  EXPECT_EQ(runs[0].count, 4);
  const InputSet inputs = make_inputs(family, axes, 1, "typical", 1);
  const TensorMap last = family.reference(axes, inputs.values, {2}, 1);
  const std::vector<double>& x = inputs.values.at("x");
  EXPECT_EQ(last.at("y").back(), x[12] + x[13]);
}

TEST(FileFamily, AReferenceChangesWhatItReadsInPlaceAndTheInputsStay) {
  const FamilyFile file = parse_family(
      "// apo:family f\n// apo:axis n 1..64\n// apo:input x f32[n] normal\n// apo:inout p f32[n] normal\n"
      "// apo:inout count i64[n] uniform(0,9)\n// apo:unit n/4\n// apo:workload a ragged n=6\n"
      "template <class Real> void reference(int64_t n, const Real* x, Real* p, int64_t* count) {\n"
      "  for (int64_t i = 0; i < n; ++i) { p[i] += x[i] / Real(3); if (i % 2 == 0) ++count[i]; }\n}\n",
      "f.h");
  const Family family = family_of(file, test_oracle());
  const Axes& axes = file.workloads[0].axes;
  const InputSet inputs = make_inputs(family, axes, 1, "typical", 1);
  const Expected expected = expect(family, inputs, {}, 1);
  const TensorMap honest = family.honest(axes, inputs.values, {}, 1);
  for (std::size_t i = 0; i < 6; ++i) {
    const double sum = inputs.values.at("p")[i] + inputs.values.at("x")[i] / 3;
    EXPECT_NEAR(expected.reference.at("p")[i], sum, 1e-15);
    EXPECT_NEAR(honest.at("p")[i], sum, 1e-6);
    EXPECT_GT(expected.noise.at("p")[i], 0);
    EXPECT_LT(expected.noise.at("p")[i], 1e-6);
    EXPECT_EQ(expected.reference.at("count")[i], inputs.values.at("count")[i] + (i % 4 % 2 == 0 ? 1 : 0)) << i;
  }
  EXPECT_EQ(family.work(axes).bytes, 6 * 4 + 2 * 6 * 4 + 2 * 3 * 8) << "what changes is read and written";
}

TEST(FileFamily, WhatACallLeavesAloneAndWhatItOverwritesIsNoTrafficThatItNeeds) {
  const FamilyFile file = parse_family(
      "// apo:family f\n// apo:axis n 1..4096\n// apo:input x f32[2] normal\n// apo:inout p f32[n] normal\n"
      "// apo:workload a ragged n=1000\n"
      "template <class Real> void reference(int64_t n, const Real* x, Real* p) {\n"
      "  p[0] = x[0]; p[1] += x[1];\n}\n",
      "f.h");
  const Family family = family_of(file, test_oracle());
  EXPECT_NEAR(family.work(file.workloads[0].axes).bytes, 2 * 4 + 4 + 2 * 4, 1);
}

TEST(FileFamily, OutputsMayFallIntoPartsAlongAxesOfTheirOwn) {
  const FamilyFile file = parse_family(
      "// apo:family f\n// apo:axis n 1..64\n// apo:axis m 1..64\n// apo:input x f32[n] normal\n"
      "// apo:input w f32[m] normal\n// apo:output y f32[n]\n// apo:output z f32[m]\n// apo:unit y: n\n"
      "// apo:unit z: m/4\n// apo:workload a ragged n=6 m=7\n"
      "template <class Real> void reference(int64_t n, int64_t m, const Real* x, const Real* w, Real* y, Real* z) {\n"
      "  for (int64_t i = 0; i < n; ++i) y[i] = 0;\n  for (int64_t j = 0; j < m; ++j) z[j] = 0;\n"
      "  for (int64_t i = 0; i < n; ++i) for (int64_t j = 0; j < m; ++j) { y[i] += w[j]; z[j] += x[i]; }\n}\n",
      "f.h");
  const Family family = family_of(file, test_oracle());
  const Axes& axes = file.workloads[0].axes;
  ASSERT_EQ(family.unit_count(axes), 6 + 2);
  EXPECT_TRUE(family.unit_elements(axes, "y", 7).empty());
  EXPECT_EQ(family.unit_elements(axes, "z", 7).front().offset, 4);
  EXPECT_EQ(family.work(axes).flops, 2 * 6 * 7) << "the units of z repeat the work of those of y";
  const InputSet inputs = make_inputs(family, axes, 1, "typical", 1);
  const TensorMap last = family.reference(axes, inputs.values, {5, 7}, 1);
  const std::vector<double>&x = inputs.values.at("x"), &w = inputs.values.at("w");
  EXPECT_EQ(last.at("y")[5], std::accumulate(w.begin(), w.end(), 0.0));
  EXPECT_EQ(last.at("z")[6], std::accumulate(x.begin(), x.end(), 0.0));
}

// Rows that lie apart in x and y, and a w that all units share.
TEST(FileFamily, SomeUnitsGetTheValuesAndTheNoiseThatTheyGetAmongAll) {
  const FamilyFile file = parse_family(
      "// apo:family f\n// apo:axis n 1..64\n// apo:axis m 1..64\n// apo:input x f32[n,m] normal\n"
      "// apo:input w f32[n] normal\n// apo:output y f32[n,m]\n// apo:output z f32[m]\n// apo:unit m/4\n"
      "// apo:workload a ragged n=6 m=15\n"
      "template <class Real> void reference(int64_t n, int64_t m, const Real* x, const Real* w, Real* y, Real* z) {\n"
      "  for (int64_t j = 0; j < m; ++j) z[j] = 0;\n"
      "  for (int64_t i = 0; i < n; ++i) for (int64_t j = 0; j < m; ++j) z[j] += y[i * m + j] = w[i] * x[i * m + "
      "j];\n}\n",
      "f.h");
  const Family family = family_of(file, test_oracle());
  const InputSet inputs = make_inputs(family, file.workloads[0].axes, 3, "typical", 1);
  const Expected all = expect(family, inputs, {0, 1, 2, 3}, 1), some = expect(family, inputs, {1, 3}, 2);
  const auto part = [](const std::vector<double>& of, std::size_t first, std::size_t count) {
    return std::vector<double>(of.begin() + static_cast<std::ptrdiff_t>(first),
                               of.begin() + static_cast<std::ptrdiff_t>(first + count));
  };
  for (const auto& [name, rows] : {std::pair{"y", std::size_t{6}}, std::pair{"z", std::size_t{1}}}) {
    for (const auto& [whole, few] : {std::pair{&all.reference, &some.reference}, std::pair{&all.noise, &some.noise}}) {
      EXPECT_EQ(part(few->at(name), 0, 4 * rows), part(whole->at(name), 4 * rows, 4 * rows)) << name;
      EXPECT_EQ(part(few->at(name), 4 * rows, 3 * rows), part(whole->at(name), 12 * rows, 3 * rows)) << name;
    }
    EXPECT_NE(some.noise.at(name).front(), 0);
  }
}

TEST(FileFamily, ALargeWorkloadAloneGetsASmallAndARaggedOneOfItsContract) {
  const auto workloads_of = [](const std::string& lines) {
    return family_of(parse_family(
                         "// apo:family f\n// apo:axis n 1..1000000\n// apo:axis m 1..1000000\n"
                         "// apo:input x f32[n,m] normal\n// apo:output y f32[n,m]\n// apo:requires m % 32 == 0\n"
                         "// apo:class short n <= 64\n" +
                             lines + "template <class Real> void reference(int64_t, int64_t, const Real*, Real*) {}\n",
                         "f.h"),
                     test_oracle())
        .workloads;
  };
  const std::vector<Workload> scaled = workloads_of("// apo:workload large production n=1024 m=4096\n");
  ASSERT_EQ(scaled.size(), 3U);
  EXPECT_EQ(scaled[1].axes, (Axes{{"m", 128}, {"n", 64}}));
  EXPECT_EQ(scaled[1].kind, WorkloadKind::small);
  EXPECT_EQ(scaled[2].name, "n63_m128");
  EXPECT_EQ(scaled[2].kind, WorkloadKind::ragged);
  EXPECT_EQ(scaled[2].workload_class, "short");
  EXPECT_EQ(workloads_of("// apo:workload large production n=1024 m=4096\n// apo:workload w small n=3 m=32\n").size(),
            2U);
  EXPECT_EQ(workloads_of("// apo:workload w production n=3 m=32\n").size(), 1U) << "it is small itself";
}

TEST(FileFamily, FewerUnitsAreCheckedWhereTheyAreLarge) {
  const Family family = family_of(parse_family(kSoftmax, "softmax.h"), test_oracle());
  EXPECT_EQ(most_checked_units(family, {{"cols", 1024}, {"rows", 4096}}), 32);
  EXPECT_EQ(most_checked_units(family, {{"cols", 65536}, {"rows", 4096}}), 16);
  EXPECT_EQ(most_checked_units(family, {{"cols", 1 << 20}, {"rows", 4096}}), 8);
}

TEST(FileFamily, NoiseIsTheSameForAnyNumberOfThreads) {
  const std::string one_unit =
      replaced(replaced(kSoftmax, "family    softmax", "family    whole_softmax"), "// apo:unit      rows\n", "");
  for (const std::string& text : {std::string(kSoftmax), one_unit}) {
    const Family family = family_of(parse_family(text, "softmax.h"), test_oracle());
    const InputSet inputs = make_inputs(family, kAxes, 1, "wide", 1);
    EXPECT_EQ(expect(family, inputs, {}, 1).noise, expect(family, inputs, {}, 3).noise);
  }
}

// Each size is another fault; the text under its apo: lines stays the same, so all of them are one program.
constexpr const char* kFaults =
    "// apo:family faults\n// apo:axis n 1..100\n// apo:input x f32[n]\n// apo:output y f32[n]\n"
    "// apo:workload w small n=3\n"
    "#include <stdexcept>\n"
    "template <class Real>\n"
    "void reference(int64_t n, const Real* x, Real* y) {\n"
    "  for (int64_t i = 0; i < n; ++i) y[i] = x[i];\n"
    "  if (n == 10) __builtin_trap();\n"
    "  if (n == 11) for (;;) __asm__ volatile(\"\");\n"
    "  if (n == 12) y[5] = 0.0 / (x[0] - x[0]);\n"
    "  if (n == 13) throw std::runtime_error(\"no thirteen\");\n"
    "  if (n == 14) y[n] = x[0];\n"
    "  if (n == 15) std::exit(0);\n"
    "}\n";

TEST(FileFamily, AFaultyReferenceIsOneErrorThatNamesTheFile) {
  OracleOptions options = test_oracle();
  const OracleProgram program(parse_family(kFaults, "from/here/faults.h"), options);
  options.timeout_s = 0.5;
  const OracleProgram hasty(parse_family(kFaults, "faults.h"), options);
  const auto error_of = [&](std::int64_t n, ProgramKind kind) -> std::string {
    const TensorMap values = {{"x", std::vector<double>(static_cast<std::size_t>(n), 1.0)}};
    try {
      (n == 11 ? hasty : program).ask({.axes = {{"n", n}}, .units = {}, .values = &values}, kind);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of(3, ProgramKind::plain), "");
  EXPECT_NE(error_of(10, ProgramKind::plain).find("faults.h: the reference was ended by SIG"), std::string::npos);
  EXPECT_EQ(error_of(11, ProgramKind::plain), "faults.h: the reference did not finish in 500 ms (n=11)");
  EXPECT_NE(error_of(12, ProgramKind::plain).find("nan in y[5] (n=12)"), std::string::npos);
  EXPECT_EQ(error_of(13, ProgramKind::plain), "from/here/faults.h: the reference threw 'no thirteen' (n=13)");
  EXPECT_NE(error_of(15, ProgramKind::plain).find("it calls exit()"), std::string::npos);
  EXPECT_NE(error_of(14, ProgramKind::sanitized).find("from/here/faults.h:14: heap-buffer-overflow"), std::string::npos)
      << error_of(14, ProgramKind::sanitized);
}

TEST(FileFamily, AReferenceThatRunsForLongIsSaidOnceAndAnotherNot) {
  OracleOptions options = test_oracle();
  std::vector<std::string> said;  // the thread that writes it has ended before it is read
  options.on_wait = [&](const std::string& text) { said.push_back(text); };
  options.timeout_s = options.patience_s = 1000;
  const auto ask = [&](std::int64_t n) {
    const OracleProgram program(parse_family(kFaults, "faults.h"), options);
    const TensorMap values = {{"x", std::vector<double>(static_cast<std::size_t>(n), 1.0)}};
    program.ask({.axes = {{"n", n}}, .units = {}, .values = &values});
  };
  ask(3);  // compiles it, which has the same deadline
  EXPECT_TRUE(said.empty());
  options.timeout_s = options.patience_s = 0.5;  // a run that is ended has lasted as long
  EXPECT_THROW(ask(11), UserError);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said.front(),
            "waiting for the reference of family faults (n=11): it has been running for 500 ms and is ended after 500 "
            "ms; write a line '// apo:unit AXIS...' with axes along which the work falls into independent parts, so "
            "that a few parts are computed, or a smaller workload");
}

TEST(FileFamily, AReferenceThatDoesNotCompileNamesTheUsersLine) {
  const Family family =
      family_of(parse_family(replaced(kSoftmax, "exp(x[c]", "expp(x[c]"), "/home/me/my_softmax.h"), test_oracle());
  try {
    make_inputs(family, kAxes, 1, "typical", 1);
    family.reference(kAxes, make_inputs(family, kAxes, 1, "typical", 1).values, {}, 1);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("compile: /home/me/my_softmax.h:16"), std::string::npos) << error.what();
  }
}

TEST(FileFamily, ACopyInAnotherFolderIsTheSameProgram) {
  EXPECT_EQ(oracle_source(parse_family(kSoftmax, "/home/me/softmax.h")),
            oracle_source(parse_family(kSoftmax, ".apo/families/softmax/copy.h")));
}

// The family `text`, or the softmax, with this reference by Debian's Python, which has the NumPy that tests/run
// installs.
FamilyFile by_python(const TemporaryFolder& folder, const std::string& script, std::string text = "") {
  write_file_atomically(folder.path() / "ref.py", script);
  const std::string softmax = kSoftmax;
  text = text.empty() ? replaced(softmax.substr(0, softmax.find("template")), "// apo:unit      rows\n", "") : text;
  return parse_family(text + "// apo:reference /usr/bin/python3 ref.py\n", (folder.path() / "f.h").string());
}

void expect_same_softmax(const Family& family, const TensorMap& inputs) {
  const TensorMap expected =
      family_of(parse_family(kSoftmax, "softmax.h"), test_oracle()).reference(kAxes, inputs, {}, 1);
  const TensorMap actual = family.reference(kAxes, inputs, {}, 1);
  for (std::size_t i = 0; i < 700; ++i) {
    ASSERT_NEAR(actual.at("y")[i], expected.at("y")[i], 1e-15);
  }
}

TEST(CommandReference, NumPyIsAReference) {
  const TemporaryFolder folder;
  const FamilyFile file = by_python(folder,
                                    "import sys, numpy as np\nx = np.load(sys.argv[1] + '/x.npy')\n"
                                    "e = np.exp(x - x.max(axis=1, keepdims=True))\n"
                                    "np.save(sys.argv[1] + '/y.npy', e / e.sum(axis=1, keepdims=True))\n");
  ASSERT_EQ(file.headers.size(), 1u) << "the script is part of the contract";
  EXPECT_EQ(std::ranges::count(file.regimes, "denormal"), 0) << "its error says nothing of hardware that flushes them";
  EXPECT_EQ(std::ranges::count(file.regimes, "zero_rows"), 1);
  const Family family = family_of(file, test_oracle());
  const InputSet inputs = make_inputs(family, kAxes, 1, "typical", 1);
  expect_same_softmax(family, inputs.values);
  const TensorMap noise = expect(family, inputs, {}, 1).noise;
  EXPECT_GT(*std::ranges::max_element(noise.at("y")), 1e-10);
  EXPECT_LT(*std::ranges::max_element(noise.at("y")), 1e-6);
}

TEST(CommandReference, TheNoiseOfAnElementIsThatOfElementsOfItsSize) {
  const TemporaryFolder folder;
  const FamilyFile file = by_python(folder,
                                    "import sys, json, numpy as np\ny = np.load(sys.argv[1] + '/x.npy').astype('f8')\n"
                                    "y.flat[:] = 3\ny.flat[500:] = 1000\n"
                                    "if json.load(open(sys.argv[1] + '/axes.json'))['precision'] == 'float32':\n"
                                    "  y *= 1 + 1e-7\n  y.flat[0] = 3 + 1e-15\n  y.flat[1] = 3\n"
                                    "np.save(sys.argv[1] + '/y.npy', y)\n");
  const Family family = family_of(file, test_oracle());
  const std::vector<double> noise = expect(family, make_inputs(family, kAxes, 1, "typical", 1), {}, 1).noise.at("y");
  EXPECT_NEAR(noise[0], 3e-7, 1e-8) << "by chance there was none";
  EXPECT_EQ(noise[1], 0) << "it is exact";
  EXPECT_NEAR(noise[2], 3e-7, 1e-8);
  EXPECT_NEAR(noise[600], 1e-4, 1e-6);
}

// NumPy adds pairwise, which errs less.
TEST(CommandReference, AFloatLoopIsRightAndAWrongSumIsNot) {
  const TemporaryFolder folder;
  for (const char* draw : {"uniform(0,1)", "normal"}) {
    const FamilyFile file = by_python(folder,
                                      "import sys, numpy as np\nx = np.load(sys.argv[1] + '/x.npy')\n"
                                      "np.save(sys.argv[1] + '/y.npy', x.sum(axis=1))\n",
                                      std::string("// apo:family sums\n// apo:axis m 1..4096\n// apo:axis n 1..4096\n"
                                                  "// apo:output y f32[m]\n// apo:workload w small m=64 n=1024\n"
                                                  "// apo:input x f32[m,n] ") +
                                          draw + "\n");
    const Family family = family_of(file, test_oracle());
    const Axes axes = {{"m", 64}, {"n", 1024}};
    const InputSet inputs = make_inputs(family, axes, 1, "typical", 1);
    const Expected expected = expect(family, inputs, {}, 1);
    const std::vector<double>& x = inputs.values.at("x");
    const auto is_right = [&](double scale, std::size_t terms) {
      std::vector<double> sums;
      for (std::size_t row = 0; row < 64; ++row) {
        float sum = 0;
        for (std::size_t i = 0; i < terms; ++i) {
          sum += static_cast<float>(x[row * 1024 + i]);
        }
        sums.push_back(scale * sum);
      }
      return closeness(family.tolerance("y", axes), expected.reference.at("y"), expected.noise.at("y"), sums).holds();
    };
    EXPECT_TRUE(is_right(1, 1024)) << draw;
    EXPECT_FALSE(is_right(1, 1023)) << draw;
    EXPECT_FALSE(is_right(1.002, 1024)) << draw;
  }
}

TEST(CommandReference, ItsFaultsAreOneErrorEach) {
  const std::string numpy = "import sys, numpy as np\n";
  const std::pair<std::string, const char*> faults[] = {
      {"import no_such_module\n", "No module named 'no_such_module'"},
      {"pass\n", "wrote no y.npy"},
      {"import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "was ended by SIGSEGV"},
      {numpy + "np.save(sys.argv[1] + '/y.npy', np.zeros((2, 2)))\n", "wrote y.npy with shape [2,2], needed [7,100]"},
      {numpy + "np.save(sys.argv[1] + '/y.npy', np.zeros((7, 100), np.float16))\n",
       "wrote y.npy as f16, which rounds what is to be f32"}};
  const TemporaryFolder folder;
  for (const auto& [script, fault] : faults) {
    const Family family = family_of(by_python(folder, script), test_oracle());
    try {
      family.reference(kAxes, make_inputs(family, kAxes, 1, "typical", 1).values, {}, 1);
      ADD_FAILURE() << "no error: " << script;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(fault), std::string::npos) << error.what();
    }
  }
}

// A program that stays answers every request of a draw; its inputs and its own dtypes are its own affair.
TEST(CommandReference, AProgramMayStayDrawInputsAndComputeInTheDeclaredDtypes) {
  const TemporaryFolder folder;
  const FamilyFile file =
      by_python(folder, R"(import json, os, sys
import numpy as np
folder = sys.argv[-1]
while folder:
    request = json.load(open(folder + '/axes.json'))
    with open('log.txt', 'a') as log:
        print(os.getpid(), request.get('precision', 'fill'), file=log)
    if 'fill' in request:
        order = np.random.default_rng(request['seed'] % 2**32).permutation(request['axes']['n'])
        np.save(folder + '/order.npy', order.astype(np.int32))
    else:
        x, order = np.load(folder + '/x.npy'), np.load(folder + '/order.npy')
        if request['precision'] == 'declared':
            x = x.astype(np.float16)
        np.save(folder + '/y.npy', (x * x)[order].astype(np.float64))
    print('apo:next', flush=True)
    folder = sys.stdin.readline().strip()
)",
                "// apo:family squares\n// apo:axis n 1..100\n// apo:input x f16[n]\n// apo:input order i32[n] fill\n"
                "// apo:output y f16[n]\n// apo:precision float64 declared\n// apo:workload w small n=50\n");
  const Family family = family_of(file, test_oracle());
  const Axes axes = {{"n", 50}};
  const InputSet inputs = make_inputs(family, axes, 1, "typical", 1);
  const Expected expected = expect(family, inputs, {}, 1);
  const TensorMap honest = family.honest(axes, inputs.values, {}, 1);
  for (std::size_t i = 0; i < 50; ++i) {
    const double x = inputs.values.at("x")[static_cast<std::size_t>(inputs.values.at("order")[i])];
    EXPECT_EQ(expected.reference.at("y")[i], x * x);
    EXPECT_EQ(honest.at("y")[i], round_to(DType::f16, x * x));
    EXPECT_LT(expected.noise.at("y")[i], 1e-6 * (1 + x * x)) << "the rounding of the output is no noise";
  }
  const std::vector<std::string> lines = split(trim(read_file(folder.path() / "log.txt")), '\n');
  ASSERT_EQ(lines.size(), 7u);  // fill, float64, float32 three times, declared for the noise and for the honest version
  for (const std::string& line : lines) {
    EXPECT_EQ(split_words(line).front(), split_words(lines.front()).front()) << "one process";
  }
}

// A reference that rounds its result itself is off by its own rounding, which a legal implementation may not share.
TEST(CommandReference, AReferenceThatRoundsItsResultLeavesRoomForThat) {
  const TemporaryFolder folder;
  const FamilyFile file =
      by_python(folder,
                "import sys, numpy as np\nx = np.load(sys.argv[1] + '/x.npy')\n"
                "np.save(sys.argv[1] + '/y.npy', (x / 3).astype(np.float16).astype(np.float64))\n",
                "// apo:family third\n// apo:axis n 1..100\n// apo:input x f16[n]\n// apo:output y f16[n]\n"
                "// apo:workload w small n=50\n");
  const Family family = family_of(file, test_oracle());
  const Expected expected = expect(family, make_inputs(family, Axes{{"n", 50}}, 1, "typical", 1), {}, 1);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_GE(expected.noise.at("y")[i] * 16, 0x1p-11 * std::fabs(expected.reference.at("y")[i]));
  }
}

// What docs/families.md says of PyTorch.
TEST(CommandReference, PyTorchIsAReference) {
  if (!run_process({"/usr/bin/python3", "-c", "import torch"}).ok()) {
    GTEST_SKIP() << "needs PyTorch: apt-get install python3-torch";
  }
  const TemporaryFolder folder;
  const Family family = family_of(by_python(folder, R"(import sys
import numpy as np
import torch

folder = sys.argv[-1]
while folder:
    x = torch.from_numpy(np.load(folder + "/x.npy"))
    np.save(folder + "/y.npy", torch.softmax(x, dim=1).numpy())
    print("apo:next", flush=True)
    folder = sys.stdin.readline().strip()
)"),
                                  test_oracle());
  expect_same_softmax(family, make_inputs(family, kAxes, 1, "typical", 1).values);
}

}  // namespace
}  // namespace apo
