// tests/cli/trust/executor_test.cpp - device variants on the CPU from the command line: verify and register.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/core/system/files.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

std::string zoo(const std::string& name) {
  return read_file(std::filesystem::path(APO_SOURCE_FOLDER) / "tests" / "zoo" / "executor" / (name + ".cu"));
}

TEST(VerifyOnCpu, RightDeviceVariantPassesBothGates) {
  const Ran ran = Workplace().apo({"verify", "copy/cuda_vector4", "--on", "cpu", "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const auto document = only_document(ran);
  EXPECT_EQ(document["outcome"], "valid");
  EXPECT_EQ(document["gates"].size(), 2U);
}

TEST(VerifyOnCpu, RaceIsNamedWithItsLineAndComesBackWithTheSeed) {
  const Workplace place;
  place.write(".apo/variants/copy/race_of_neighbours.cu", zoo("race_of_neighbours"));
  const Ran ran = place.apo({"verify", "copy/race_of_neighbours", "--on", "cpu", "--seed", "5"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_NE(ran.out.find("shared-memory race"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("race_of_neighbours.cu:19"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("--seed 5 runs the same again"), std::string::npos) << ran.out;
  const auto sentence = [](const std::string& text) { return text.substr(0, text.find("(during")); };
  const Ran again = place.apo({"verify", "copy/race_of_neighbours", "--on", "cpu", "--seed", "5"});
  EXPECT_EQ(sentence(ran.out), sentence(again.out));
}

TEST(VerifyOnCpu, WhatTheCpuCannotCheckDoesNotPass) {
  const Workplace place;
  place.write(".apo/variants/copy/raw_ptx.cu", zoo("raw_ptx"));
  const Ran ran = place.apo({"verify", "copy/raw_ptx", "--on", "cpu"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_NE(ran.out.find("not checkable on the CPU: PTX mov.u32"), std::string::npos) << ran.out;
}

TEST(VerifyOnCpu, OtherPlacesAndHostVariantsAreRefusedWithTheWayOut) {
  const Ran place = Workplace().apo({"verify", "copy/cuda_simple", "--on", "tpu"});
  EXPECT_EQ(place.exit_code, 1);
  EXPECT_NE(place.err.find("known: cpu"), std::string::npos) << place.err;
  const Ran host = Workplace().apo({"verify", "copy/simple", "--on", "cpu"});
  EXPECT_EQ(host.exit_code, 1);
  EXPECT_NE(host.err.find("apo verify copy/simple"), std::string::npos) << host.err;
}

TEST(VerifyOnCpu, DebugWithoutAnInputSaysSo) {
  const Ran ran = Workplace().apo({"verify", "copy/cuda_simple", "--on", "cpu", "--workload", "n1001", "--debug"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("waits for Enter"), std::string::npos) << ran.err;
}

TEST(RegisterOnCpu, BrokenKernelIsRefusedAndHonestOneAdded) {
  const Workplace place;
  place.write("race.cu", zoo("race_of_neighbours"));
  const Ran broken = place.apo({"register", "race.cu"});
  EXPECT_EQ(broken.exit_code, 3);
  EXPECT_NE(broken.err.find("gate executor says incorrect"), std::string::npos) << broken.err;
  place.write("honest.cu", zoo("honest_syncwarp"));
  const Ran honest = place.apo({"register", "honest.cu"});
  EXPECT_EQ(honest.exit_code, 0) << honest.out << honest.err;
  EXPECT_NE(honest.out.find("executor: valid"), std::string::npos) << honest.out;
  EXPECT_TRUE(std::filesystem::exists(place.path(".apo/variants/copy/honest_syncwarp.cu")));
}

TEST(RegisterOnCpu, WhatTheCpuCannotCheckIsCompiledAndSaidToBeUnchecked) {
  const Workplace place;
  place.write("ptx.cu", zoo("raw_ptx"));
  const Ran ran = place.apo({"register", "ptx.cu"});
  if (ran.out.find("not run on a GPU") == std::string::npos) {
    GTEST_SKIP() << "there is a GPU, or no toolkit";
  }
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("executor: not checked"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("build: valid, compiled for"), std::string::npos) << ran.out;
  place.write("unknown.cu", zoo("unknown_intrinsic"));
  const Ran unknown = place.apo({"register", "unknown.cu"});
  EXPECT_EQ(unknown.exit_code, 3) << unknown.out;
  EXPECT_NE(unknown.err.find("gate build says build_failed"), std::string::npos) << unknown.err;
}

TEST(RegisterOnCpu, AVariantOfLargeSizesAloneIsCompiledAndSaidToBeUnchecked) {
  const Workplace place;
  const std::string large =
      "// apo:variant copy/large\n// apo:target cuda sm_80\n// apo:requires n > 1000000\n"
      "// apo:launch copy_large grid=ceil_div(n,256) block=256\n#include \"copy.args.h\"\n"
      "extern \"C\" __global__ void copy_large(const copy_args a) {\n  const long long i = 256LL * blockIdx.x + "
      "threadIdx.x;\n  if (i < a.n) a.y[i] = a.x[i];\n}\n";
  place.write("large.cu", large);
  const Ran ran = place.apo({"register", "large.cu"});
  EXPECT_NE(ran.out.find("executor: not checked, none of "), std::string::npos) << ran.out << ran.err;
  place.write("large.cu", replaced(large, "a.y[i] = ", "a.z[i] = "));
  const Ran wrong = place.apo({"register", "large.cu"});
  EXPECT_EQ(wrong.exit_code, 3) << wrong.out;
  EXPECT_NE(wrong.err.find("gate build says build_failed"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace apo
