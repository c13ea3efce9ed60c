// tests/examples/e88_lm/kernels_test.cpp - the model's own kernels, thread by thread on this CPU, against the fp64
// references of their families; races, barriers and bounds are checked.
#include <gtest/gtest.h>

#include "harness/core/system/process.h"

namespace byte_lm {
namespace {

struct Kernel {
  const char* file;
  const char* workload;
};

void PrintTo(const Kernel& kernel, std::ostream* out) {
  *out << kernel.file << " on " << kernel.workload;
}

class E88LmKernels : public testing::TestWithParam<Kernel> {};

TEST_P(E88LmKernels, AreRightOnTheCpuExecutor) {
  const std::string path = std::string(APO_SOURCE_FOLDER) + "/examples/e88_lm/kernels/" + GetParam().file;
  apo::ProcessOptions options;
  options.timeout_s = 1000;
  options.environment = {"APO_HOME=" APO_SOURCE_FOLDER, "APO_CACHE=" APO_BINARY_FOLDER "/test-cache"};
  const apo::ProcessResult result =
      apo::run_process({APO_PROGRAM, "verify", "--file", path + ".cu", "--families", path + ".h", "--on", "cpu",
                        "--no-sanitizers", "--workload", GetParam().workload},
                       options);
  EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
}

INSTANTIATE_TEST_SUITE_P(All, E88LmKernels,
                         testing::Values(Kernel{"activate", "r37_w160"}, Kernel{"activate_backward", "r37_w160"},
                                         Kernel{"add_norm", "r5_d4104"}, Kernel{"decay", "r37_h5"},
                                         Kernel{"decay_backward", "r300_h130"}, Kernel{"embedding", "r37_d200"},
                                         Kernel{"loss", "r37"}, Kernel{"norm_backward", "r5_d4104"},
                                         Kernel{"norm_backward", "r300_d8"}, Kernel{"optimizer", "n5000"}),
                         [](const testing::TestParamInfo<Kernel>& kernel) {
                           return std::string(kernel.param.file) + "_" + kernel.param.workload;
                         });

}  // namespace
}  // namespace byte_lm
