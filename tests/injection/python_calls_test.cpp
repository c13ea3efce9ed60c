// tests/injection/python_calls_test.cpp - the process that calls Python files, up to the GPU that is missing here.
//
// PyTorch is not needed: it is imported, and asked for nothing before CUDA starts.
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/core/system/files.h"
#include "harness/implement/builder.h"
#include "harness/implement/variant/metadata.h"
#include "harness/runtime/python_call.h"
#include "harness/worker/cuda/driver.h"
#include "tests/shipped_families.h"
#include "tests/text.h"

namespace apo {
namespace {

TEST(PythonCall, WithoutADriverSaysWhatIsMissingOfEachSize) {
  std::string missing;
  if (cuda::load_driver(missing) != nullptr) {
    GTEST_SKIP() << "there is a driver";
  }
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "packages" / "torch");
  write_file_atomically(folder.path() / "packages" / "torch" / "__init__.py", "__version__ = '9.8.7'\n");
  setenv("PYTHONPATH", (folder.path() / "packages").c_str(), 1);
  write_file_atomically(folder.path() / "mine.py", "def run(x): return x.clone()\n");
  const Family& copy = *find_family("copy");
  const Builder builder({.cache = folder.path() / "cache", .home = APO_SOURCE_FOLDER});
  const Build build =
      builder.build(copy, load_variant((folder.path() / "mine.py").string(), {}, "copy"), {{"n", 8}}, {});
  ASSERT_EQ(build.outcome, Outcome::valid) << build.evidence;
  ASSERT_TRUE(is_python_build(build));
  Runtime runtime;
  runtime.family = &copy;
  for (const std::int64_t n : {8, 1001}) {
    std::string log;
    const auto recorded = record_python(runtime, {{"n", n}}, build, log);
    ASSERT_FALSE(recorded);
    EXPECT_EQ(recorded.failure().outcome, Outcome::refused);
    expect_contains(recorded.failure().evidence, "it cannot be recorded: " + missing);
    EXPECT_EQ(log, "");
  }
  unsetenv("PYTHONPATH");
}

}  // namespace
}  // namespace apo
