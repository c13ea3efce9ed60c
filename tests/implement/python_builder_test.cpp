// tests/implement/python_builder_test.cpp - Python files whose function is called: what is known of them without a GPU.
// PyTorch is not needed: its version is that of a package of the test's, which nothing else is asked of.
#include "harness/implement/python_builder.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/core/recording/python_file.h"
#include "harness/core/sources.h"
#include "harness/implement/builder.h"
#include "harness/implement/executor_builder.h"
#include "tests/implement/fixtures.h"

namespace apo {
namespace {

using namespace test;

constexpr const char* kRun = "import torch\n\n\ndef run(x, y):\n    y.copy_(x)\n";

class PythonFile : public ::testing::Test {
 protected:
  PythonFile() { torch_is("9.8.7"); }
  ~PythonFile() override {
    setenv("PATH", path_.c_str(), 1);
    unsetenv("PYTHONPATH");
  }
  void torch_is(const std::string& version) const {
    std::filesystem::create_directories(folder_.path() / "packages" / "torch");
    write(folder_.path() / "packages" / "torch" / "__init__.py", "__version__ = '" + version + "'\n");
    setenv("PYTHONPATH", (folder_.path() / "packages").c_str(), 1);
  }
  // Puts a shell script in the place of python3.
  void python_is(const std::string& script) const {
    const auto file = write(folder_.path() / "bin" / "python3", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    setenv("PATH", ((folder_.path() / "bin").string() + ":" + path_).c_str(), 1);
  }
  Variant variant(const std::string& text, const std::string& name = "mine.py") const {
    return load_variant(write(folder_.path() / name, text).string(), {}, "copy");
  }
  Build build(const std::string& text) const {
    return builder_.build(*find_family("copy"), variant(text), {{"n", 1000}}, {});
  }
  TemporaryFolder folder_;
  Builder builder_{{.cache = folder_.path() / "cache", .home = APO_SOURCE_FOLDER, .device = executor_device()}};
  std::string path_ = std::getenv("PATH");
};

TEST_F(PythonFile, IsAVariantForAGpuAsItIs) {
  const Variant mine = variant(kRun);
  EXPECT_EQ(mine.id(), "copy/mine");
  EXPECT_EQ(mine.target, Target::cuda);
  EXPECT_EQ(mine.source, kRun);
  EXPECT_NE(mine.source_hash, variant(std::string(kRun) + "# other\n").source_hash);
  EXPECT_EQ(source_extension(mine), ".py");
}

TEST_F(PythonFile, SaysWhatItsFunctionGets) {
  const Build built = build(kRun);
  ASSERT_EQ(built.outcome, Outcome::valid) << built.evidence;
  EXPECT_TRUE(built.plan.library) << "it becomes device code when it is recorded";
  EXPECT_EQ(built.log, "calls run(x, y)\n");
  EXPECT_EQ(built.toolchain.version, "PyTorch 9.8.7");
  EXPECT_EQ(std::filesystem::path(built.object_path).filename(), kPythonRequest);
  const auto request = nlohmann::json::parse(read_file(built.object_path));
  EXPECT_EQ(request["file"], "mine.py");
  EXPECT_EQ(request["family"]["inputs"][0]["text"], "f32[n]");
  EXPECT_EQ(read_file(std::filesystem::path(built.object_path).parent_path() / "mine.py"), kRun);
  EXPECT_EQ(build("# apo:function twice a=x\ndef twice(a, out): pass\n").log, "calls twice(a=x, out=y)\n");
  EXPECT_EQ(build("# apo:tune WARPS 4,8\ndef run(x, y, WARPS): pass\n").log, "calls run(x, y, WARPS)\n");
}

TEST_F(PythonFile, IsAnotherBuildUnderAnotherTextPyTorchOrSetting) {
  const Build built = build(kRun);
  const Variant tuned = variant("# apo:tune WARPS 4,8\ndef run(x, y, WARPS): pass\n");
  const auto request_with = [&](const Settings& settings) {
    const Build one = builder_.build(*find_family("copy"), tuned, {{"n", 1000}}, settings);
    return nlohmann::json::parse(read_file(one.object_path)).at("values").at("WARPS");
  };
  EXPECT_EQ(request_with({}), 4);
  EXPECT_EQ(request_with({{"WARPS", 8}}), 8);
  EXPECT_TRUE(build(kRun).from_cache);
  EXPECT_NE(build(std::string(kRun) + "# other\n").key, built.key);
  torch_is("9.8.8");
  EXPECT_NE(build(kRun).key, built.key);
}

TEST_F(PythonFile, WithoutAFunctionThatFitsDoesNotBuild) {
  const auto evidence = [&](const std::string& text, Outcome outcome) {
    const Build built = build(text);
    EXPECT_EQ(built.outcome, outcome) << text;
    return built.evidence;
  };
  expect_contains(evidence("import torch\n", Outcome::wrong_abi),
                  "defines no class ModelNew, and no function 'custom_kernel', 'run' or 'copy'");
  expect_contains(evidence("def run(x, out, more, most): pass\n", Outcome::wrong_abi),
                  "run() takes 'most', and the family has no more to give: copy(x f32[n]; n) -> y f32[n]");
  expect_contains(evidence("import torch\ndef run(x\n", Outcome::build_failed),
                  (folder_.path() / "mine.py").string() + ":2: ");
  expect_contains(evidence("@triton.jit\ndef copy(x): pass\n", Outcome::wrong_abi), "no function that launches them");
}

TEST_F(PythonFile, TakesNoLinesOfCompiledCode) {
  for (const char* line : {"launch k grid=n", "scratch a 4*n", "link cublas", "include cccl", "flags -O2"}) {
    EXPECT_NE(error_of([&] { variant("# apo:" + std::string(line) + "\n" + kRun); }), "") << line;
  }
  expect_contains(error_of([&] { variant("# apo:launch k grid=n\n" + std::string(kRun)); }),
                  "a Python file takes no apo:launch");
  expect_contains(error_of([&] { variant("# apo:target host\n" + std::string(kRun)); }), "is called on target cuda");
  expect_contains(error_of([&] { variant("x = 1;\n"); }), "does not begin as Python does");
}

TEST_F(PythonFile, IsNotCheckedOnTheCpu) {
  const Builder executor({.cache = folder_.path() / "cache", .home = APO_SOURCE_FOLDER, .executor = true});
  const Build built = executor.build(*find_family("copy"), variant(kRun), {{"n", 1000}}, {});
  EXPECT_EQ(built.outcome, Outcome::not_checkable);
  expect_contains(built.evidence, "a Python file");
}

TEST_F(PythonFile, PythonOrPyTorchThatIsMissingIsNamed) {
  const auto refusal = [&](const std::string& script) {
    python_is(script);
    const Build built = build(kRun);
    EXPECT_EQ(built.outcome, Outcome::refused) << script;
    return built.evidence;
  };
  expect_contains(refusal("exec /usr/bin/python3 -E -S \"$@\""), "has no PyTorch: install PyTorch 2.1 or newer");
  expect_contains(refusal("echo broken >&2; exit 3"), "does not work: broken");
  setenv("PATH", (folder_.path() / "empty").c_str(), 1);
  expect_contains(build(kRun).evidence,
                  "copy/mine is a Python file, and there is no python3 here: apt-get install python3");
}

}  // namespace
}  // namespace apo
