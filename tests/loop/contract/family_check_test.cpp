// tests/loop/contract/family_check_test.cpp - a family that would let wrong kernels pass is refused.
#include "harness/loop/contract/family_check.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/core/error.h"
#include "tests/families/family_text.h"

namespace apo {
namespace {

FamilyCheck check(const std::string& text) {
  SilentObserver observer;
  return check_family(parse_family(text, "softmax.h"), test_oracle(), 1, 2, observer);
}

std::string refusal_of(const std::string& text) {
  try {
    check(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(FamilyCheck, EveryPlantedMistakeInASoftmaxIsRefused) {
  const FamilyCheck result = check(kSoftmax);
  EXPECT_EQ(std::ranges::count(result.mutants, MutantState::refused, &MutantRow::state), 13);
  EXPECT_GT(result.honest_closeness, 0);
  EXPECT_LT(result.honest_closeness, 1);
}

TEST(FamilyCheck, AToleranceThatLetsZerosPassIsRefused) {
  const std::string error =
      refusal_of(replaced(kSoftmax, "// apo:unit ", "// apo:tolerance rtol=0.1 atol=10\n// apo:unit "));
  EXPECT_NE(error.find("lets 'zeros' pass"), std::string::npos) << error;
}

TEST(FamilyCheck, AToleranceThatAnHonestVersionMissesIsRefused) {
  const std::string error =
      refusal_of(replaced(kSoftmax, "// apo:unit ", "// apo:tolerance rtol=1e-12 atol=0\n// apo:unit "));
  EXPECT_NE(error.find("the tolerance refuses an honest implementation"), std::string::npos) << error;
}

TEST(FamilyCheck, UnitsThatAreNotIndependentAreRefused) {
  const std::string error = refusal_of(replaced(kSoftmax, "apo:unit      rows", "apo:unit      cols/50"));
  EXPECT_NE(error.find("when its unit is computed alone"), std::string::npos) << error;
}

TEST(FamilyCheck, AnOutputThatIsNearlyConstantIsRefused) {
  const std::string error = refusal_of(replaced(kSoftmax, "cols] normal", "cols] uniform(1,1.001)"));
  EXPECT_NE(error.find("all of output y is within 1 % of"), std::string::npos) << error;
}

}  // namespace
}  // namespace apo
