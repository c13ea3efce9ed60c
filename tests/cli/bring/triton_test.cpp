// tests/cli/bring/triton_test.cpp - `apo register` of a Triton kernel on a machine without a GPU.
#include <gtest/gtest.h>

#include "harness/core/system/files.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

TEST(TritonRegister, NeitherTheExecutorNorAnythingElseCallsItValidWithoutAGpu) {
  const Workplace place;
  const std::string source = "# apo:variant copy/mine\n# apo:launch all grid=ceil_div(n,128)\nimport triton\n";
  place.write("mine.py", source);
  const Ran checked = place.apo({"register", "mine.py"});
  EXPECT_EQ(checked.out.find("executor: valid"), std::string::npos) << checked.out;
  if (checked.out.find("not run on a GPU") == std::string::npos && checked.exit_code == 0) {
    GTEST_SKIP() << "there is a GPU";
  }
  EXPECT_EQ(checked.exit_code, 3);
  EXPECT_NE(checked.out.find("not checkable on the CPU: a Triton kernel"), std::string::npos) << checked.out;
  EXPECT_NE(checked.err.find("gate build says"), std::string::npos) << checked.err << "there is no kernel";
  EXPECT_TRUE(is_absent(place.path(".apo/variants")));

  const Ran unchecked = place.apo({"register", "mine.py", "--no-executor"});
  EXPECT_EQ(unchecked.exit_code, 0) << unchecked.err;
  EXPECT_NE(unchecked.out.find("not run on a GPU"), std::string::npos) << unchecked.out;
  EXPECT_EQ(read_file(place.path(".apo/variants/copy/mine.py")), source);
}

TEST(TritonRegister, TheExampleHasAValidBlock) {
  const Workplace place;
  const std::string example = std::string(APO_SOURCE_FOLDER) + "/examples/row_softmax_triton.py";
  const Ran ran = place.apo({"register", example, "--no-verify"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(place.apo({"list", "row_softmax"}).out.find("triton_rows"), std::string::npos);
}

TEST(TritonRegister, AMistakeInTheBlockIsOneErrorWithItsLine) {
  const Workplace place;
  place.write("rows.py", "# apo:variant row_softmax/rows\n# apo:launch rows grid=lines\n");
  const Ran ran = place.apo({"register", "rows.py"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("rows.py:2: apo:launch: unknown symbol 'lines'"), std::string::npos) << ran.err;
  EXPECT_TRUE(is_absent(place.path(".apo/variants")));
}

}  // namespace
}  // namespace apo
