// tests/implement/cubin_builder_test.cpp - NVIDIA's compilers on small device variants; no GPU is needed.
#include "harness/implement/cubin_builder.h"

#include <gtest/gtest.h>

#include "harness/core/text.h"
#include "harness/implement/nvrtc.h"
#include "harness/implement/object/elf.h"
#include "harness/implement/variant/settings.h"
#include "tests/implement/fixtures.h"

namespace apo {
namespace {

using namespace test;
namespace fs = std::filesystem;

constexpr const char* kLaunch = "// apo:launch k grid=ceil_div(n,256) block=256\n";
constexpr const char* kHead = "#include \"copy.args.h\"\nextern \"C\" __global__ void k(copy_args a) {\n";

std::string body(const std::string& statement) {
  return kHead + std::string("const long long i = 256LL * blockIdx.x + threadIdx.x;\nif (i < a.n) { ") + statement +
         " }\n}\n";
}

class CudaBuild : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      builder_ = std::make_unique<CudaBuilder>(folder_.path() / "cache", h200(), 60);
    } catch (const EnvironmentError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  static Variant device_variant(const std::string& code, const std::string& more = "") {
    return parse_variant(cuda_source(more + kLaunch, code), "/somewhere/device.cu");
  }
  Build build(const Variant& variant, const Settings& settings = {}) const {
    return builder_->build(*find_family("copy"), variant, {{"n", 1000}}, settings);
  }
  Build build(const std::string& code) const { return build(device_variant(code)); }

  TemporaryFolder folder_;
  std::unique_ptr<CudaBuilder> builder_;
};

TEST_F(CudaBuild, MakesACubinWithItsFactsAndItsLaunches) {
  const Build built =
      build(body("__shared__ float s[64]; s[threadIdx.x % 64] = a.x[i]; __syncthreads(); a.y[i] = s[0];"));
  ASSERT_EQ(built.outcome, Outcome::valid) << built.log;
  EXPECT_EQ(read_file(built.object_path).substr(1, 3), "ELF");
  EXPECT_EQ(built.resources.at("shared_bytes"), 256);
  EXPECT_GE(built.resources.at("registers"), 4);
  EXPECT_LE(built.resources.at("registers"), 64);
  EXPECT_EQ(built.resources.at("spill_bytes"), 0);
  EXPECT_EQ(built.resources.at("writable_bytes"), 0);
  EXPECT_GT(built.resources.at("text_bytes"), 0);
  ASSERT_EQ(built.plan.launches.size(), 1u);
  EXPECT_EQ(built.plan.launches[0].grid[0], 4);
  EXPECT_FALSE(built.plan.keeps_state);
  EXPECT_FALSE(built.toolchain.version.empty());
}

TEST_F(CudaBuild, RegistersAgreeWithWhatPtxasSays) {
  const Build built = build(body("a.y[i] = sinf(a.x[i]);"));
  expect_contains(built.log, "Used " + std::to_string(built.resources.at("registers")) + " registers");
}

TEST_F(CudaBuild, StackAndSpillsAreSeen) {
  const Build built =
      build(body("float v[64]; for (int j = 0; j < 64; ++j) v[(i * j) % 64] = a.x[j]; a.y[i] = v[i % 64];"));
  ASSERT_EQ(built.outcome, Outcome::valid) << built.log;
  EXPECT_GE(built.resources.at("local_bytes"), 256);
}

TEST_F(CudaBuild, TunedFlagsReachTheCompiler) {
  const Variant variant =
      device_variant(body("float v[64]; for (int j = 0; j < 64; ++j) v[j] = a.x[(i + j) % a.n];\n"
                          "for (int j = 0; j < 64; ++j) for (int k = 0; k < 64; ++k) v[j] += v[k] * v[j];\n"
                          "float s = 0; for (int j = 0; j < 64; ++j) s += v[j]; a.y[i] = s;"),
                     "// apo:tune LIMIT 0,24\n// apo:flags --maxrregcount={LIMIT} -Xptxas -dlcm=cg when=LIMIT\n");
  const Build free = build(as_set(variant, {}));
  const Build bound = build(as_set(variant, {{"LIMIT", 24}}), {{"LIMIT", 24}});
  ASSERT_EQ(bound.outcome, Outcome::valid) << bound.evidence << bound.log;
  EXPECT_GT(free.resources.at("registers"), 24);
  EXPECT_LE(bound.resources.at("registers"), 24);
  EXPECT_NE(free.code_hash, bound.code_hash);
}

TEST_F(CudaBuild, CodeHashSeesInstructionsAndLaunchesOnly) {
  const Build plain = build(body("a.y[i] = a.x[i];"));
  const Build commented = build("// another comment\n" + body("a.y[i] = a.x[i]; /* same */"));
  const Build changed = build(body("a.y[i] = 2 * a.x[i];"));
  EXPECT_EQ(plain.code_hash, commented.code_hash);
  EXPECT_NE(plain.key, commented.key);
  EXPECT_NE(plain.code_hash, changed.code_hash);
  const Build other_grid = build(parse_variant(
      cuda_source("// apo:launch k grid=ceil_div(n,256)+1 block=256\n", body("a.y[i] = a.x[i];")), "a.cu"));
  EXPECT_NE(plain.code_hash, other_grid.code_hash);
  EXPECT_EQ(plain.object_hash.empty(), false);
}

TEST_F(CudaBuild, AKernelUnderTwoNamesInAFileIsOneCodeAndTwoKernelsAreTwo) {
  const std::string code = body("a.y[i] = a.x[i];");
  const std::string file =
      code + replace_all(code, " k(", " twin(") + replace_all(body("a.y[i] = 2 * a.x[i];"), " k(", " other(");
  const auto hash_of = [&](const std::string& kernel) {
    return build(parse_variant(cuda_source("// apo:launch " + kernel + " grid=4 block=256\n", file), "a.cu")).code_hash;
  };
  EXPECT_EQ(hash_of("twin"), hash_of("k"));
  EXPECT_NE(hash_of("other"), hash_of("k"));
}

TEST_F(CudaBuild, FixedWidthIntegersAndInfinityNeedNoHeader) {
  const Build built = build(body("int64_t j = i; uint32_t k = 1; if (a.x[j] < INFINITY) a.y[j] = k * NAN;"));
  EXPECT_EQ(built.outcome, Outcome::valid) << built.log;
}

TEST_F(CudaBuild, HeadersInFoldersBelowIncludeTheirNeighbours) {
  const Build built = build(parse_variant(
      cuda_source(kLaunch, "#include \"mine/a.h\"\n" + body("a.y[i] = twice(a.x[i]);")), "/somewhere/device.cu",
      {{"mine/a.h", "#include \"b.h\"\n", ""},
       {"mine/b.h", "__device__ float twice(float x) { return 2 * x; }\n", ""}}));
  EXPECT_EQ(built.outcome, Outcome::valid) << built.log;
}

TEST_F(CudaBuild, TunablesAndAxesAreConstants) {
  const Variant variant = device_variant(body("static_assert(W == 8); a.y[i] = a.x[i] + W;"), "// apo:tune W 4,8\n");
  EXPECT_EQ(build(variant).outcome, Outcome::build_failed);
  EXPECT_EQ(build(variant, {{"W", 8}}).outcome, Outcome::valid);
}

TEST_F(CudaBuild, ASecondBuildComesFromTheCacheWithEverything) {
  const Variant variant = device_variant(body("a.y[i] = a.x[i];"));
  const Build first = build(variant);
  const Build second = build(variant);
  EXPECT_FALSE(first.from_cache);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(second.code_hash, first.code_hash);
  EXPECT_EQ(second.object_path, first.object_path);
  EXPECT_EQ(second.resources, first.resources);
  EXPECT_EQ(second.plan, first.plan);
  EXPECT_EQ(second.toolchain.version, first.toolchain.version);
}

TEST_F(CudaBuild, AnErrorNamesTheUsersFile) {
  const Build failed = build(body("a.y[i] = a.nothing;"));
  EXPECT_EQ(failed.outcome, Outcome::build_failed);
  EXPECT_TRUE(failed.evidence.starts_with("/somewhere/device.cu(")) << failed.evidence;
  expect_contains(failed.evidence, "nothing");
  EXPECT_TRUE(failed.object_path.empty());
}

TEST_F(CudaBuild, HeadersReachBothCompilersAndAreNamedInErrors) {
  for (const char* needs_nvcc : {"", "#include <vector>\n"}) {
    const auto with_inner = [&](const std::string& inner) {
      return parse_variant(
          cuda_source(kLaunch, needs_nvcc + std::string("#include \"outer.cuh\"\n") + body("a.y[i] = same(a.x[i]);")),
          "/somewhere/mine.cu",
          {{"inner.cuh", inner, "/somewhere/inner.cuh"}, {"outer.cuh", "#include \"inner.cuh\"\n", ""}});
    };
    const Build built = build(with_inner("inline __device__ float same(float x) { return x; }\n"));
    if (*needs_nvcc != '\0' && built.outcome != Outcome::valid) {
      GTEST_SKIP() << "no nvcc here: " << built.evidence;
    }
    ASSERT_EQ(built.outcome, Outcome::valid) << built.log;
    EXPECT_EQ(built.code_hash, build(needs_nvcc + body("a.y[i] = a.x[i];")).code_hash);
    const Build broken = build(with_inner("inline __device__ float same(float x) { return y; }\n"));
    EXPECT_TRUE(broken.evidence.starts_with("/somewhere/inner.cuh(1)")) << broken.evidence;
  }
}

// A kernel can store to constants and tables too.
TEST_F(CudaBuild, VariablesConstantsAndTablesMarkAPlanThatKeepsState) {
  for (const char* memory : {"__device__", "__constant__", "__device__ const"}) {
    const std::string store =
        "const auto at = reinterpret_cast<unsigned long long>(kept) + (a.n < 0 ? 4 : 0);"
        "volatile int* to = reinterpret_cast<volatile int*>(at);"
        "a.y[i] = a.x[i]; if (i == 0) *to = *to + 1;";
    const Build built = build(memory + std::string(" int kept[2] = {1, 2};\n") + body(store));
    ASSERT_EQ(built.outcome, Outcome::valid) << built.log;
    EXPECT_EQ(built.resources.at("writable_bytes"), 8) << memory;
    EXPECT_TRUE(built.plan.keeps_state) << memory;
  }
}

TEST_F(CudaBuild, AHeaderThatOnlyNvccHasIsBuiltByNvcc) {
  const Build built = build("#include <vector>\n" + body("a.y[i] = a.x[i];"));
  if (built.outcome != Outcome::valid) {
    GTEST_SKIP() << "no nvcc here: " << built.evidence;
  }
  EXPECT_TRUE(built.toolchain.version.starts_with("nvcc")) << built.toolchain.version;
}

TEST_F(CudaBuild, ACompilerThatNeverEndsIsStopped) {
  const CudaBuilder hasty(folder_.path() / "other", h200(), 0.001);
  const Build stopped = hasty.build(*find_family("copy"), device_variant(body("a.y[i] = a.x[i];")), {{"n", 8}}, {});
  EXPECT_EQ(stopped.outcome, Outcome::build_failed);
  expect_contains(stopped.evidence, "did not finish");
}

TEST_F(CudaBuild, AStopEndsACompilerAndLeavesNothing) {
  CudaBuilder builder(folder_.path() / "stopped", h200(), 1000);
  std::stop_source stop;
  stop.request_stop();
  builder.stop_by(stop.get_token());
  const Variant variant = device_variant(body("a.y[i] = a.x[i];"));
  EXPECT_THROW(builder.build(*find_family("copy"), variant, {{"n", 8}}, {}), Cancelled);
  builder.stop_by({});
  EXPECT_FALSE(builder.build(*find_family("copy"), variant, {{"n", 8}}, {}).from_cache);
}

TEST_F(CudaBuild, AnotherArchitectureIsRefused) {
  std::string source = cuda_source(kLaunch, body("a.y[i] = a.x[i];"));
  source.replace(source.find("sm_80"), 5, "sm_100");
  const Build newer = build(parse_variant(source, "a.cu"));
  EXPECT_EQ(newer.outcome, Outcome::refused);
  expect_contains(newer.evidence, "is for sm_100, and this device is sm_90");
}

TEST_F(CudaBuild, SpecialInstructionsOfTheChipAreBuiltWhenAskedFor) {
  std::string source = cuda_source(kLaunch, body("asm volatile(\"wgmma.fence.sync.aligned;\"); a.y[i] = a.x[i];"));
  EXPECT_EQ(build(parse_variant(source, "a.cu")).outcome, Outcome::build_failed);
  source.replace(source.find("sm_80"), 5, "sm_90a");
  const Build special = build(parse_variant(source, "a.cu"));
  EXPECT_EQ(special.outcome, Outcome::valid) << special.log;
}

TEST_F(CudaBuild, ADamagedCubinIsNoCubin) {
  const std::string cubin = read_file(build(body("a.y[i] = a.x[i];")).object_path);
  for (const std::size_t size : {0ul, 3ul, 63ul, 64ul, cubin.size() / 2}) {
    EXPECT_THROW(read_cubin(cubin.substr(0, size)), EnvironmentError) << size;
  }
}

}  // namespace
}  // namespace apo
