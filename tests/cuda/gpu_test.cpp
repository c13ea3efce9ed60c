// tests/cuda/gpu_test.cpp - device variants on a real GPU: right, wrong, hostile and endless ones.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>

#include "harness/core/error.h"
#include "harness/worker/parent/worker.h"
#include "tests/cuda/cuda_runtime_fixture.h"
#include "tests/shipped_families.h"
#include "tests/text.h"

namespace apo {
namespace {

constexpr std::int64_t kElements = 10'001;  // 16 bytes do not divide them
constexpr int kSets = 3;
constexpr const char* kCopyBody = "if (i < a.n) a.y[i] = a.x[i];";
constexpr const char* kIndex = "const long long i = 256LL * blockIdx.x + threadIdx.x;\n";

float value(int set, std::int64_t i) {
  return static_cast<float>(set) * 100'000.0F + static_cast<float>(i);
}

class Gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    SharedTensorsSpec spec = testing::copy_tensors(kElements, kSets);
    spec.buffers.push_back({.name = "memo", .bytes = 1024, .role = BufferRole::scratch, .slot = 0});
    spec.layout_seed = 7;
    try {
      gpu_ = std::make_unique<testing::CopyOnGpu>(spec);
    } catch (const EnvironmentError& error) {
      GTEST_SKIP() << error.what();
    }
    worker_ = &gpu_->worker();
    shared_tensors_ = &gpu_->tensors();
    for (int set = 0; set < kSets; ++set) {
      std::vector<float> x(kElements);
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = value(set, static_cast<std::int64_t>(i));
      }
      testing::write_input(*shared_tensors_, set, "x", std::as_bytes(std::span(x)));
    }
  }

  Build build(const std::string& body, const std::string& launch = "grid=ceil_div(n,256) block=256",
              const std::string& before = "") const {
    return gpu_->build({"scratch memo 1024", "launch k " + launch},
                       before + "\nextern \"C\" __global__ void k(copy_args a) {\n" + kIndex + body + "\n}\n");
  }
  Result<Done> load(const Build& built) { return gpu_->load(built); }
  // The failure of the first call; valid when it has none.
  Failure failure_of(const std::string& body, const std::string& launch = "grid=ceil_div(n,256) block=256",
                     Worker::Deadline deadline = {}) {
    if (const auto loaded = load(build(body, launch)); !loaded) {
      return loaded.failure();
    }
    const auto sample = worker_->call(0, 0, deadline);
    return sample ? Failure{.outcome = Outcome::valid} : sample.failure();
  }
  std::vector<float> outputs() const {
    const auto bytes = shared_tensors_->read_output("y");
    std::vector<float> y(kElements);
    std::memcpy(y.data(), bytes.data(), bytes.size());
    return y;
  }
  bool is_copy_of(int set) const {
    const std::vector<float> y = outputs();
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (y[i] != value(set, static_cast<std::int64_t>(i))) {
        return false;
      }
    }
    return true;
  }

  std::unique_ptr<testing::CopyOnGpu> gpu_;
  Worker* worker_ = nullptr;  // its own
  SharedTensors* shared_tensors_ = nullptr;
};

TEST_F(Gpu, CopiesEverySetAndTimesIt) {
  ASSERT_TRUE(load(build(kCopyBody)));
  for (int set = 0; set < kSets; ++set) {
    shared_tensors_->poison_outputs();
    const auto sample = worker_->call(0, set);
    ASSERT_TRUE(sample) << sample.failure().evidence;
    EXPECT_TRUE(is_copy_of(set)) << set;
    EXPECT_GT(sample->device_ns, 500);
    EXPECT_LT(sample->device_ns, sample->end_ns - sample->begin_ns);
  }
  EXPECT_FALSE(shared_tensors_->check_guards());
  EXPECT_FALSE(shared_tensors_->check_inputs());
}

TEST_F(Gpu, RotatedColdSamplesEndWithTheSetThatWasAskedFor) {
  ASSERT_TRUE(load(build(kCopyBody)));
  for (const int repetitions : {2, 7, 500}) {
    for (int set = 0; set < kSets; ++set) {
      const RunRequest request{
          .order = {0}, .sets = {set}, .repetitions = repetitions, .cache = CachePolicy::cold, .read_back = true};
      const auto samples = worker_->run(request);
      ASSERT_TRUE(samples) << samples.failure().evidence;
      EXPECT_TRUE(is_copy_of(set)) << set << " after " << repetitions;
    }
  }
}

TEST_F(Gpu, ThePauseShowsTheSampleThatItFollows) {
  ASSERT_TRUE(load(build(kCopyBody)));
  int seen = -1;
  const RunRequest request{.order = {0, 0, 0}, .sets = {0, 2, 1}, .verify_after = 1};
  const auto samples = worker_->run(request, [&](int sample) -> std::optional<Failure> {
    seen = sample;
    EXPECT_TRUE(is_copy_of(2));
    return std::nullopt;
  });
  ASSERT_TRUE(samples) << samples.failure().evidence;
  EXPECT_EQ(seen, 1);
}

TEST_F(Gpu, NothingSurvivesFromOneSampleToTheNext) {
  // Writes only when its memory of the last call is gone: from scratch, and from a global.
  ASSERT_TRUE(
      load(build("int* memo = static_cast<int*>(a.memo);\n"
                 "if (i < a.n && memo[0] != 77 && kept != 77) a.y[i] = a.x[i];\n"
                 "__syncthreads(); if (i == 0) { kept = 77; memo[0] = 77; }",
                 "grid=1 block=256", "__device__ int kept;")));
  for (int call = 0; call < 3; ++call) {
    ASSERT_TRUE(worker_->run({.order = {0}, .sets = {call}, .read_back = true}));
    EXPECT_EQ(outputs()[5], value(call, 5)) << call;
  }
}

TEST_F(Gpu, FaultsAreNamed) {
  const Failure illegal = failure_of("if (i == 0) (a.y + (1LL << 40))[0] = 1;");
  EXPECT_EQ(illegal.outcome, Outcome::faulted);
  expect_contains(illegal.evidence, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_FALSE(worker_->alive()) << "its context is lost";
}

TEST_F(Gpu, AnEndlessKernelIsKilledAtItsDeadline) {
  const auto start = std::chrono::steady_clock::now();
  const Failure endless = failure_of("volatile float* y = a.y; while (y[0] != 12345.0f) y[0] = 1.0f;",
                                     "grid=1 block=256", std::chrono::milliseconds(500));
  EXPECT_EQ(endless.outcome, Outcome::timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  Worker next(testing::cuda_worker());
  EXPECT_TRUE(next.device().has_value()) << "the GPU works on";
}

TEST_F(Gpu, WritesOutsideTheBuffersAreFound) {
  ASSERT_EQ(failure_of("if (i < a.n) a.y[i] = a.x[i]; if (i == 0) a.y[a.n + 3] = 1;").outcome, Outcome::valid);
  const auto damage = shared_tensors_->check_guards();
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->buffer, "y");
  EXPECT_EQ(damage->offset, 12);
}

TEST_F(Gpu, ChangedInputsAreFound) {
  ASSERT_EQ(failure_of("if (i == 3) const_cast<float*>(a.x)[i] = -1;").outcome, Outcome::valid);
  const auto change = shared_tensors_->check_inputs();
  ASSERT_TRUE(change);
  EXPECT_EQ(change->element, 3);
}

// A worker that keeps the inputs of all sets in one piece of the GPU's memory, and the shared tensors without them.
class KeptInputsOnGpu : public Gpu {
 protected:
  static constexpr std::int64_t kBytes = 4 * kElements;
  static constexpr std::int64_t kStride = (kBytes + 255) / 256 * 256;
  void keep() {
    MemoryFile file;
    file.reserve(kSets * kStride);
    for (int set = 0; set < kSets; ++set) {
      for (std::int64_t i = 0; i < kElements; ++i) {
        inputs_.push_back(value(set, i));
      }
    }
    for (int set = 0; set < kSets; ++set) {
      std::memcpy(file.data() + set * kStride, inputs_.data() + set * kElements, static_cast<std::size_t>(kBytes));
    }
    keeper_ = std::make_unique<Worker>(testing::cuda_worker());
    const auto handle = keeper_->keep(kSets * kStride, file.fd());
    ASSERT_TRUE(handle) << handle.failure().evidence;
    for (int set = 0; set < kSets; ++set) {
      where_.push_back({.handle = *handle, .offsets = {set * kStride}});
    }
    for (int set = 0; set < 2; ++set) {
      refer(set, set);
    }
  }
  // Has the set of the shared tensors be the kept one.
  void refer(int set, int kept) {
    const auto all = std::as_bytes(std::span(inputs_));
    shared_tensors_->keep_input(
        set, "x", {.tile = all.subspan(static_cast<std::size_t>(kept * kBytes), static_cast<std::size_t>(kBytes))},
        where_.at(static_cast<std::size_t>(kept)));
  }
  // One call on the set, after which the element of the output was looked at.
  float seen(int set, std::size_t element, const KeptInputs* fresh = nullptr) {
    float found = -1;
    RunRequest request{.order = {0}, .sets = {set}, .verify_after = 0};
    if (fresh != nullptr) {
      request.refresh_set = set;
      request.refresh_from = *fresh;
    }
    const auto called = worker_->run(request, [&](int) -> std::optional<Failure> {
      found = outputs()[element];
      return std::nullopt;
    });
    EXPECT_TRUE(called) << called.failure().evidence;
    return found;
  }

  std::unique_ptr<Worker> keeper_;
  std::vector<float> inputs_;
  std::vector<KeptInputs> where_;
};

TEST_F(KeptInputsOnGpu, AreCopiedAndFoundUnchanged) {
  keep();
  ASSERT_TRUE(load(build(kCopyBody)));
  for (const int set : {1, 0}) {
    EXPECT_EQ(seen(set, kElements - 1), value(set, kElements - 1));
    EXPECT_TRUE(worker_->inputs_unchanged());
  }
  EXPECT_FALSE(shared_tensors_->check_guards());
  refer(1, 2);
  EXPECT_EQ(seen(1, 7, &where_.at(2)), value(2, 7)) << "another set in its place";
  EXPECT_TRUE(worker_->inputs_unchanged());
  EXPECT_EQ(seen(2, 7), value(2, 7)) << "one that the file has";
  EXPECT_FALSE(worker_->inputs_unchanged());
  EXPECT_FALSE(shared_tensors_->check_inputs(2));
}

TEST_F(KeptInputsOnGpu, OneElementThatChangedIsFoundWhereverItIs) {
  keep();
  for (const std::int64_t element : {std::int64_t{0}, kElements / 2, kElements - 1}) {
    ASSERT_TRUE(load(build("if (i == " + std::to_string(element) + ") const_cast<float*>(a.x)[i] = -1;")));
    seen(0, 0);
    EXPECT_FALSE(worker_->inputs_unchanged());
    const auto change = shared_tensors_->check_inputs(0);
    ASSERT_TRUE(change) << element;
    EXPECT_EQ(change->element, element);
  }
}

TEST_F(KeptInputsOnGpu, AProcessThatIsGoneIsNamed) {
  keep();
  keeper_->stop();
  const auto attached = load(build(kCopyBody));
  ASSERT_FALSE(attached);
  expect_contains(attached.failure().evidence, "kept on the GPU");
}

TEST_F(Gpu, AKernelThatWritesNothingLeavesPoison) {
  ASSERT_EQ(failure_of("").outcome, Outcome::valid);
  EXPECT_NE(outputs()[0], outputs()[0]) << "NaN";
}

TEST_F(Gpu, WrongParametersAreAWrongAbi) {
  const auto loaded = load(gpu_->build({"launch k grid=1 block=1"}, "extern \"C\" __global__ void k(float* y) {}\n"));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.failure().outcome, Outcome::wrong_abi);
  EXPECT_TRUE(worker_->alive());
}

TEST_F(Gpu, GarbageIsNoCubin) {
  Build built = build("");
  built.object_path = (gpu_->folder() / "garbage").string();
  write_file_atomically(built.object_path,
                        "\x7f"
                        "ELF nothing of the kind");
  const auto loaded = load(built);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.failure().outcome, Outcome::wrong_abi) << loaded.failure().evidence;
}

TEST_F(Gpu, ACooperativeGridThatDoesNotFitIsRefused) {
  const Failure refused = failure_of("", "grid=100000 block=1024 cooperative=1");
  EXPECT_EQ(refused.outcome, Outcome::refused) << refused.evidence;
  EXPECT_TRUE(worker_->alive());
}

TEST_F(Gpu, SharedMemoryClustersAndPersistenceAreGranted) {
  EXPECT_EQ(failure_of("extern __shared__ float s[]; s[threadIdx.x + 50000] = a.x[i]; if (i < a.n) a.y[i] = "
                       "s[threadIdx.x + 50000];",
                       "grid=40 block=256 shared=SHARED_MAX cluster=2 l2_persist=1")
                .outcome,
            Outcome::valid);
  EXPECT_EQ(outputs()[9'000], value(0, 9'000));
}

TEST_F(Gpu, CopiesAreTimedWithinItsMemory) {
  const auto ns = worker_->copy(64 << 20, 3);
  ASSERT_TRUE(ns) << ns.failure().evidence;
  ASSERT_EQ(ns->size(), 3u);
  EXPECT_GT(ns->back(), 1000);
}

}  // namespace
}  // namespace apo
