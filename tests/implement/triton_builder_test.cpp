// tests/implement/triton_builder_test.cpp - Triton kernels on their way to a cubin. Triton itself is not needed:
// python3 finds a stand-in for it, tests/implement/triton_stand_in, or is a script that misbehaves. The cubin is
// nvcc's.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/core/pattern.h"
#include "harness/implement/builder.h"
#include "harness/implement/cubin_builder.h"
#include "harness/implement/executor_builder.h"
#include "tests/implement/fixtures.h"

namespace apo {
namespace {

using namespace test;
using Json = nlohmann::json;

constexpr const char* kBlock =
    "# apo:variant copy/mine\n# apo:launch copy_all grid=ceil_div(n,BLOCK)\n# apo:tune BLOCK 128,256\n";
constexpr const char* kCode =
    "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
    "def copy_all(x, y, n, BLOCK: tl.constexpr):\n    pass\n";

class TritonKernel : public ::testing::Test {
 protected:
  TritonKernel() {
    const std::string source = APO_SOURCE_FOLDER;
    setenv("PYTHONPATH", (source + "/tests/implement/triton_stand_in").c_str(), 1);
    setenv("APO_TEST_CUBIN", (source + "/tests/worker/code/inlined_calls.cubin").c_str(), 1);
  }
  ~TritonKernel() override {
    setenv("PATH", path_.c_str(), 1);
    unsetenv("PYTHONPATH");
  }
  // Puts a shell script in the place of python3.
  void python_is(const std::string& script) const {
    const auto file = write(folder_.path() / "bin" / "python3", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    setenv("PATH", ((folder_.path() / "bin").string() + ":" + path_).c_str(), 1);
  }
  Build build(const std::string& text, const Axes& axes = {{"n", 1000}}, double timeout_s = 1000) const {
    const auto file = write(folder_.path() / "mine.py", text);
    return build_triton({.home = APO_SOURCE_FOLDER, .timeout_s = timeout_s, .device = executor_device()}, cache_,
                        *find_family("copy"), load_variant(file.string()), axes, {});
  }
  // What Triton was asked for.
  static Json asked(const Build& built) {
    const std::size_t at = built.log.find("asked ");
    return at == std::string::npos ? Json() : Json::parse(built.log.substr(at + 6, built.log.find('\n', at) - at - 6));
  }
  TemporaryFolder folder_;
  BuildCache cache_{folder_.path() / "cache"};
  std::string path_ = std::getenv("PATH");
};

TEST_F(TritonKernel, BecomesADeviceVariantThatTakesTheWordsOfTheContract) {
  const Build built = build(std::string(kBlock) + kCode);
  ASSERT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
  ASSERT_EQ(built.plan.launches.size(), 1U);
  const KernelLaunch& launch = built.plan.launches.front();
  EXPECT_EQ(launch.kernel, "first");
  EXPECT_EQ(launch.grid, (std::array<std::int64_t, 3>{8, 1, 1}));
  EXPECT_EQ(launch.block, (std::array<std::int64_t, 3>{128, 1, 1}));
  EXPECT_EQ(launch.shared_bytes, 2048);
  EXPECT_EQ(launch.words, (std::vector<int>{0, 1, 2, -1, -1})) << "two null pointers for Triton's scratch memory";
  EXPECT_EQ(built.toolchain.version, "Triton 3.6.0");
  EXPECT_GT(built.resources.at("registers"), 0);
  const Json request = asked(built);
  EXPECT_EQ(request["signature"], (Json{{"x", "*fp32"}, {"y", "*fp32"}, {"n", "i32"}, {"BLOCK", "constexpr"}}));
  EXPECT_EQ(request["divisible"], (Json{0, 1})) << "tensors are aligned, and 1000 is no multiple of 16";
  EXPECT_EQ(request["constants"]["BLOCK"], 128);
  EXPECT_EQ(request["target"], (Json{"cuda", 90, 32}));
  EXPECT_TRUE(build(std::string(kBlock) + kCode).from_cache);
  EXPECT_FALSE(build(std::string(kBlock) + kCode, {{"n", 1001}}).code_hash.empty());
}

TEST_F(TritonKernel, LaunchLineNamesArgumentsConstantsWarpsAndStages) {
  const std::string text =
      "# apo:variant copy/mine\n"
      "# apo:launch k grid=n args=y,x,n,2*n,n SIZE=next_pow2(n) warps=8 stages=min(2,n)\n"
      "import triton\nimport triton.language as tl\n@triton.autotune(configs=[])\n@triton.jit\n"
      "def k(out, inp, size, twice, again, SIZE: tl.constexpr, MODE: tl.constexpr = 7):\n    pass\n";
  const Build built = build(text, {{"n", 48}});
  ASSERT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
  EXPECT_EQ(built.plan.launches.front().words, (std::vector<int>{1, 0, 2, 2, -1, -1}));
  EXPECT_EQ(built.plan.launches.front().block[0], 256);
  const Json request = asked(built);
  EXPECT_EQ(request["constants"], (Json{{"twice", 96}, {"SIZE", 64}, {"MODE", 7}}));
  EXPECT_EQ(request["options"], (Json{{"num_warps", 8}, {"num_stages", 2}}));
  EXPECT_EQ(request["divisible"], (Json{0, 1, 2, 4})) << "48 is a multiple of 16";
  const Json of_one = asked(build(text, {{"n", 1}}));
  EXPECT_EQ(of_one["constants"]["size"], 1) << "as Triton's own launcher specialises it";
  EXPECT_EQ(asked(build(text, {{"n", std::int64_t{1} << 31}}))["signature"]["size"], "i64");
}

TEST_F(TritonKernel, ConstantsOfAnyKindAreCompiledIn) {
  const std::string head =
      "# apo:variant copy/mine\n"
      "# apo:launch k grid=n args=y,x,1e-5,None,True KIND='tanh' TYPE=tl.float32 SCALE=-0.5 N=2*n\n"
      "import triton\nimport triton.language as tl\n@triton.jit\n";
  const Build built = build(head +
                            "def k(y, x, eps, bias, flag, KIND: tl.constexpr, TYPE: tl.constexpr, "
                            "SCALE: tl.constexpr, N: tl.constexpr):\n    pass\n");
  ASSERT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
  EXPECT_EQ(asked(built)["constants"], (Json{{"eps", 1e-5},
                                             {"bias", nullptr},
                                             {"flag", true},
                                             {"KIND", "tanh"},
                                             {"TYPE", "the type float32"},
                                             {"SCALE", -0.5},
                                             {"N", 2000}}));
  EXPECT_EQ(built.plan.launches.front().words, (std::vector<int>{1, 0, -1, -1}));
}

TEST_F(TritonKernel, SeveralKernelsOfOneCallShareACubinAndTypedScratchMemory) {
  const std::string text =
      "# apo:variant copy/mine\n# apo:scratch partial 4*n\n"
      "# apo:launch k_first grid=n args=partial:fp32,x,n\n# apo:launch k_second grid=1 args=y,partial:fp32 warps=8\n"
      "import triton\n@triton.jit\ndef k_first(out, inp, size):\n    pass\n"
      "@triton.jit\ndef k_second(out, parts):\n    pass\n";
  const Build built = build(text);
  ASSERT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
  ASSERT_EQ(built.plan.launches.size(), 2U);
  EXPECT_EQ(asked(built)["signature"]["out"], "*fp32");
  EXPECT_EQ(built.plan.launches[0].kernel, "first");
  EXPECT_EQ(built.plan.launches[0].words, (std::vector<int>{2, 0, 3, -1, -1}));
  EXPECT_EQ(built.plan.launches[1].kernel, "second");
  EXPECT_EQ(built.plan.launches[1].words, (std::vector<int>{1, 2, -1, -1}));
  EXPECT_EQ(built.plan.launches[1].block[0], 256);
  const std::size_t at = built.log.find("assembled ");
  ASSERT_NE(at, std::string::npos);
  const std::string ptx = built.log.substr(at, built.log.find('\n', at) - at);
  expect_contains(ptx, "\\t.loc\\t2 8 4\\n\\tret;");
  expect_contains(ptx, ".file 1 \"/work\" \"first.py\"\\n.file 2 \"/work\" \"second.py\"\\n");
  EXPECT_EQ(ptx.find("debug_str"), std::string::npos);
  EXPECT_EQ(ptx.find("global_smem"), ptx.rfind("global_smem")) << "declared once";
}

TEST_F(TritonKernel, StatementsThatNeedAGpuArePassedOver) {
  const std::string text =
      "# apo:variant copy/mine\n# apo:launch k grid=n args=y,x BLOCK=128\n"
      "import no_such_torch as torch\nimport triton\nimport triton.language as tl\n"
      "DEVICE = triton.runtime.driver.active.get_active_torch_device()\n"
      "if triton.runtime.driver.active.get_current_target().backend == 'cuda':\n    chosen = 7\n"
      "@triton.jit\ndef k(y, x, BLOCK: tl.constexpr, MODE: tl.constexpr = chosen):\n    pass\n"
      "torch.manual_seed(0)\nbenchmark.run(print_data=True)\n";
  const Build built = build(text);
  ASSERT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
  EXPECT_EQ(asked(built)["constants"]["MODE"], 7);
  for (const char* passed_over : {"mine.py:3: passed over", "mine.py:6: passed over", "mine.py:13: passed over"}) {
    expect_contains(built.log, passed_over);
  }
  const Build without = build(std::string(kBlock) + "import no_such_torch\n" +
                              "import triton\nimport triton.language as tl\n@triton.jit\n"
                              "def copy_all(x, y, n, BLOCK: tl.constexpr):\n    undefined\n");
  expect_contains(without.evidence, ":9: error: undefined is not defined (line 4 was passed over: ModuleNotFoundError");
}

TEST_F(TritonKernel, AutotunedOneSaysWhichLinesItsConfigurationsAre) {
  const Build built = build(
      "# apo:variant copy/mine\n# apo:launch k grid=ceil_div(n,128) args=y,x\n"
      "import triton\nimport triton.language as tl\n"
      "@triton.autotune([triton.Config({'BLOCK': b, 'GROUP': 8}, num_warps=w) for b, w in ((128, 4), (256, 8))], "
      "['n'])\n"
      "@triton.jit\ndef k(y, x, BLOCK: tl.constexpr, GROUP: tl.constexpr):\n    pass\n");
  EXPECT_EQ(built.outcome, Outcome::build_failed);
  expect_contains(
      built.evidence,
      ":7: error: k is under @triton.autotune, whose place apo:tune takes: add '# apo:tune BLOCK 128,256', "
      "'# apo:tune WARPS 4,8', '# apo:requires (BLOCK == 128 && WARPS == 4) || (BLOCK == 256 && WARPS == 8)', "
      "and GROUP=8 stages=3 warps=WARPS to its apo:launch line");
}

TEST_F(TritonKernel, MistakeIsNamedWithTheLineOfTheUsersFile) {
  const auto evidence = [&](const std::string& text) {
    const Build built = build(text);
    EXPECT_EQ(built.outcome, Outcome::build_failed) << text;
    return built.evidence;
  };
  const std::string file = (folder_.path() / "mine.py").string();
  const std::string head = std::string(kBlock) + "import triton\nimport triton.language as tl\n@triton.jit\n";
  const std::string kernel = "def copy_all(x, y, n, BLOCK: tl.constexpr):\n";
  expect_contains(evidence(head + kernel + "    a = 1\n    b = undefined\n"),
                  file + ":9: error: undefined is not defined");
  expect_contains(evidence(head + "def helper(x):\n    return x\n@triton.jit\n" + kernel + "    helper(x)\n"),
                  file + ":8: error: wrong in the helper");
  expect_contains(evidence(head + "def copy_all(x, y):\n    pass\n"),
                  file +
                      ":7: error: copy_all takes 2 arguments besides its constexprs (x, y), and apo:launch gives it 3 "
                      "(x, y, n): args=... names them in order");
  expect_contains(evidence(head + "def copy_all(x, y, n, B: tl.constexpr):\n    pass\n"),
                  file + ":7: error: the constexpr B of copy_all has no value: add B=EXPRESSION");
  expect_contains(evidence(head + "def other(x, y, n):\n    pass\n"),
                  file + ":1: error: there is no kernel 'copy_all' under @triton.jit (the kernels: other)");
  expect_contains(evidence(std::string(kBlock) + "x = 1\n"), "(the kernels: none)");
  expect_contains(evidence(std::string(kBlock) + "import no_such_module\n"),
                  file + ":4: error: ModuleNotFoundError: No module named 'no_such_module'");
  expect_contains(evidence(std::string(kBlock) + "def (\n"), file + ":4: error: SyntaxError: ");
  expect_contains(evidence(std::string(kBlock) + "import sys\nsys.exit(0)\n"), file + ":5: error: SystemExit: 0");
  expect_contains(evidence(std::string(kBlock) + "import os\nos._exit(0)\n"), "the file ended python3");
  expect_contains(evidence(std::string(kBlock) + "import os\nos.abort()\n"), "python3 was ended by SIGABRT");
  const std::string scratch =
      Pattern("BLOCK: tl.constexpr").replace(kCode, "BLOCK: tl.constexpr, SCRATCH: tl.constexpr = 128");
  expect_contains(evidence(kBlock + scratch), "global_scratch_size is 128: apo gives kernels no scratch memory");
}

TEST_F(TritonKernel, MetadataThatMakeNoLaunchAreRefusedBeforeAnythingRuns) {
  const auto refused = [&](const std::string& lines) {
    const auto file = write(folder_.path() / "mine.py", lines + kCode);
    return error_of([&] { load_variant(file.string(), {}, "copy"); });
  };
  expect_contains(refused("# apo:target host\n# apo:launch a grid=1\n"), "this has target host");
  expect_contains(refused("# apo:launch a warps=4\n"), "the launch of 'a' has no grid");
  expect_contains(refused("# apo:launch a grid=1 block=32\n"), "Triton decides on the block of a kernel");
  expect_contains(refused("# apo:launch a grid=1 args=x,z\n"), "unknown symbol 'z'");
  expect_contains(refused("# apo:launch a grid=1\n# apo:launch b grid=1 args=x:fp32\n"), "mine.py:2");
  expect_contains(refused("# apo:launch a grid=1 SIZE=SMS\n"), "unknown symbol 'SMS'");
  expect_contains(refused("# apo:launch a grid=1 SIZE=1,2\n"), "too many expressions in SIZE=1,2");
  expect_contains(refused("# apo:launch a grid=1\n# apo:include cccl\n"), "a Triton kernel takes no apo:include");
  expect_contains(refused("# apo:launch a grid=1\nimport triton\n# apo:idea late\n"), "move every '# apo:' line");
  EXPECT_EQ(refused("#!/usr/bin/env python3\n# a comment\n# apo:launch a grid=SMS\n"), "");
}

TEST_F(TritonKernel, PythonThatIsMissingOldCrashedOrSlowIsNamed) {
  const auto refusal = [&](const std::string& script) {
    python_is(script);
    const Build built = build(std::string(kBlock) + kCode);
    EXPECT_EQ(built.outcome, Outcome::refused) << script;
    return built.evidence;
  };
  expect_contains(refusal("exit 69"),
                  "has no Triton: install Triton 3.4 or newer for the python3 in PATH: python3 -m pip "
                  "install triton");
  expect_contains(refusal("echo 3.1.0"), "the Triton of '" + (folder_.path() / "bin/python3").string() + "' is 3.1.0");
  expect_contains(refusal("echo nonsense"), "is nonsense: install");
  expect_contains(refusal("kill -SEGV $$"), "does not work: it was ended by SIGSEGV");
  expect_contains(refusal("echo broken >&2; exit 3"), "does not work: broken");
  setenv("PYTHONPATH", "/nowhere", 1);
  setenv("PATH", path_.c_str(), 1);
  const auto version = build(std::string(kBlock) + kCode);
  if (version.outcome == Outcome::refused) {  // where this machine has a Triton of its own, it is used
    expect_contains(version.evidence, "copy/mine is a Triton kernel, and '");
  }
  setenv("PATH", (folder_.path() / "empty").c_str(), 1);
  expect_contains(build(std::string(kBlock) + kCode).evidence, "there is no python3 here: install Triton");
}

TEST_F(TritonKernel, CompilationThatDoesNotEndIsEnded) {
  const Build built = build(std::string(kBlock) + "import time\ntime.sleep(100000)\n", {{"n", 1000}}, 0.5);
  EXPECT_EQ(built.outcome, Outcome::build_failed);
  EXPECT_EQ(built.evidence, "python3 did not finish in 500 ms");
}

TEST_F(TritonKernel, FileWritesNowhereButInItsDraft) {
  const auto victim = write(folder_.path() / "victim", "mine");
  const std::string attempt = "open('own', 'w').write('x')\ntry:\n    open('" + victim.string() +
                              "', 'w').write('taken')\nexcept PermissionError:\n    print('kept')\n";
  const Build built = build(kBlock + attempt + kCode);
  ASSERT_EQ(built.outcome, Outcome::valid) << built.evidence;
  if (built.log.find("kept") == std::string::npos) {
    GTEST_SKIP() << "this system has no Landlock";
  }
  EXPECT_EQ(read_file(victim), "mine");
}

TEST_F(TritonKernel, IsNotCheckedByTheExecutor) {
  const Builder builder({.cache = folder_.path() / "cache", .home = APO_SOURCE_FOLDER, .executor = true});
  const auto file = write(folder_.path() / "mine.py", std::string(kBlock) + kCode);
  const Build built = builder.build(*find_family("copy"), load_variant(file.string()), {{"n", 3}}, {});
  EXPECT_EQ(built.outcome, Outcome::not_checkable);
  EXPECT_EQ(built.evidence, "not checkable on the CPU: a Triton kernel");
}

}  // namespace
}  // namespace apo
