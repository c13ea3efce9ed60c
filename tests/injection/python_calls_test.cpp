// tests/injection/python_calls_test.cpp - the process that calls Python files, up to the GPU that is missing here.
//
// PyTorch is not needed: it is imported, and asked for nothing before CUDA starts.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "harness/core/system/files.h"
#include "harness/implement/builder.h"
#include "harness/implement/variant/metadata.h"
#include "harness/runtime/python_call.h"
#include "harness/worker/cuda/driver.h"
#include "tests/shipped_families.h"
#include "tests/text.h"

namespace apo {
namespace {

class PythonCalls : public ::testing::Test {
 protected:
  // A file that is called by a process whose `import torch` runs the text of torch_is().
  PythonCalls() {
    std::filesystem::create_directories(folder_.path() / "packages" / "torch");
    torch_is("");
    setenv("PYTHONPATH", (folder_.path() / "packages").c_str(), 1);
    write_file_atomically(folder_.path() / "mine.py", "def run(x): return x.clone()\n");
    runtime_.family = find_family("copy");
  }
  ~PythonCalls() override { unsetenv("PYTHONPATH"); }
  void torch_is(const std::string& text) const {
    write_file_atomically(folder_.path() / "packages" / "torch" / "__init__.py", "__version__ = '9.8.7'\n" + text);
  }
  Failure failure_of(std::int64_t n, std::string& log) {
    const Builder builder({.cache = folder_.path() / "cache", .home = APO_SOURCE_FOLDER});
    const Build build = builder.build(*runtime_.family, load_variant((folder_.path() / "mine.py").string(), {}, "copy"),
                                      {{"n", 8}}, {});
    EXPECT_EQ(build.outcome, Outcome::valid) << build.evidence;
    EXPECT_TRUE(is_python_build(build));
    const auto recorded = record_python(runtime_, {{"n", n}}, build, log);
    return recorded ? Failure{Outcome::valid, ""} : recorded.failure();
  }
  TemporaryFolder folder_;
  Runtime runtime_;  // one process serves all files of a GPU
};

TEST_F(PythonCalls, WithoutADriverSayWhatIsMissingOfEachSize) {
  std::string missing;
  if (cuda::load_driver(missing) != nullptr) {
    GTEST_SKIP() << "there is a driver";
  }
  torch_is("print('a banner')\n");
  for (const std::int64_t n : {8, 1001}) {
    std::string log;
    const Failure failure = failure_of(n, log);
    EXPECT_EQ(failure.outcome, Outcome::refused);
    expect_contains(failure.evidence, "it cannot be recorded: " + missing);
    EXPECT_EQ(log, "");
  }
}

TEST_F(PythonCalls, WhatAFileLeavesInPlaceOfARecordIsAFailureWithAReason) {
  runtime_.worker.device = 1;
  torch_is(
      "import __main__, os\n"
      "def leave(request, folder):\n"
      "    size = request['values']['n']\n"
      "    if size == 8:\n"
      "        os.close(os.open(request['record'], os.O_CREAT))\n"
      "        os.truncate(request['record'], 6 << 30)\n"
      "    elif size == 16:\n"
      "        os.mkfifo(request['record'])\n"
      "    elif size == 32:\n"
      "        os.mkdir(request['record'])\n"
      "    else:\n"
      "        (folder / 'ANSWER.json').mkdir()\n"
      "        os._exit(0)\n"
      "    return {'outcome': 'valid', 'evidence': ''}\n"
      "__main__.Process.record = lambda _, *given: leave(*given)\n");
  for (const auto& [n, says] : std::map<std::int64_t, std::string>{{8, "record' is larger than any file"},
                                                                   {16, "record' is no regular file"},
                                                                   {32, "record' is no regular file"},
                                                                   {64, "ANSWER.json' is no regular file"}}) {
    std::string log;
    const Failure failure = failure_of(n, log);
    EXPECT_EQ(failure.outcome, Outcome::faulted);
    expect_contains(failure.evidence, "what it wrote down cannot be read: ");
    expect_contains(failure.evidence, says);
  }
}

}  // namespace
}  // namespace apo
