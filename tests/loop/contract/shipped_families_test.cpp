// tests/loop/contract/shipped_families_test.cpp - the oracles of families of this repository refuse planted mistakes.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/core/system/files.h"
#include "harness/families/family_file.h"
#include "harness/loop/contract/family_check.h"
#include "tests/families/family_text.h"

namespace apo {
namespace {

// On some of the workloads: `apo family check` takes all of them.
FamilyCheck check_some(const std::string& name, const std::set<std::string>& workloads) {
  FamilyFile file = load_family_file(std::string(APO_SOURCE_FOLDER) + "/kernels/gradients/" + name + ".h");
  std::erase_if(file.workloads, [&](const Workload& workload) { return !workloads.contains(workload.name); });
  SilentObserver observer;
  return check_family(file, test_oracle(), 1, 2, observer);
}

std::int64_t rows_in(const FamilyCheck& check, MutantState state) {
  return std::ranges::count(check.mutants, state, &MutantRow::state);
}

TEST(ShippedFamilies, BinaryBackwardRefusesEveryMistakeOfEmptyFullAndRepeatedTensors) {
  const FamilyCheck check = check_some("binary_backward", {"six_equal", "six_inner", "six_scalar", "ragged_columns",
                                                           "rank_0", "rank_8", "empty", "empty_reduced", "only_dB"});
  EXPECT_EQ(rows_in(check, MutantState::hidden), 0);
  EXPECT_GE(rows_in(check, MutantState::refused), 23);
  EXPECT_LT(check.honest_closeness, 1);
}

TEST(ShippedFamilies, LseBackwardRefusesEveryMistakeButAScaleBelowTheRoundingOfBf16) {
  const FamilyCheck check = check_some("lse_backward", {"s16_d16", "grouped", "masked_rows"});
  EXPECT_GE(rows_in(check, MutantState::refused), 21);
  for (const MutantRow& row : check.mutants) {
    EXPECT_TRUE(row.state != MutantState::hidden || row.mutant == "scaled") << row.mutant << " in " << row.tensor;
  }
  EXPECT_LT(check.honest_closeness, 1);
}

}  // namespace
}  // namespace apo
