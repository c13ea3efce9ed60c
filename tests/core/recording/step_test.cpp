// tests/core/recording/step_test.cpp - which launches of a step are replaced, and on what memory.
#include "harness/core/recording/step.h"

#include <gtest/gtest.h>

#include <cstring>

#include "harness/core/base64.h"
#include "harness/core/error.h"

namespace apo {
namespace {

constexpr const char* kScale = "_Z5scalePKfPfi";

std::string parameters(int n) {
  std::string bytes(20, '\0');
  std::memcpy(bytes.data() + 16, &n, sizeof n);
  return base64(bytes);
}

// y = scale(x) of n floats: x at `from` and y at `to` of memory 0.
RecordedOperation launch(const std::string& name, int n, std::int64_t from, std::int64_t to) {
  return {.kernel = RecordedKernel{
              .module = 0,
              .name = name,
              .parameters = parameters(n),
              .places = {{.parameter = 0, .memory = 0, .offset = from}, {.parameter = 8, .memory = 0, .offset = to}}}};
}

// The family's: on its tensors x and y of 64 bytes.
RecordedKernel of_family() {
  RecordedKernel kernel = *launch(kScale, 16, 0, 0).kernel;
  kernel.places = {{.parameter = 0, .argument = 0}, {.parameter = 8, .argument = 1}};
  return kernel;
}

// Two launches on tensors of the family, one on others, and neighbours.
RecordedCall step() {
  RecordedCall call;
  call.modules = {{.image = "cubin", .variables = {}}};
  call.memory = {{.bytes = 256, .contents = ""}};
  call.operations = {launch("_Z3addPKfPfi", 16, 0, 64), launch(kScale, 16, 0, 64), launch(kScale, 8, 64, 128),
                     launch(kScale, 16, 64, 192)};
  return call;
}

// Fills its scratch, and copies x to y by way of it.
RecordedCall arm() {
  RecordedCall call;
  call.modules = {{.image = "other", .variables = {}}};
  call.memory = {{.bytes = 64, .contents = "", .is_scratch = true}};
  call.operations = {
      {.kernel = {}, .bytes = 64, .to = {.memory = 0}},
      {.kernel = {}, .bytes = 64, .to = {.memory = 0}, .from = RecordedPlace{.argument = 0}},
      {.kernel = {}, .bytes = 32, .to = {.argument = 1, .offset = 32}, .from = RecordedPlace{.memory = 0}}};
  return call;
}

TEST(Steps, HaveTheArmInPlaceOfTheKernelsLaunchesOnTheirTensors) {
  const StepWith with = step_with(step(), of_family(), "scale", {64, 64}, arm());
  EXPECT_EQ(with.replaced, 2);
  EXPECT_EQ(with.kept, 1) << "a launch on other sizes";
  ASSERT_EQ(with.call.operations.size(), 2U + 2U * 3U);
  EXPECT_EQ(with.call.operations[0], step().operations[0]);
  EXPECT_EQ(with.call.operations[1].to, (RecordedPlace{.memory = 1}));
  EXPECT_EQ(with.call.operations[2].from, (RecordedPlace{.memory = 0}));
  EXPECT_EQ(with.call.operations[3].to, (RecordedPlace{.memory = 0, .offset = 96}));
  EXPECT_EQ(with.call.operations[4], step().operations[2]);
  EXPECT_EQ(with.call.operations[6].from, (RecordedPlace{.memory = 0, .offset = 64}));
  EXPECT_EQ(with.call.operations[7].to, (RecordedPlace{.memory = 0, .offset = 224}));
  EXPECT_EQ(with.call.memory.size(), 2U) << "the arm's memory is there once";
  EXPECT_TRUE(decode_recorded_call(encode(with.call)));
}

TEST(Steps, KeepTheKernelItselfAsItWas) {
  RecordedCall same;
  same.operations = {{.kernel = of_family()}};
  same.modules = step().modules;
  const StepWith with = step_with(step(), of_family(), kScale, {64, 64}, same);
  ASSERT_EQ(with.call.operations.size(), step().operations.size());
  RecordedOperation second = with.call.operations[1];
  EXPECT_EQ(second.kernel->module, 1);
  second.kernel->module = 0;
  EXPECT_EQ(second, step().operations[1]);
}

TEST(Steps, WithoutSuchALaunchSaySo) {
  const auto why = [](const RecordedKernel& kernel, const char* at, const std::vector<std::int64_t>& bytes) {
    try {
      step_with(step(), kernel, at, bytes, arm());
      return std::string();
    } catch (const UserError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(why(of_family(), "norm", {64, 64}), "the step does not launch 'norm'");
  EXPECT_EQ(why(of_family(), "scale", {64, 512}),
            "the step launches 'scale' 3 times, never with the sizes and numbers of the family");
  EXPECT_EQ(why(of_family(), "scale", {64, 64, 64}), "the kernel '_Z5scalePKfPfi' is not given the family's tensor 2");
  RecordedKernel larger = of_family();
  larger.grid[0] = 2;
  EXPECT_NE(why(larger, "scale", {64, 64}), "");
}

// As kernels/abi.h has the argument struct: tensors, scratch, axes.
TEST(Steps, TakeADeviceVariantWithItsArgumentStruct) {
  const LaunchPlan plan{.launches = {{.kernel = "k", .grid = {4, 1, 1}, .block = {32, 1, 1}, .shared_bytes = 16}}};
  const RecordedCall call = call_of(plan, "cubin", 2, {128}, {7, 9});
  ASSERT_EQ(call.operations.size(), 1U);
  const RecordedKernel& kernel = *call.operations[0].kernel;
  const std::string bytes = *bytes_of_base64(kernel.parameters);
  std::int64_t axis = 0;
  ASSERT_EQ(bytes.size(), 40U);
  std::memcpy(&axis, bytes.data() + 32, sizeof axis);
  EXPECT_EQ(axis, 9);
  EXPECT_EQ(kernel.places,
            (std::vector<RecordedPlace>{
                {.parameter = 0, .argument = 0}, {.parameter = 8, .argument = 1}, {.parameter = 16, .memory = 0}}));
  EXPECT_TRUE(call.memory.at(0).is_scratch);
  const StepWith with = step_with(step(), of_family(), "scale", {64, 64}, call);
  EXPECT_EQ(with.call.operations[1].kernel->places[1], (RecordedPlace{.parameter = 8, .memory = 0, .offset = 64}));
  LaunchPlan persists = plan;
  persists.launches[0].persist = 1;
  EXPECT_THROW(call_of(persists, "cubin", 2, {}, {}), UserError);
}

}  // namespace
}  // namespace apo
