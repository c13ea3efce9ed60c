// tests/implement/variant/settings_test.cpp - settings spaces, their validation, constraints and the generated header.
#include "harness/implement/variant/settings.h"

#include <gtest/gtest.h>

#include "harness/implement/variant/args_header.h"
#include "tests/implement/fixtures.h"

namespace apo {
namespace {

using namespace test;

const Family& copy() {
  return *find_family("copy");
}

Variant tuned() {
  return variant("tuned",
                 "// apo:tune CHUNK 16,8\n// apo:tune LANES 1,2,4\n// apo:requires n % CHUNK == 0 && LANES < CHUNK\n"
                 "// apo:scratch history 4*n*LANES\n// apo:scratch hole CHUNK-12\n");
}

// Every dtype, every role, two specialised axes.
Family mixed_family() {
  const auto shape = [](const Axes& axes) { return std::vector<std::int64_t>{axes.at("B"), axes.at("N")}; };
  Family family;
  family.name = "mixed";
  family.axes = {{.name = "B", .meaning = "batch", .max = 64},
                 {.name = "V", .meaning = "values", .max = 64, .specialised = true},
                 {.name = "N", .meaning = "keys", .max = 64, .specialised = true}};
  family.tensors = {{"k", DType::bf16, Role::input, "[B,N]", shape, ""},
                    {"g", DType::f32, Role::input, "[B,N]", shape, ""},
                    {"h", DType::f64, Role::derived_input, "[B]", shape, ""},
                    {"dk", DType::bf16, Role::output, "[B,N]", shape, ""}};
  return family;
}

Variant mixed_variant(Target target) {
  Variant variant;
  variant.family = "mixed";
  variant.name = "simple";
  variant.target = target;
  variant.tunables = {{.name = "CHUNK", .values = {16, 8}}, {.name = "AHEAD", .values = {-1}}};
  variant.scratch = {{.name = "history", .bytes = "2*B*N"}};
  return variant;
}

TEST(Settings, DefaultIsTheFirstValueOfEach) {
  EXPECT_EQ(default_settings(tuned()), (Settings{{"CHUNK", 16}, {"LANES", 1}}));
  EXPECT_TRUE(default_settings(variant()).empty());
}

TEST(Settings, SpaceHoldsEveryCombinationOnceDefaultFirst) {
  const std::vector<Settings> space = settings_space(tuned());
  ASSERT_EQ(space.size(), 6u);
  EXPECT_EQ(space.front(), default_settings(tuned()));
  EXPECT_EQ(space[1], (Settings{{"CHUNK", 16}, {"LANES", 2}}));
  EXPECT_EQ(space.back(), (Settings{{"CHUNK", 8}, {"LANES", 4}}));
  EXPECT_EQ(settings_space(variant()), std::vector<Settings>{Settings{}});
}

TEST(Settings, ALineWithATunableHoldsForSomeOfTheSpace) {
  const Variant positive = variant("tuned",
                                   "// apo:tune CHUNK 16,8\n// apo:tune LANES 1,2,4\n"
                                   "// apo:requires n % CHUNK == 0 && LANES < 4\n");
  const auto legal = [&](std::int64_t n) {
    std::vector<Settings> space = settings_space(positive);
    std::erase_if(space, [&](const Settings& one) { return !supports(positive, copy(), {{"n", n}}, one); });
    return space;
  };
  EXPECT_EQ(legal(48).size(), 4u);
  EXPECT_EQ(legal(8), (std::vector<Settings>{{{"CHUNK", 8}, {"LANES", 1}}, {{"CHUNK", 8}, {"LANES", 2}}}));
  EXPECT_TRUE(legal(7).empty());
}

TEST(Settings, MissingOnesGetTheirDefault) {
  EXPECT_EQ(resolve_settings(tuned(), {{"LANES", 4}}), (Settings{{"CHUNK", 16}, {"LANES", 4}}));
}

std::string refusal(const Variant& variant, const Settings& settings) {
  return error_of([&] { resolve_settings(variant, settings); });
}

TEST(Settings, UnknownTunableAndForeignValueAreTheUsersMistake) {
  expect_contains(refusal(tuned(), {{"CHUNKS", 8}}), "'copy/tuned' has no tunable 'CHUNKS' | did you mean 'CHUNK'?");
  expect_contains(refusal(tuned(), {{"CHUNK", 7}}), "'copy/tuned' does not offer CHUNK=7 | choose one of 16, 8");
  expect_contains(refusal(variant(), {{"CHUNK", 7}}), "it has none at all");
}

Variant toggled() {
  return parse_variant(cuda_source("// apo:toggle FUSED fused-l2-norm\n// apo:scratch unit 4*n when=!FUSED\n"
                                   "// apo:scratch rest 8\n// apo:launch norm grid=1 block=1 when=!FUSED\n"
                                   "// apo:launch k grid=n block=1\n"),
                       "a.cu");
}

TEST(Toggles, AreOffOrOn) {
  EXPECT_EQ(default_settings(toggled()), Settings{});
  EXPECT_EQ(resolve_settings(toggled(), {}), (Settings{{"FUSED", 0}}));
  EXPECT_EQ(stated_settings(toggled(), {{"FUSED", 1}}), (Settings{{"FUSED", 1}}));
  expect_contains(refusal(toggled(), {{"FUSED", 2}}), "'copy/device' does not offer FUSED=2 | choose one of 0, 1");
}

TEST(Toggles, DecideWhichTechniquesBuffersAndLaunchesThereAre) {
  const Variant off = as_set(toggled(), {}), on = as_set(toggled(), {{"FUSED", 1}});
  EXPECT_EQ(off.scratch.size(), 2u);
  EXPECT_EQ(off.launches.size(), 2u);
  ASSERT_EQ(on.scratch.size(), 1u);
  EXPECT_EQ(on.scratch[0].name, "rest");
  ASSERT_EQ(on.launches.size(), 1u);
  EXPECT_EQ(on.launches[0].kernel, "k");
  EXPECT_EQ(on.techniques.back(), "fused-l2-norm");
  EXPECT_EQ(off.techniques, toggled().techniques);
  EXPECT_EQ(scratch_bytes(toggled(), {{"n", 3}}, {{"FUSED", 1}}), std::vector<std::int64_t>{8});
}

TEST(Toggles, AreMacrosOfTheGeneratedHeader) {
  const std::string header = args_header(copy(), as_set(toggled(), {{"FUSED", 1}}), {{"n", 3}}, {{"FUSED", 1}});
  expect_contains(header, "#define FUSED 1\n");
  EXPECT_EQ(header.find("void* unit"), std::string::npos);
  expect_contains(exported_args_header(copy(), toggled()),
                  "#error \"APO_FUSED is missing\"\n#endif\n#define FUSED APO_FUSED\n");
}

TEST(Settings, RequiresDecidesPerWorkloadAndSetting) {
  std::string why;
  EXPECT_TRUE(supports(tuned(), copy(), {{"n", 32}}, {}, &why));
  EXPECT_FALSE(supports(tuned(), copy(), {{"n", 24}}, {}, &why));
  expect_contains(
      why, "copy/tuned requires n % CHUNK == 0 && LANES < CHUNK, which does not hold for CHUNK=16, LANES=1, n=24");
  EXPECT_TRUE(supports(tuned(), copy(), {{"n", 48}}, {{"CHUNK", 16}}, nullptr));
  EXPECT_TRUE(supports(variant(), copy(), {{"n", 7}}, {}));
}

// A campaign asks this of every variant there is: one that is wrong must not end it.
TEST(Settings, ABlockWithoutMeaningForAShapeDoesNotSupportIt) {
  std::string why;
  EXPECT_FALSE(supports(variant("x", "// apo:requires 8 / (n - 4) > 0\n"), copy(), {{"n", 4}}, {}, &why));
  expect_contains(why, "division by zero in '8 / (n - 4) > 0' (character 3) for n=4");
  EXPECT_FALSE(supports(tuned(), copy(), {{"n", 24}}, {{"CHUNK", 8}}, &why));
  expect_contains(why, "'CHUNK-12' is -4, but a size cannot be negative for CHUNK=8, LANES=1, n=24");
}

TEST(Settings, RequiresSeesTheDevicesFacts) {
  const Variant device =
      parse_variant(cuda_source("// apo:requires SMS >= 64\n// apo:launch k grid=1 block=1\n"), "a.cu");
  EXPECT_TRUE(supports(device, copy(), {{"n", 1}}, {}, nullptr, {{"SMS", 132}}));
  EXPECT_FALSE(supports(device, copy(), {{"n", 1}}, {}, nullptr, {{"SMS", 8}}));
}

TEST(Settings, AxesOfAnotherFamilyAreRefused) {
  EXPECT_THROW(supports(variant(), copy(), {{"B", 1}}, {}), UserError);
  EXPECT_THROW(supports(variant(), copy(), {{"n", 0}}, {}), UserError);
}

TEST(Settings, ScratchIsSizedPerWorkloadAndNeverNegative) {
  EXPECT_EQ(scratch_bytes(tuned(), {{"n", 32}}, {{"LANES", 2}}), (std::vector<std::int64_t>{256, 4}));
  EXPECT_THROW(scratch_bytes(tuned(), {{"n", 32}}, {{"CHUNK", 8}}), ExpressionError);
}

TEST(ArgsHeader, HostFormIsTheContract) {
  EXPECT_EQ(args_header(mixed_family(), mixed_variant(Target::host), {{"B", 2}, {"N", 32}, {"V", 16}}, {{"CHUNK", 8}}),
            R"(// mixed.args.h - generated from the contract of mixed for mixed/simple; do not edit.
#pragma once
#include "kernels/abi.h"
struct mixed_args {
  const uint16_t* k;  // [B,N] bf16
  const float* g;  // [B,N] f32
  const double* h;  // [B] f64
  uint16_t* dk;  // [B,N] bf16
  void* history;  // scratch, 2*B*N bytes
  int64_t B;
  int64_t V;
  int64_t N;
};
inline constexpr int64_t kV = 16;
inline constexpr int64_t kN = 32;
inline constexpr int64_t CHUNK = 8;
inline constexpr int64_t AHEAD = -1;
#define APO_EXPORT extern "C" __attribute__((visibility("default")))
)");
}

TEST(ArgsHeader, DeviceFormNeedsNoHostHeader) {
  Variant device = mixed_variant(Target::cuda);
  device.launches.emplace_back();
  const std::string header = args_header(mixed_family(), device, {{"B", 2}, {"N", 32}, {"V", 16}}, {});
  expect_contains(header, "#include <cuda_bf16.h>\nstruct mixed_args {\n  const __nv_bfloat16* k;");
  expect_contains(header, "  __nv_bfloat16* dk;");
  expect_contains(header, "  long long B;\n");
  EXPECT_EQ(header.find("kernels/abi.h"), std::string::npos);
}

TEST(ArgsHeader, WorkloadsThatShareTheirSpecialisedAxesShareTheHeader) {
  const Variant simple = mixed_variant(Target::host);
  const std::string header = args_header(mixed_family(), simple, {{"B", 2}, {"N", 32}, {"V", 16}}, {});
  EXPECT_EQ(args_header(mixed_family(), simple, {{"B", 9}, {"N", 32}, {"V", 16}}, {}), header);
  EXPECT_NE(args_header(mixed_family(), simple, {{"B", 2}, {"N", 16}, {"V", 16}}, {}), header);
}

}  // namespace
}  // namespace apo
