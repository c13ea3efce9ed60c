// tests/cli/improve/try_test.cpp - files that are registered, verified and judged by one command.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/workplace.h"

namespace apo {
namespace {

constexpr double kPatienceS = 300;
constexpr const char* kHead = "void copy(const float* x, float* y, long n) {";

// The A/A sentinel stops a campaign on a machine that is too restless to judge on.
bool restless_machine(const Ran& ran) {
  return ran.exit_code == 2 && (ran.out + ran.err).find("A/A sentinel") != std::string::npos;
}

TEST(Try, EachFileGetsOneLineOfVerdict) {
  const Workplace place;
  place.write("slow.cpp", std::string(kHead) +
                              "for (int k = 0; k < 8; ++k) { for (long i = 0; i < n; ++i) y[i] = x[i];"
                              " __asm__ volatile(\"\" ::: \"memory\"); } }\n");
  place.write("wrong.cpp", std::string(kHead) + " y[0] = n; }\n");
  place.write("broken.cpp", "void copy(float* x) {}\n");
  const Ran ran = place.apo({"try", "copy", "slow.cpp", "wrong.cpp", "broken.cpp", "--workload", "n4k"}, kPatienceS);
  if (restless_machine(ran)) {
    GTEST_SKIP() << ran.err;
  }
  ASSERT_EQ(ran.exit_code, 3) << "some failed a gate: " << ran.err;
  EXPECT_NE(ran.out.find("copy/wrong: incorrect: "), std::string::npos) << ran.out;
  EXPECT_NE(
      ran.out.find("copy/broken: build failed: n4k: broken.cpp:1: there is no function that can be called as 'void "
                   "copy(const float* x, float* y, int64_t n)'"),
      std::string::npos)
      << ran.out;
  EXPECT_NE(ran.out.find("copy/slow: reverted 0."), std::string::npos) << ran.out;
  EXPECT_TRUE(std::filesystem::exists(place.path(".apo/variants/copy/slow.cpp")));
  EXPECT_FALSE(std::filesystem::exists(place.path(".apo/variants/copy/wrong.cpp"))) << "it failed";
  EXPECT_NE(ran.out.find("incumbent: copy/simple"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("1.00x"), std::string::npos) << "nothing was predicted";
  const nlohmann::json shown = only_document(place.apo({"show", "1", "--json"}));
  EXPECT_TRUE(shown["prediction"].is_null()) << shown;
}

TEST(Try, TheDocumentHoldsTheExperimentOfEachFile) {
  const Workplace place;
  place.write("same.cpp", std::string(kHead) + " for (long i = 0; i < n; ++i) y[i] = x[i]; }\n");
  const Ran ran = place.apo({"try", "copy", "same.cpp", "--workload", "n4k", "--json"}, kPatienceS);
  if (restless_machine(ran)) {
    GTEST_SKIP() << ran.err;
  }
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const nlohmann::json document = only_document(ran);
  EXPECT_EQ(document["verdicts"][0]["variant"], "copy/same");
  EXPECT_NE(document["verdicts"][0]["experiment"]["id"], 0);
}

TEST(Try, TheIncumbentsTextIsNotJudgedAgainstItself) {
  const Workplace place;
  place.write("same.cpp", read_file(APO_SOURCE_FOLDER "/variants/copy/simple.cpp"));
  const Ran ran = place.apo({"try", "copy", "same.cpp", "--workload", "n4k"}, kPatienceS);
  if (restless_machine(ran)) {
    GTEST_SKIP() << ran.err;
  }
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("copy/simple: is the incumbent already: there is nothing to judge it against\n"),
            std::string::npos)
      << ran.out;
}

TEST(Try, WithoutAGpuADeviceVariantIsCheckedAndRegistered) {
  const Workplace place;
  const Ran doctor = place.apo({"compare", "copy/cuda_simple", "copy/cuda_vector4", "--no-journal"}, kPatienceS);
  if (doctor.exit_code != 2 || doctor.err.find("target cuda does not work here") == std::string::npos) {
    GTEST_SKIP() << "there is a GPU";
  }
  EXPECT_NE(doctor.err.find("'apo verify VARIANT --on cpu'"), std::string::npos) << doctor.err;
  place.write("mine.cu",
              "// apo:launch mine grid=ceil_div(n,64) block=64\n#include \"copy.args.h\"\n"
              "extern \"C\" __global__ void mine(const copy_args a) {\n"
              "  const long long i = 64LL * blockIdx.x + threadIdx.x;\n  if (i < a.n) a.y[i] = a.x[i];\n}\n");
  const Ran compared = place.apo({"compare", "copy/cuda_simple", "mine.cu"});
  EXPECT_NE(compared.err.find("it is a file: 'apo register mine.cu' adds it"), std::string::npos) << compared.err;
  const Ran tried = place.apo({"try", "copy", "mine.cu"}, kPatienceS);
  EXPECT_EQ(tried.exit_code, 2) << tried.out << tried.err;
  EXPECT_NE(tried.out.find("copy/mine: not judged: its time needs a GPU"), std::string::npos) << tried.out << tried.err;
  EXPECT_TRUE(std::filesystem::exists(place.path(".apo/variants/copy/mine.cu")));
}

TEST(Try, NothingThatPassesTheGatesIsAFailedGate) {
  const Workplace place;
  place.write("broken.cpp", "int x;\n");
  EXPECT_EQ(place.apo({"try", "copy", "broken.cpp"}).exit_code, 3);
  EXPECT_EQ(place.apo({"try", "copi", "broken.cpp"}).exit_code, 1);
}

}  // namespace
}  // namespace apo
