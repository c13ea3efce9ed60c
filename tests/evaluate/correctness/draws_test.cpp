// tests/evaluate/correctness/draws_test.cpp - right draws pass, each kind of wrong ones is found, in numbers and in
// kernels.
#include "harness/evaluate/correctness/draws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "harness/core/system/files.h"
#include "harness/evaluate/correctness/check_case.h"
#include "kernels/random.h"
#include "tests/evaluate/runtime_fixture.h"
#include "tests/text.h"

namespace apo::testing {
namespace {

constexpr std::size_t kDraws = 4096;

// What takes the first alternative: of draw i, with its probability and value, and a number between 0 and 1.
using Takes = std::function<bool(std::size_t i, double p, double value, double number)>;
// The probability of draw i.
using Probability = std::function<double(std::size_t i)>;

bool fairly(std::size_t, double p, double, double number) {
  return number < p;
}

CallDraws call_of(const Probability& probability, const Takes& takes, std::uint64_t seed, std::size_t count = kDraws) {
  CallDraws call;
  Random random(seed);
  double before = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double p = probability(i);
    const double value = random.normal();
    call.add(0, i, {p, 1 - p}, takes(i, p, value, random.uniform()) ? 0 : 1, value, before);
    before = value;
  }
  return call;
}

Probability constant(double p) {
  return [p](std::size_t) { return p; };
}

double scattered(std::size_t i) {
  return Random(i).uniform();
}

TEST(Draws, RightOnesPassWhateverTheirProbability) {
  const std::vector<Probability> all = {constant(0.5),  constant(0.9), constant(0.999), constant(1e-5),
                                        constant(0.01), constant(1),   scattered};
  int unlikely = 0;
  for (const Probability& probability : all) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      const CallDraws call = call_of(probability, fairly, seed, 500);
      EXPECT_EQ(call.problem(), "");
      for (const DrawSum& sum : call.sums.terms) {
        unlikely += sum.surprise() > 4 ? 1 : 0;
      }
    }
  }
  EXPECT_LE(unlikely, 2 * std::exp(-4) * 7 * 100 * 4) << "the bound of the chance holds";
}

TEST(Draws, EachKindOfWrongOnesIsFound) {
  const auto number_at = [](std::size_t place) { return Random(place + 1000).uniform(); };
  struct Wrong {
    Probability probability;
    Takes takes;
    const char* said;
  };
  const std::vector<Wrong> all = {
      {constant(0.75), [](auto, auto, auto, auto) { return true; }, "4096 of 4096 draws took the first alternative"},
      {constant(0.75), [](auto, auto, auto, auto) { return false; }, "0 of 4096 draws"},
      {constant(0.75), [](auto, double p, auto, double number) { return number < p - 0.08; }, "expected 3072"},
      {scattered, [](auto, double p, auto, auto) { return p > 0.5; }, "too many took what is likelier"},
      {scattered, [](auto, auto, auto, double number) { return number < 0.5; }, "too few took what is likelier"},
      {constant(0.5), [](auto, auto, double value, auto) { return value > 0; }, "depends on the sign"},
      {constant(0.5), [](auto, auto, double value, auto) { return std::fabs(value) > 0.6745; }, "on the size"},
      {constant(1), [](std::size_t i, auto, auto, auto) { return i % 100 != 0; }, "41 of 4096 draws took what has"},
      {constant(0.5), [&](std::size_t i, double p, auto, auto) { return number_at(i / 2) < p; }, "1 apart are alike"},
      {constant(0.9), [&](std::size_t i, double p, auto, auto) { return number_at(i % 333) < p; }, "are alike"},
      {constant(0.5), [&](std::size_t i, double p, auto, auto) { return (number_at(i / 2) < p) == (i % 2 == 0); },
       "1 apart are opposite"},
      {constant(0.5),
       [&](std::size_t i, double p, double value, auto) { return (number_at(i / 2) < p) == (value > 0); },
       "1 apart are alike"}};
  for (const Wrong& wrong : all) {
    expect_contains(call_of(wrong.probability, wrong.takes, 5).problem(), wrong.said);
  }
}

TEST(Draws, ASmallBiasShowsInManyCalls) {
  DrawSums sums;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const CallDraws call = call_of(
        constant(0.75), [](auto, double p, auto, double number) { return number < p - 0.02; }, seed);
    EXPECT_EQ(call.problem(), "") << seed;
    sums.add(call.sums);
  }
  EXPECT_NE(sums.problem(), "");
}

Family seeded() {
  Family family;
  family.tensors = {{.name = "x", .dtype = DType::f32, .role = Role::input},
                    {.name = "seed", .dtype = DType::i64, .role = Role::input},
                    {.name = "y", .dtype = DType::f32, .role = Role::output, .random = true, .drawn_by = "seed"}};
  return family;
}

std::string of_calls(const Family& family, const std::vector<std::int64_t>& seeds, bool is_fixed) {
  RepeatedCalls calls(family);
  std::string problem;
  for (const std::int64_t seed : seeds) {
    InputSet inputs;
    inputs.bytes = {{"x", std::vector<std::byte>(8)}, {"seed", encode(DType::i64, {static_cast<double>(seed)})}};
    problem += calls.add(inputs, call_of(constant(0.75), fairly, is_fixed ? 1 : static_cast<std::uint64_t>(seed)));
  }
  return problem;
}

TEST(Draws, CallsWithOtherSeedsDrawAnewAndThoseWithTheSameOneNeedNot) {
  Family family = seeded();
  EXPECT_EQ(of_calls(family, {1, 2, 3, 4, 5, 6, 7, 8}, false), "");
  EXPECT_EQ(of_calls(family, {1, 1, 2, 1, 2}, false), "");
  EXPECT_NE(of_calls(family, {1, 2}, true), "");
  EXPECT_EQ(of_calls(family, {1, 1}, true), "");
  std::erase_if(family.tensors, [](const TensorSpec& tensor) { return tensor.name == "seed"; });
  family.tensors.back().drawn_by = "";
  EXPECT_NE(of_calls(family, {1, 1}, true), "") << "without a seed each call draws anew";
}

// Drops with a mask beside, rounds, and samples: families with kernels.
TEST(Draws, RightKernelsPassAndWrongOnesAreFound) {
  constexpr const char* kCases[][2] = {{"drop", "h22_random_mask"},
                                       {"drop_add", "x01_mask_beside"},
                                       {"to_bf16", "x03_stochastic_rounding"},
                                       {"sample", "x04_sampling"}};
  for (const auto& [family, folder] : kCases) {
    const std::string place = std::string("tests/zoo/kinds/") + folder;
    add_family_file((std::filesystem::path(APO_SOURCE_FOLDER) / place / (std::string(family) + ".h")).string(),
                    test_oracle());
    const CopyRuntime cases(family, {place});
    const Workload& workload = cases.family().workloads.front();
    const CheckCase one{.workload = workload.name, .axes = workload.axes, .regimes = {"typical", "wide"}};
    int wrong = 0;
    for (const Variant* variant : cases.catalogue().of_family(family)) {
      const CheckResult result = check_case(cases.runtime(), {.variant = variant->id(), .settings = {}}, one, 5);
      const bool is_right = variant->name.starts_with("right");
      const bool is_rare = variant->name == "bug_eight_masks" || variant->name == "bug_counts";  // found by more calls
      if (!is_rare) {
        EXPECT_EQ(result.outcome, is_right ? Outcome::valid : Outcome::incorrect)
            << variant->id() << ": " << result.evidence;
      }
      wrong += is_right ? 0 : 1;
    }
    EXPECT_GT(wrong, 4) << family;
  }
}

}  // namespace
}  // namespace apo::testing
