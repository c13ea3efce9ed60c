// tests/implement/library_builder_test.cpp - library variants for target cuda, built with nvcc; no GPU is needed.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/implement/cubin_builder.h"
#include "harness/implement/toolkit.h"
#include "tests/implement/fixtures.h"

namespace apo {
namespace {

using namespace test;
namespace fs = std::filesystem;

constexpr const char* kLibraryBody = R"(#include "copy.args.h"
static __global__ void copy_elements(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) a.y[i] = a.x[i];
}
APO_EXPORT uint32_t apo_abi(void) { return APO_ABI_VERSION; }
APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  copy_elements<<<40, 256, 0, static_cast<cudaStream_t>(call->stream)>>>(args);
  return 0;
}
)";

class CudaLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    if (find_toolkit_program("nvcc").empty()) {
      GTEST_SKIP() << "no nvcc here";
    }
  }
  Build build(const std::string& source) const {
    return build_library({.home = APO_SOURCE_FOLDER, .device = DeviceFacts{.major = 9}},
                         BuildCache(folder_.path() / "cache"), *find_family("copy"),
                         parse_variant(source, "/somewhere/library.cu"), {{"n", 1000}}, {});
  }

  TemporaryFolder folder_;
};

TEST_F(CudaLibrary, BecomesASharedObjectWithTheFactsOfItsKernelsAndComesFromTheCacheTheSecondTime) {
  const Build built = build(cuda_source("", kLibraryBody));
  ASSERT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
  EXPECT_FALSE(built.from_cache);
  EXPECT_TRUE(built.plan.library);
  EXPECT_TRUE(built.plan.launches.empty());
  EXPECT_TRUE(built.object_path.ends_with(".so"));
  EXPECT_GE(built.resources.at("registers"), 4);
  EXPECT_GT(built.resources.at("host_text_bytes"), 0);
  EXPECT_EQ(built.resources.at("spill_bytes"), 0);

  const Build second = build(cuda_source("", kLibraryBody));
  EXPECT_TRUE(second.from_cache);
  EXPECT_TRUE(second.plan.library);
  EXPECT_EQ(second.code_hash, built.code_hash);
  EXPECT_EQ(second.resources, built.resources);
}

TEST_F(CudaLibrary, TheCodeHashSeesHostAndDeviceCodeAndNoComments) {
  const std::string body = kLibraryBody;
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = body;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string hash = build(cuda_source("", body)).code_hash;
  EXPECT_EQ(build(cuda_source("", "// a comment\n" + body)).code_hash, hash);
  EXPECT_EQ(build(cuda_source("", replace_all(body, "copy_elements", "k"))).code_hash, hash);
  EXPECT_NE(build(cuda_source("", replaced("<<<40,", "<<<41,"))).code_hash, hash) << "host code";
  EXPECT_NE(build(cuda_source("", replaced("= a.x[i];", "= a.x[i] + 1;"))).code_hash, hash) << "device code";
}

TEST_F(CudaLibrary, AnErrorNamesTheUsersFileOrTheMissingFunction) {
  std::string body = kLibraryBody;
  const Build wrong = build(cuda_source("", body.replace(body.find("a.x[i]"), 6, "a.none")));
  EXPECT_EQ(wrong.outcome, Outcome::build_failed);
  EXPECT_TRUE(wrong.evidence.starts_with("/somewhere/library.cu(")) << wrong.evidence;
  const Build unlinked = build(cuda_source("", std::string("extern \"C\" int nowhere();\n") + kLibraryBody +
                                                   "int call() { return nowhere(); }\n" +
                                                   "APO_EXPORT int also(void) { return call(); }\n"));
  EXPECT_EQ(unlinked.outcome, Outcome::build_failed);
  expect_contains(unlinked.evidence, "undefined reference to `nowhere'");
}

TEST_F(CudaLibrary, CublasIsLinkedWhereItIsInstalledAndNamedWhereItIsNot) {
  const std::string source = read_file(fs::path(APO_SOURCE_FOLDER) / "variants/copy/cuda_cublas_copy.cu");
  const Build built = build(source);
  if (built.outcome == Outcome::refused) {
    expect_contains(built.evidence, "has no libcublas.so: install libcublas-dev");
  } else {
    ASSERT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
    expect_contains(read_file(built.object_path), "libcublas.so.");
  }
}

TEST_F(CudaLibrary, WhatNobodyCallsNeedsNoLibraryAndWhatIsCalledIsNamedWithItsLine) {
  const std::string author =
      "#include <cublas_v2.h>\n__global__ void k(const float* x, float* y, int n) { y[n - 1] = x[n - 1]; }\n"
      "void with_library() { cublasHandle_t handle; cublasCreate(&handle); }\n"
      "void launch(float* y, const float* x, int n, int block_size) { HOOK k<<<1, block_size>>>(x, y, n); }\n"
      "int main() { with_library(); return 0; }\n";
  const std::string lines = "// apo:function launch\n// apo:tune block_size 256\n";
  const Build built = build(cuda_source(lines + "// apo:flags -DHOOK=\n", author));
  EXPECT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
  const Build unlinked = build(cuda_source(lines, "#define HOOK with_library();\n" + author));
  EXPECT_EQ(unlinked.outcome, Outcome::build_failed);
  expect_contains(unlinked.evidence, "undefined reference to `cublasCreate_v2'; add '// apo:link cublas'");
  EXPECT_EQ(unlinked.log.find("ptxas info"), std::string::npos);
}

// C++20 has a function of that name.
TEST_F(CudaLibrary, AStandardAnOptimizationLevelAndFastMathAreFlagsOfTheFile) {
  const std::string author =
      "#include <cmath>\nusing namespace std;\n__device__ float lerp(float a, float b, float w) { return a + w * (b - "
      "a); }\n"
      "__global__ void k(const float* x, float* y) { y[0] = lerp(x[0], 1.0f, __sinf(x[1])); }\n"
      "void copy(const float* x, float* y, int n) { k<<<1, 1>>>(x, y); }\n";
  EXPECT_EQ(build(cuda_source("", author)).outcome, Outcome::build_failed);
  const Build built = build(cuda_source("// apo:flags -std=c++17 -O2 --use_fast_math\n", author));
  EXPECT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
  EXPECT_EQ(std::ranges::count(built.flags, "--use_fast_math"), 1);
  EXPECT_EQ(std::ranges::count(built.flags, "-O3"), 0);
  EXPECT_EQ(std::ranges::count(built.flags, "-g1,-fPIC,-fvisibility=hidden,-ffunction-sections"), 1);
}

TEST(CudaLibraryWithoutAToolkit, IsRefusedWithWhatIsMissing) {
  if (fs::exists("/usr/local/cuda/bin/nvcc")) {
    GTEST_SKIP() << "this machine has nvcc where it is looked for last";
  }
  const TemporaryFolder folder;
  const Build built = build_library({.home = APO_SOURCE_FOLDER}, BuildCache(folder.path()), *find_family("copy"),
                                    parse_variant(cuda_source("", kLibraryBody), "a.cu"), {{"n", 8}}, {});
  EXPECT_EQ(built.outcome, Outcome::refused);
  expect_contains(built.evidence, "needs nvcc");
}

TEST(LinkLines, AreForHostCodeOnCudaAndForLibrariesOfTheToolkit) {
  EXPECT_EQ(parse_variant(cuda_source("// apo:link cublas\n// apo:link cublasLt\n", kLibraryBody), "a.cu").libraries,
            (std::vector<std::string>{"cublas", "cublasLt"}));
  const std::string both = "// apo:launch k grid=1 block=1\n// apo:link cublas\n";
  for (const auto& [text, mistake] :
       {std::pair{cuda_source("// apo:link cublast\n", kLibraryBody), "did you mean"},
        std::pair{cuda_source("// apo:link crypto\n", kLibraryBody), "one of cublas, cublasLt, cudart"},
        std::pair{cuda_source("// apo:link cublas\n// apo:link cublas\n", kLibraryBody), "repeated"},
        std::pair{source("plain", "// apo:link cublas\n"), "only host code on target cuda"},
        std::pair{cuda_source(both), "only host code on target cuda"}}) {
    expect_contains(error_of([&] { parse_variant(text, "a.cu"); }), mistake);
  }
}

}  // namespace
}  // namespace apo
