// tests/loop/research_catalogue_test.cpp - the preconditions of the catalogue on every shipped family and workload.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/core/expression/expression.h"
#include "harness/core/techniques/techniques.h"
#include "harness/research/remedy.h"
#include "tests/shipped_families.h"

namespace apo {
namespace {

TEST(ShippedCatalogue, ItsFamiliesAreThereAndItsPreconditionsNameTheirAxesAndFacts) {
  ASSERT_TRUE(kShippedFamilies);
  for (const Technique& technique : technique_catalogue()) {
    for (const std::string& name : technique.families) {
      const Family* family = find_family(name);
      ASSERT_NE(family, nullptr) << technique.name << ": " << name;
      std::vector<std::string> names = requirement_facts();
      std::ranges::transform(family->axes, std::back_inserter(names), [](const AxisSpec& axis) { return axis.name; });
      EXPECT_TRUE(technique.requires_expression.empty() ||
                  check_expression(technique.requires_expression, names).empty())
          << technique.name << " of " << name;
    }
  }
}

// On the sizes of e88_backward's classes n32 and n128: what is for small states is not for large ones.
TEST(ShippedCatalogue, APreconditionIsEvaluatedOnTheWorkload) {
  const auto why = [](const char* name, const char* workload) {
    const Family& family = *find_family("e88_backward");
    ResearchInputs inputs;
    inputs.diagnosis.incumbent.family = family.name;
    inputs.diagnosis.axes = std::ranges::find(family.workloads, workload, &Workload::name)->axes;
    return why_not_here(*find_technique(name, Target::cuda), inputs);
  };
  EXPECT_EQ(why("register-owned", "b16_t512_h83_n32"), "");
  EXPECT_EQ(why("register-owned", "b4_t512_h32_n128"), "it needs N <= 64 && V <= 32, and here N is 128, V is 128");
  EXPECT_EQ(why("small-state", "b16_t512_h83_n32"), "it needs N == 16, and here N is 32");
}

}  // namespace
}  // namespace apo
