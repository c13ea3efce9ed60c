// tests/implement/plain_call_test.cpp - plain functions as host and library variants, built with the real compilers.
#include "harness/implement/plain_call.h"

#include <gtest/gtest.h>

#include "harness/implement/builder.h"
#include "harness/implement/cubin_builder.h"
#include "harness/implement/toolkit.h"
#include "tests/implement/fixtures.h"

namespace apo {
namespace {

using namespace test;

class PlainFunction : public ::testing::Test {
 protected:
  Build build(const std::string& code, const std::string& more = "") const {
    const Builder builder({.cache = folder_.path() / "cache", .home = APO_SOURCE_FOLDER, .timeout_s = 1000});
    return builder.build(*find_family("copy"), parse_variant(source("plain", more, code), "/home/me/plain.cpp"),
                         {{"n", 3}}, {});
  }
  static constexpr const char* kLoop = "{ for (int64_t i = 0; i < n; ++i) y[i] = x[i]; }\n";
  const std::vector<float> expected_ = {1, 2, 3};
  TemporaryFolder folder_;
};

TEST_F(PlainFunction, IsCalledWithTheTensorsAndTheAxes) {
  const Build built = build(std::string("void copy(const float* x, float* y, int64_t n) ") + kLoop);
  EXPECT_EQ(call_copy(built.object_path), std::make_pair(0, expected_)) << built.log;
}

TEST_F(PlainFunction, MayBeStaticExternCATemplateOrTakeAnInt) {
  for (const std::string head : {"static void copy(const float* x, float* y, int64_t n) ",
                                 "extern \"C\" void copy(const float* x, float* y, int n) ",
                                 "template <class T> void copy(const T* x, T* y, int64_t n) ",
                                 "#include <cstdint>\nusing namespace std;\n"
                                 "void copy(const float* __restrict__ x, float* __restrict__ y, size_t n) "}) {
    const Build built =
        build(head + (head.find("size_t") == std::string::npos ? kLoop : "{ while (n-- > 0) y[n] = x[n]; }"));
    EXPECT_EQ(call_copy(built.object_path), std::make_pair(0, expected_)) << head << built.log;
  }
}

TEST_F(PlainFunction, MayTakeTheNumberOfThreadsOrTheArgumentStruct) {
  const auto output = [&](const std::string& code) { return call_copy(build(code).object_path).second; };
  EXPECT_EQ(
      output("void copy(const float* x, float* y, int64_t n, int threads) { while (n-- > 0) y[n] = x[n] + threads; }"),
      (std::vector<float>{5, 6, 7}));
  EXPECT_EQ(output("#include \"copy.args.h\"\nvoid copy(const copy_args& a) { a.y[2] = a.x[2]; }"),
            (std::vector<float>{0, 0, 3}));
  EXPECT_EQ(output("void copy(const copy_args& a, int threads) { a.y[0] = threads; }"), (std::vector<float>{4, 0, 0}));
}

TEST_F(PlainFunction, ScratchStandsBetweenTheOutputsAndTheAxes) {
  const Build built = build("void copy(const float* x, float* y, void* s, int64_t n) { y[0] = n; y[1] = x == s; }",
                            "// apo:scratch s 64\n");
  EXPECT_EQ(call_copy(built.object_path, true).second, (std::vector<float>{3, 1, 0}));
}

TEST_F(PlainFunction, AnAnswerOtherThanZeroRefusesTheCall) {
  EXPECT_EQ(call_copy(build("int copy(const float*, float*, int64_t) { return 7; }").object_path).first, 7);
}

// Every number converts to every other one: what stands in the wrong place would be computed with.
TEST_F(PlainFunction, AScalarInTheWrongPlaceIsThatErrorToo) {
  Family family = *find_family("copy");
  family.scalars = {{.name = "scale", .dtype = DType::f32, .value = 0.5, .meaning = ""}};
  const Builder builder({.cache = folder_.path() / "cache", .home = APO_SOURCE_FOLDER, .timeout_s = 1000});
  const auto evidence = [&](const std::string& parameters) {
    const std::string code = "void copy(const float* x, float* y, " + parameters + ") { y[n - 1] = scale * x[0]; }\n";
    return builder.build(family, parse_variant(source("plain", "", code), "/home/me/plain.cpp"), {{"n", 3}}, {})
        .evidence;
  };
  expect_contains(
      evidence("int64_t n, float scale"),
      "there is no function that can be called as 'void copy(const float* x, float* y, float scale, int64_t n)'");
  EXPECT_EQ(evidence("float scale, int64_t n"), "");
  EXPECT_EQ(evidence("double scale, long n"), "");
  EXPECT_EQ(evidence("float scale, int n"), "");
}

TEST_F(PlainFunction, AWrongSignatureIsOneErrorWithTheExpectedOne) {
  for (const char* code : {"void copy(float* x, float* y, int64_t n) { y[n - 1] = x[0]; }\n", "int other = 1;\n",
                           "void copied(const float*, float*, int64_t) {}\n"}) {
    const Build built = build(code);
    EXPECT_EQ(built.outcome, Outcome::build_failed) << code;
    EXPECT_EQ(built.evidence,
              "/home/me/plain.cpp:1: there is no function that can be called as 'void copy(const float* x, float* y, "
              "int64_t n)', and no apo_launch");
  }
}

TEST_F(PlainFunction, AnErrorInItsCodeNamesItsLine) {
  const Build built = build("void copy(const float* x, float* y, int64_t n) { y[0] = z[n]; }\n");
  EXPECT_TRUE(built.evidence.starts_with("/home/me/plain.cpp:5:")) << built.evidence;
}

TEST_F(PlainFunction, TheCAbiGoesFirstWhereAFileHasBoth) {
  const Build built = build(std::string("void copy(const float*, float*, int64_t) {}\n") + std::string(kBody));
  EXPECT_EQ(call_copy(built.object_path).second, expected_) << built.log;
}

TEST(PlainSignature, NamesTensorsInContractOrderThenScratchThenAxes) {
  const Variant variant = parse_variant(
      "// apo:variant e88_forward/mine\n// apo:target host\n// apo:technique straight-copy\n// apo:idea x\n"
      "// apo:scratch kept 8\n",
      "mine.cpp");
  const std::string signature = plain_signature(*find_family("e88_forward"), variant);
  expect_contains(signature, "void e88_forward(const uint16_t* k, ");
  expect_contains(signature, ", uint16_t* s_final, void* kept, int64_t B, int64_t T");
}

TEST(PlainCudaFunction, LaunchesItsOwnKernelsOnTheStream) {
  if (find_toolkit_program("nvcc").empty()) {
    GTEST_SKIP() << "no nvcc here";
  }
  const TemporaryFolder folder;
  const auto build = [&](const std::string& parameters) {
    return build_library(
        {.home = APO_SOURCE_FOLDER, .device = DeviceFacts{.major = 9}}, BuildCache(folder.path()), *find_family("copy"),
        parse_variant(cuda_source("",
                                  "__global__ void k(const float* x, float* y, int64_t n) { y[n - 1] = x[n - 1]; }\n"
                                  "void copy(" +
                                      parameters + ") { k<<<1, 1, 0, stream>>>(x, y, n); }\n"),
                      "/home/me/plain.cu"),
        {{"n", 1000}}, {});
  };
  const Build built = build("const float* x, float* y, int64_t n, cudaStream_t stream");
  EXPECT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
  EXPECT_TRUE(built.plan.library);
  EXPECT_GE(built.resources.at("registers"), 4);
  expect_contains(build("float* x, float* y, int64_t n, cudaStream_t stream").evidence,
                  "/home/me/plain.cu:1: there is no function that can be called as 'void copy(const float* x, float* "
                  "y, int64_t n)', and no apo_launch or apo:launch line");
}

}  // namespace
}  // namespace apo
