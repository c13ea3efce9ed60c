// tests/cuda/roofs_test.cpp - the measured roofs of a real GPU lie within what its units can do at its clock.
#include "harness/profile/roofs/roofs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/implement/cubin_builder.h"
#include "harness/implement/variant/metadata.h"
#include "harness/profile/roofs/gpu_roofs.h"
#include "tests/cuda/cuda_runtime_fixture.h"

namespace apo {
namespace {

// Measured once for all tests, and printed.
class GpuRoofs : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    try {
      facts_ = Worker(testing::cuda_worker()).device();
      const CudaBuilder builder(folder().path(), facts_, 60);
      const auto build = [&](const Family& family, const Variant& variant, const Axes& axes) {
        return builder.build(family, variant, axes, {});
      };
      build(*find_family("spin"), parse_variant(cuda_roof_source(*facts_), "roofs.cu"),
            {{"n", 1 << 21}, {"steps", 1}});  // into the cache
      const auto start = std::chrono::steady_clock::now();
      roofs_ = measure_cuda_roofs(parse_variant(cuda_roof_source(*facts_), "roofs.cu"), build, testing::cuda_worker(),
                                  *facts_);
      seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    } catch (const EnvironmentError& error) {
      why_not_ = error.what();
      return;
    }
    std::printf("%.2f s on %s, %d SMs at up to %d MHz\n", seconds_, facts_->name.c_str(), facts_->sms, facts_->sm_mhz);
    for (const Roof& roof : roofs_) {
      std::printf("  %-18s %.5g %s [%.5g, %.5g] n=%d  %s\n", roof.name.c_str(), roof.value, roof.unit.c_str(),
                  roof.lower, roof.upper, roof.samples, roof.note.c_str());
    }
  }
  void SetUp() override {
    if (!facts_) {
      GTEST_SKIP() << why_not_;
    }
    ASSERT_TRUE(why_not_.empty()) << why_not_;
    if (facts_->major < 8) {
      GTEST_SKIP() << "the roof kernels need sm_80";
    }
  }

  static TemporaryFolder& folder() {
    static TemporaryFolder made;
    return made;
  }
  static double value(const std::string& name) {
    const Roof* roof = find_roof(roofs_, name);
    EXPECT_NE(roof, nullptr) << name;
    return roof != nullptr ? roof->value : 0;
  }
  // Of all SMs together in a second.
  static double cycles() { return 1e6 * facts_->sm_mhz * facts_->sms; }
  static double cycles_of(const std::string& latency) { return value(latency) * 1e6 * facts_->sm_mhz; }
  static void expect_within(const std::string& name, double peak) {
    EXPECT_GE(value(name), 0.5 * peak) << name;
    EXPECT_LE(value(name), 1.02 * peak) << name;
  }

  static std::optional<DeviceFacts> facts_;
  static std::vector<Roof> roofs_;
  static std::string why_not_;
  static double seconds_;
};
std::optional<DeviceFacts> GpuRoofs::facts_;
std::vector<Roof> GpuRoofs::roofs_;
std::string GpuRoofs::why_not_;
double GpuRoofs::seconds_ = 0;

TEST_F(GpuRoofs, AreAllThereWithIntervalsSamplesAndNotes) {
  EXPECT_TRUE(has_all_cuda_roofs(roofs_));
  EXPECT_EQ(roofs_.size(), cuda_roof_kernels().size());
  for (const Roof& roof : roofs_) {
    EXPECT_GT(roof.lower, 0) << roof.name;
    EXPECT_LE(roof.lower, roof.value) << roof.name;
    EXPECT_GE(roof.upper, roof.value) << roof.name;
    EXPECT_LT(roof.upper, 1.3 * roof.lower) << roof.name << ": too uncertain to hold anything against";
    EXPECT_GE(roof.samples, 15) << roof.name;
    EXPECT_FALSE(roof.note.empty()) << roof.name;
  }
}

TEST_F(GpuRoofs, UnitsReachWhatTheirLanesAllow) {
  const double lanes = facts_->major == 8 && facts_->minor == 0 ? 64 : 128;  // an A100 has half as many
  expect_within("fp32_fma", 2 * lanes * cycles());
  expect_within("special_tanh", 16 * cycles());
  expect_within("special_ex2", 16 * cycles());
  expect_within("shuffle", 32 * cycles());
  expect_within("shared_bandwidth", 128 * cycles());
  EXPECT_LT(value("libm_tanh"), 0.8 * value("special_tanh"));
  EXPECT_GT(value("tensor_bf16"), 2 * value("fp32_fma"));
  EXPECT_LT(value("tensor_bf16"), 1.02 * 4096 * cycles()) << "the dense peak of sm_90";
}

TEST_F(GpuRoofs, TheL2IsFasterThanTheMemoryAndSlowerThanSharedMemory) {
  EXPECT_GT(value("memory_copy"), 1e11);
  EXPECT_LT(value("memory_copy"), value("l2_copy"));
  EXPECT_LT(value("l2_copy"), value("shared_bandwidth"));
}

TEST_F(GpuRoofs, LatenciesAreSomeCycles) {
  EXPECT_GT(cycles_of("fma_latency"), 3);
  EXPECT_LT(cycles_of("fma_latency"), 8);
  for (const char* name : {"special_latency", "shuffle_latency", "shared_latency", "barrier"}) {
    EXPECT_GT(cycles_of(name), 8) << name;
    EXPECT_LT(cycles_of(name), 100) << name;
  }
  EXPECT_GT(value("launch_latency"), 2e-7);
  EXPECT_LT(value("launch_latency"), 2e-5);
}

// A roof of a copy that does not copy would be no roof.
TEST_F(GpuRoofs, TheCopyKernelCopiesEveryElement) {
  const CudaBuilder builder(folder().path(), facts_, 60);
  const std::int64_t floats = roof_tensor_floats(Footprint::cache, facts_->l2_bytes, facts_->sms);
  Build built = builder.build(*find_family("spin"), parse_variant(cuda_roof_source(*facts_), "roofs.cu"),
                              {{"n", floats}, {"steps", 1}}, {});
  ASSERT_EQ(built.outcome, Outcome::valid) << built.evidence;
  std::erase_if(built.plan.launches, [](const KernelLaunch& launch) { return launch.kernel != "copy_vectors"; });
  ASSERT_EQ(built.plan.launches.size(), 1u);
  SharedTensorsSpec spec = testing::copy_tensors(floats);
  spec.words = {floats, 1};
  spec.layout_seed = 3;
  SharedTensors shared_tensors(spec);
  std::vector<float> x(static_cast<std::size_t>(floats));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i % 16'777'213);
  }
  testing::write_input(shared_tensors, 0, "x", std::as_bytes(std::span(x)));
  Worker worker(testing::cuda_worker());
  ASSERT_TRUE(worker.load(0, built.object_path, built.plan));
  ASSERT_TRUE(worker.attach(shared_tensors));
  const auto samples = worker.run({.read_back = true});
  ASSERT_TRUE(samples) << samples.failure().evidence;
  const auto y = shared_tensors.read_output("y");
  EXPECT_EQ(std::memcmp(y.data(), x.data(), y.size()), 0);
  EXPECT_FALSE(shared_tensors.check_guards());
}

}  // namespace
}  // namespace apo
