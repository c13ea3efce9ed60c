// tests/cuda/python_test.cpp - Python files that are called once, and then judged as what they put on a GPU.
#include <gtest/gtest.h>

#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "tests/cuda/cuda_runtime_fixture.h"

namespace apo {
namespace {

class PythonCalls : public testing::CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (cuda_ != nullptr && !run_process({"python3", "-c", "import torch; torch.cuda.init()"}).ok()) {
      GTEST_SKIP() << "python3 has no PyTorch with CUDA";
    }
  }
  Build recorded(const std::string& name, const std::string& text) {
    const std::filesystem::path file = cuda_->folder() / (name + ".py");
    write_file_atomically(file, "import torch\n" + text);
    cuda_->add_file(file);
    return cuda_->build("copy/" + name);
  }
  CheckResult replayed(const std::string& name, const Build& build) {
    return check_build(cuda_->runtime(), {"copy/" + name, {}}, build, cuda_->ragged(), 5, testing::cuda_worker());
  }
  void expect_outcome(const std::string& name, const std::string& text, Outcome outcome) {
    const Build build = recorded(name, text);
    ASSERT_EQ(build.outcome, Outcome::valid) << build.evidence << build.log;
    const CheckResult result = replayed(name, build);
    EXPECT_EQ(result.outcome, outcome) << result.evidence;
    EXPECT_EQ(result.confinement, "device code only");
  }
  void expect_refused(const std::string& name, const std::string& text, Outcome outcome, const std::string& why) {
    const Build build = recorded(name, text);
    EXPECT_EQ(build.outcome, outcome) << build.evidence << build.log;
    EXPECT_NE(build.evidence.find(why), std::string::npos) << build.evidence << build.log;
  }
};

TEST_F(PythonCalls, ReturnedAndWrittenOutputsAreRightOnOtherInputs) {
  expect_outcome("returns", "def copy(x): return x.clone()\n", Outcome::valid);
  expect_outcome("writes", "def run(x, y): y.copy_(x)\n", Outcome::valid);
  expect_outcome("bundled", "def custom_kernel(data):\n  x, out = data\n  out[...] = x\n  return out\n",
                 Outcome::valid);
  expect_outcome("in_steps", "def copy(x):\n  z = torch.cat([x, x]) * 2\n  return (z * 0.5)[:x.numel()].clone()\n",
                 Outcome::valid);
  expect_outcome("with_a_buffer",
                 "kept = {}\ndef copy(x):\n  out = kept.setdefault(x.numel(), torch.empty_like(x))\n"
                 "  return out.copy_(x)\n",
                 Outcome::valid);
}

TEST_F(PythonCalls, CompiledByInductorIsRight) {
  const Build build = recorded("compiled", "@torch.compile\ndef copy(x): return (x + 1) - 1 + x * 0\n");
  if (build.outcome == Outcome::faulted) {
    GTEST_SKIP() << "torch.compile does not work here: " << build.evidence;
  }
  ASSERT_EQ(build.outcome, Outcome::valid) << build.evidence << build.log;
  EXPECT_FALSE(build.plan.launches.empty());
}

TEST_F(PythonCalls, ThatReplayACudaGraphAreRight) {
  const std::string graph =
      "kept = {}\ndef copy(x):\n  if x.numel() not in kept:\n    graph, given = torch.cuda.CUDAGraph(), x.clone()\n"
      "    given * 1\n    with torch.cuda.graph(graph): out = given * 1 * 1\n"
      "    kept[x.numel()] = graph, given, out\n  graph, given, out = kept[x.numel()]\n";
  const std::string replay = "  graph.replay()\n  return out.clone()\n";
  expect_outcome("has_a_graph", graph + "  given.copy_(x)\n" + replay, Outcome::valid);
  expect_outcome("a_graph_of_other_inputs", graph + replay, Outcome::incorrect);
}

TEST_F(PythonCalls, ThatCopyConstantsFromTheHostAreRight) {
  expect_outcome("copies_a_constant", "def copy(x): return x * torch.tensor([1.0], device='cuda')\n", Outcome::valid);
  expect_outcome("copies_from_pinned_memory",
                 "one = torch.ones(1).pin_memory()\ndef copy(x): return x * one.to('cuda', non_blocking=True)\n",
                 Outcome::valid);
  expect_refused("copies_what_it_computes",
                 "calls = 0\ndef copy(x):\n  global calls\n  calls += 1\n"
                 "  return x + 1e-30 * torch.tensor([float(calls)], device='cuda')\n",
                 Outcome::refused, "the host computes what it copies");
}

TEST_F(PythonCalls, ResultsThatWereKeptAreWrongOnOtherInputs) {
  expect_outcome("keeps_its_result",
                 "kept = []\ndef copy(x):\n  if not kept: kept.append(x.clone())\n  return kept[0].clone()\n",
                 Outcome::incorrect);
  expect_outcome("by_pointer",
                 "kept = {}\ndef copy(x):\n  at = x.data_ptr()\n  if at not in kept: kept[at] = x.clone()\n"
                 "  return kept[at] + 0\n",
                 Outcome::incorrect);
}

TEST_F(PythonCalls, WhatNoReplayRepeatsIsRefused) {
  expect_refused("by_the_host", "def copy(x): return (x.cpu() + 0).cuda()\n", Outcome::refused, "cannot be recorded");
  expect_refused("reads_a_number", "def copy(x):\n  return x.clone() if x.sum().item() > -1e30 else x * 2\n",
                 Outcome::refused, "cannot be recorded");
  expect_refused("random", "def copy(x): return x + torch.rand_like(x)\n", Outcome::refused, "random");
  expect_refused("answers_from_before",
                 "kept = []\ndef copy(x):\n  if not kept: kept.append(x.clone())\n  x.sum()\n  return kept[0]\n",
                 Outcome::refused, "an answer from before");
  expect_refused("idle", "kept = []\ndef copy(x):\n  if not kept: kept.append(x.clone())\n  return kept[0]\n",
                 Outcome::refused, "it gives the GPU no work");
}

TEST_F(PythonCalls, FaultsHaveTheirOutcomes) {
  expect_refused("returns_its_input", "def copy(x): return x\n", Outcome::wrong_abi, "the memory of the input 'x'");
  expect_refused("spoils_its_input", "def copy(x):\n  y = x.clone()\n  x.zero_()\n  return y\n", Outcome::incorrect,
                 "changes its input 'x'");
  expect_refused("on_the_cpu", "def copy(x): return x.cpu()\n", Outcome::wrong_abi, "lies on the CPU");
  expect_refused("imports_nothing", "import no_such_package\ndef copy(x): return x.clone()\n", Outcome::refused,
                 "it imports 'no_such_package'");
  expect_refused("prints_without_end", "def copy(x):\n  while True: print('x' * 4096)\n", Outcome::faulted,
                 "it printed more than");
  expect_refused("ends_the_process", "def copy(x): __import__('os')._exit(0)\n", Outcome::faulted, "it ended python3");
  expect_refused("opens_a_socket",
                 "import socket\ndef copy(x):\n  socket.create_connection(('127.0.0.1', 9))\n  return x.clone()\n",
                 Outcome::faulted, "there is no network here");
}

}  // namespace
}  // namespace apo
