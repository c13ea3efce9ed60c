// tests/implement/plain_call_test.cpp - plain functions as host and library variants, built with the real compilers.
#include "harness/implement/plain_call.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/core/sources.h"
#include "harness/implement/builder.h"
#include "harness/implement/cubin_builder.h"
#include "harness/implement/toolkit.h"
#include "harness/implement/variant/catalogue.h"
#include "harness/implement/variant/settings.h"
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
  EXPECT_EQ(output("void copy(const copy_args& a, int available) { a.y[0] = available; }"),
            (std::vector<float>{4, 0, 0}));
  Family family = *find_family("copy");
  family.tensors.front().name = "a";  // and is called so by nobody who takes all of the arguments
  const std::string all = "void copy(const copy_args& a, int threads) { a.y[0] = a.a[0]; }";
  EXPECT_EQ(plain_call(family, parse_variant(source("plain", "", all), "plain.cpp")).text, "copy(copy_args, threads)");
}

TEST(ShippedHostVariants, HaveACallWithEachOfTheirToggles) {
  Catalogue catalogue;
  catalogue.load({std::filesystem::path(APO_SOURCE_FOLDER) / "variants"});
  int calls = 0;
  for (const std::string& id : catalogue.ids()) {
    const Variant& variant = catalogue.get(id);
    if (is_device_variant(variant) || !variant.object.empty()) {
      continue;
    }
    std::vector<Settings> all = {{}};
    for (const Tunable& tunable : variant.tunables) {
      all.push_back({{tunable.name, tunable.values.back()}});
    }
    for (const Settings& settings : all) {
      const PlainCall call = plain_call(*find_family(variant.family), as_set(variant, settings));
      EXPECT_EQ(call.problem, "") << Configuration{id, settings}.label();
      ++calls;
    }
  }
  EXPECT_GT(calls, 40);
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
TEST_F(PlainFunction, AScalarIsFoundByItsNameAndIsAnErrorInTheWrongPlaceUnderAnother) {
  Family family = *find_family("copy");
  family.scalars = {{.name = "scale", .dtype = DType::f32, .value = 0.5, .meaning = ""}};
  const Builder builder({.cache = folder_.path() / "cache", .home = APO_SOURCE_FOLDER, .timeout_s = 1000});
  const auto evidence = [&](const std::string& parameters) {
    const std::string code = "void copy(const float* x, float* y, " + parameters + ") { y[0] = x[0]; }\n";
    return builder.build(family, parse_variant(source("plain", "", code), "/home/me/plain.cpp"), {{"n", 3}}, {})
        .evidence;
  };
  for (const char* right : {"float scale, int64_t n", "int64_t n, float scale", "double scale, long n",
                            "float scale, int n", "float factor, int count"}) {
    EXPECT_EQ(evidence(right), "") << right;
  }
  for (const char* wrong :
       {"int64_t count, float factor", "int64_t, float", "int count, float scale", "float n, int scale"}) {
    expect_contains(evidence(wrong), "/home/me/plain.cpp:5: copy cannot be called: ");
  }
}

TEST_F(PlainFunction, ParametersGetWhatIsCalledLikeThemInAnyOrder) {
  const Build built = build("void copy(int n, float* y, float* x) { for (int i = 0; i < n; ++i) y[i] = x[i]; }\n");
  EXPECT_EQ(call_copy(built.object_path), std::make_pair(0, expected_)) << built.evidence << built.log;
}

TEST_F(PlainFunction, ParametersWithADefaultKeepItAndScratchHasTheTypeThatTheFunctionAsksFor) {
  const Build built = build(
      "template <int STEP = 1> void copy(float* x, float* y, float* kept, int n, float scale = 2, int threads = 9) {\n"
      "  for (int i = 0; i < n; i += STEP) y[i] = scale * kept[i] + threads;\n}\n",
      "// apo:scratch kept 64\n");
  EXPECT_EQ(call_copy(built.object_path, true).second, (std::vector<float>{11, 13, 15})) << built.evidence << built.log;
}

TEST_F(PlainFunction, ALineNamesTheFunctionAndWhatItsParametersGet) {
  const std::string code =
      "namespace mine { template <int STEP> void run(int half, const float* from, float* to, float scale, int block) "
      "{\n"
      "  for (int i = 0; i < 2 * half; i += STEP) to[i] = from[i] * scale + block;\n} }\n"
      "int ready = 0;\nvoid prepare() { ++ready; }\nint main() { return 0; }\n";
  const std::string line =
      "// apo:function mine::run<1> half=(n+1)/2-1 from=x to=y scale=2.0 setup=prepare\n// apo:tune block 4,8\n";
  const Build built = build(code, line);
  EXPECT_EQ(call_copy(built.object_path).second, (std::vector<float>{6, 8, 0})) << built.evidence << built.log;
  for (const auto& [wrong, mistake] :
       {std::pair{"half=n from=x to=y scale=2 other=1", "it has no parameter 'other' that it is called with"},
        {"from=x to=y scale=2", "nothing fits its parameter 'int half'; say what it gets: '// apo:function run half="},
        {"half=m from=x to=y scale=2", "nothing fits its parameter 'int half'"},
        {"half=n from=x to=x scale=2", "no parameter of it writes the output 'y'"}}) {
    expect_contains(
        build(code, "// apo:function mine::run<1> " + std::string(wrong) + "\n// apo:tune block 4\n").evidence,
        mistake);
  }
  expect_contains(build(code, "// apo:function go\n").evidence,
                  "there is no host function 'go'; the file has: run, prepare");
}

TEST_F(PlainFunction, WithoutALineItIsTheOneNamedLikeTheFamilyOrTheVariantElseTheOnlyOneThatFits) {
  const std::string other = "void other(const float* x, float* y, int n) { y[0] = 9; }\n";
  const auto first = [&](const std::string& code) {
    const Build built = build(code);
    return built.outcome == Outcome::valid ? call_copy(built.object_path).second[0] : -1;
  };
  EXPECT_EQ(first(other), 9);
  EXPECT_EQ(first(other + "void copy(const float* x, float* y, int n) { y[0] = 1; }\n"), 1);
  EXPECT_EQ(first(other + "void plain(const float* x, float* y, int n) { y[0] = 2; }\n"), 2);
  EXPECT_EQ(first(other + "void copy(int kind, const float* x, float* y, int n) { y[0] = 3; }\n"), 9)
      << "a function that does not fit is not in the way";
  expect_contains(build(other + "void another(const float* x, float* y, int n) { y[0] = 3; }\n").evidence,
                  "several functions fit: other, another; name one with --function");
}

TEST_F(PlainFunction, IsCalledUnderAnOldStandardAndWithTheFlagsOfItsLines) {
  const std::string code =
      "void copy(const float* x, float* y, int64_t n) { y[0] = __cplusplus / 100; y[1] = MORE; }\n";
  const Build built = build(code, "// apo:flags -std=c++14 -O1 -DMORE=7\n// apo:flags -ffast-math\n");
  EXPECT_EQ(call_copy(built.object_path).second, (std::vector<float>{2014, 7, 0})) << built.evidence << built.log;
  EXPECT_EQ(std::ranges::count(built.flags, "-std=c++20") + std::ranges::count(built.flags, "-O3"), 0);
  EXPECT_NE(built.key, build(code, "// apo:flags -std=c++14 -O2 -DMORE=7\n").key);
}

TEST_F(PlainFunction, AWrongSignatureIsOneErrorWithBothSides) {
  for (const auto& [code, mistake] :
       {std::pair{"void copy(float* in, float* out, int64_t count) {}\n", "'float* in' stands where the contract has "},
        {"void copy(const float* in, float* out) {}\n", "its parameters are 2, and the contract has 3"},
        {"void copy(const float* y, float* x, int64_t n) {}\n", "no parameter of it writes the output 'y'"}}) {
    const Build built = build(code);
    EXPECT_EQ(built.outcome, Outcome::build_failed) << code;
    expect_contains(built.evidence, "/home/me/plain.cpp:5: copy cannot be called: ");
    expect_contains(built.evidence, mistake);
    expect_contains(built.log, "the function:  copy(");
    expect_contains(built.log, "the contract:  copy(const float* x, float* y, int64_t n)");
  }
  const Build other_type = build("void copy(const double* x, double* y, int64_t n) {}\n");
  expect_contains(other_type.evidence, "/home/me/plain.cpp:5: copy cannot be called as copy(x, y, n): ");
  expect_contains(other_type.log, "the function:  copy(const double* x, double* y, int64_t n)");
}

TEST_F(PlainFunction, AFileWithoutOneIsToldTheSignatureAndTheFunctionsThatItHas) {
  EXPECT_EQ(build("int other = 1;\n").evidence,
            "/home/me/plain.cpp:1: there is no function that can be called as 'void copy(const float* x, float* y, "
            "int64_t n)', and no apo_launch");
  expect_contains(build("void copied(const float*, float*, int64_t) {}\nint main() { return 0; }\n").evidence,
                  "and no apo_launch; name one with --function or '// apo:function NAME': copied");
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
        parse_variant(
            cuda_source(
                "",
                "template <class X, class Y>\n__global__ void k(const X* x, Y* y, int64_t n) { y[n - 1] = x[n - 1]; }\n"
                "void copy(" +
                    parameters + ") { k<<<1, 1, 0, stream>>>(x, y, n); }\n"),
            "/home/me/plain.cu"),
        {{"n", 1000}}, {});
  };
  const Build built = build("const float* x, float* y, int64_t n, cudaStream_t stream");
  EXPECT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
  EXPECT_TRUE(built.plan.library);
  EXPECT_GE(built.resources.at("registers"), 4);
  expect_contains(build("double* x, float* y, int64_t n, cudaStream_t stream").evidence,
                  "/home/me/plain.cu:7: copy cannot be called as copy(x, y, n, stream): ");
}

}  // namespace
}  // namespace apo
