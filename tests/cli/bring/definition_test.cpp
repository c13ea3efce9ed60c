// tests/cli/bring/definition_test.cpp - a definition imported, and variants held against it; where PyTorch is.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
constexpr const char* kPython = "/usr/bin/python3";

bool has_torch() {
  static const bool kHas = find_program(kPython) && run_process({kPython, "-c", "import torch"}).ok();
  return kHas;
}

std::string problem(const std::string& name) {
  return APO_SOURCE_FOLDER "/tests/definitions/" + name;
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "wanted: " << part << "\ngot: " << text;
}

TEST(ImportDefinition, WithoutPyTorchTheErrorSaysWhatToInstallAndNothingIsWritten) {
  const Workplace place;
  place.write("bare_python", "#!/bin/sh\nexec /usr/bin/python3 -S \"$@\"\n");
  fs::permissions(place.path("bare_python"), fs::perms::owner_all);
  const Ran ran = place.apo({"import", "definition", problem("rmsnorm_d96"), "--python", place.path("bare_python")});
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  expect_part(ran.err, "install NumPy and PyTorch for /usr/bin/python3");
  expect_part(ran.err, "nothing was written or registered");
  EXPECT_TRUE(is_absent(place.path("rmsnorm_d96.h")));
  EXPECT_TRUE(is_absent(place.path(".apo/families")));
}

TEST(ImportDefinition, MistakesOfTheCommandAreOneErrorEach) {
  const Workplace place;
  const Ran absent = place.apo({"import", "definition", problem("rmsnorm_d96"), "--python", "no_such_python"});
  EXPECT_EQ(absent.exit_code, 2);
  expect_part(absent.err, "cannot find the program 'no_such_python'");
  EXPECT_EQ(place.apo({"import", "definition"}).exit_code, 1);
  EXPECT_EQ(place.apo({"import", "definition", "no_such_folder"}).exit_code, 1);
  EXPECT_EQ(place.apo({"import", "definition", "a", "b", "c"}).exit_code, 1);
  expect_part(place.apo({"export", "traces"}).err, "journal");
}

TEST(ImportDefinition, AProblemIsAFamilyThatTellsRightFromWrong) {
  if (!has_torch()) {
    GTEST_SKIP() << "needs PyTorch: apt-get install python3-torch";
  }
  const Workplace place;
  const std::vector<std::string> import = {"import", "definition", problem("rmsnorm_d96"), "--python", kPython};
  const Ran imported = place.apo(import);
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  expect_part(imported.out,
              "tolerance from the reference in float64 held against float32, against moved inputs and "
              "against the declared dtypes");
  expect_part(imported.out, "family rmsnorm_d96 is registered, with 3 workloads");
  expect_part(place.apo(import).err, "'./rmsnorm_d96.h' is there already");
  std::vector<std::string> elsewhere = import;
  elsewhere.insert(elsewhere.end(), {"--output", "other"});
  expect_part(place.apo(elsewhere).err, "a family 'rmsnorm_d96' is registered already");
  EXPECT_TRUE(is_absent(place.path("other")));
  EXPECT_EQ(place.apo({"export", "definition", "--family", "rmsnorm_d96", "--output", "back"}).exit_code, 0);
  const Ran again =
      place.apo({"import", "definition", "back", "--python", kPython, "--output", "again", "--no-register"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read_file(place.path("again/rmsnorm_d96.h")), read_file(place.path("rmsnorm_d96.h")));

  const std::string right = R"(// apo:variant rmsnorm_d96/rows
// apo:target host
#include <bit>
#include <cmath>
#include <cstdint>
static float wide(uint16_t x) { return std::bit_cast<float>(uint32_t(x) << 16); }
static uint16_t narrow(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
void rmsnorm_d96(const uint16_t* x, const uint16_t* weight, uint16_t* y, float eps, int64_t rows, int64_t width) {
  for (int64_t r = 0; r < rows; ++r, x += width, y += width) {
    float sum = 0;
    for (int64_t c = 0; c < width; ++c) sum += wide(x[c]) * wide(x[c]);
    const float scale = 1 / std::sqrt(sum / width + eps);
    for (int64_t c = 0; c < width; ++c) y[c] = narrow(wide(x[c]) * scale * wide(weight[c]));
  }
}
)";
  place.write("rows.cpp", right);
  place.write("no_weight.cpp",
              replaced(replaced(right, "rmsnorm_d96/rows", "rmsnorm_d96/no_weight"), " * wide(weight[c])", ""));
  const Ran rows = place.apo({"register", "rows.cpp"});
  EXPECT_EQ(rows.exit_code, 0) << rows.err;
  const Ran wrong = place.apo({"register", "no_weight.cpp"});
  EXPECT_EQ(wrong.exit_code, 3) << wrong.out;
  expect_part(wrong.err, "gate correctness says incorrect");
}

TEST(ImportDefinition, WhatIsOnlyWrittenIsRegisteredAfterAnEdit) {
  if (!has_torch()) {
    GTEST_SKIP() << "needs PyTorch: apt-get install python3-torch";
  }
  const Workplace place;
  const Ran ran = place.apo({"import", "definition", problem("embedding"), "--python", kPython, "--no-register",
                             "--output", "mine", "--name", "lookup", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(only_document(ran)["files"].size(), 3U);
  EXPECT_TRUE(is_absent(place.path(".apo/families")));
  EXPECT_EQ(place.apo({"register", "mine/lookup.h"}).exit_code, 0);
}

// The reference fails in the same way whatever it computes in.
TEST(ImportDefinition, AReferenceThatFailsNamesItsLine) {
  if (!has_torch()) {
    GTEST_SKIP() << "needs PyTorch: apt-get install python3-torch";
  }
  const Workplace place;
  const std::string softmax = read_file(problem("softmax_rows") + "/definition.json");
  place.write("workload.jsonl", read_file(problem("softmax_rows") + "/workload.jsonl"));
  const auto error_of = [&](const std::string& from, const std::string& to) {
    place.write("definition.json", replaced(softmax, from, to));
    const Ran ran = place.apo({"import", "definition", ".", "--python", kPython});
    EXPECT_EQ(ran.exit_code, 1) << ran.out;
    EXPECT_TRUE(is_absent(place.path("softmax_rows.h")));
    return ran.err;
  };
  expect_part(error_of("def run(x)", "def walk(x)"), "softmax_rows_definition.py defines no function 'run'");
  expect_part(error_of("return shifted", "return shifted, shifted"), "gives 2 of the 1 outputs y");
}

}  // namespace
}  // namespace apo
