// tests/implement/record_test.cpp - a recorded call as a variant: nothing is compiled.
#include "harness/core/base64.h"
#include "harness/core/hash.h"
#include "harness/core/recording/recorded_call.h"
#include "harness/implement/builder.h"
#include "tests/implement/fixtures.h"

namespace apo {
namespace {

using namespace test;

class Records : public ::testing::Test {
 protected:
  static std::string call() {
    const RecordedKernel kernel{.module = 0,
                                .name = "copy",
                                .grid = {4, 1, 1},
                                .block = {256, 1, 1},
                                .parameters = base64(std::string(16, '\0')),
                                .places = {{.parameter = 0, .argument = 0}, {.parameter = 8, .argument = 1}}};
    RecordedCall recorded;
    recorded.operations = {{.kernel = kernel}};
    recorded.modules = {{.image = "cubin", .variables = {}}};
    return encode(recorded);
  }
  Variant variant(const std::string& bytes, const std::string& lines = "// apo:record copy.record\n") const {
    write_file_atomically(folder_.path() / "copy.record", bytes);
    return load_variant(write(folder_.path() / "recorded.cu", "// apo:target cuda\n" + lines).string(), {}, "copy");
  }
  Build build(const std::string& bytes) const {
    return builder_.build(*find_family("copy"), variant(bytes), {{"n", 3}}, {});
  }

  TemporaryFolder folder_;
  Builder builder_{{.cache = folder_.path() / "cache", .home = APO_SOURCE_FOLDER, .timeout_s = 1000}};
};

TEST_F(Records, AreLaunchedAsTheyAre) {
  const Build built = build(call());
  ASSERT_EQ(built.outcome, Outcome::valid) << built.evidence;
  EXPECT_TRUE(built.plan.recorded);
  EXPECT_FALSE(built.plan.library);
  ASSERT_EQ(built.plan.launches.size(), 1U);
  EXPECT_EQ(built.plan.launches.front().kernel, "copy");
  EXPECT_EQ(sha256(read_file(built.object_path)), built.object_hash);
}

TEST_F(Records, CutOffDoNotBuild) {
  const Build built = build(call().substr(0, 40));
  EXPECT_EQ(built.outcome, Outcome::build_failed);
  expect_contains(built.evidence, "is no record, or a part of one");
}

TEST_F(Records, AreForAGpuAndExcludeWhatCompiledCodeHas) {
  EXPECT_THROW(variant(call(), "// apo:record copy.so\n"), UserError);
  EXPECT_THROW(variant(call(), "// apo:record copy.record\n// apo:launch k grid=1 block=1\n"), UserError);
  write_file_atomically(folder_.path() / "copy.record", call());
  EXPECT_THROW(load_variant(write(folder_.path() / "r.cpp", "// apo:target host\n// apo:record copy.record\n").string(),
                            {}, "copy"),
               UserError);
}

}  // namespace
}  // namespace apo
