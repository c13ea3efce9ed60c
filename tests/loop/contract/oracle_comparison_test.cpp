// tests/loop/contract/oracle_comparison_test.cpp - a file's oracle against that of the family `copy`.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/loop/contract/family_check.h"
#include "tests/families/family_text.h"
#include "tests/shipped_families.h"
#include "tests/text.h"

namespace apo {
namespace {

const char* const kCopy =
    "// apo:family copy\n// apo:axis n 1..65536\n// apo:input x f32[n]\n// apo:output y f32[n]\n"
    "// apo:unit n/4096\n// apo:workload w small n=8\n"
    "template <class Real>\nvoid reference(int64_t n, const Real* x, Real* y) {\n"
    "  for (int64_t i = 0; i < n; ++i) y[i] = x[i];\n}\n";

OracleComparison against_copy(const std::string& text) {
  SilentObserver observer;
  return compare_oracles(parse_family(text, "copy.h"), test_oracle(), *find_family("copy"), 1, 2, observer);
}

TEST(OracleComparison, TheSameOperationAgreesAndATolerantOneMissesMistakes) {
  const OracleComparison result = against_copy(kCopy);
  EXPECT_EQ(result.disagreement, "");
  EXPECT_GT(result.cases, 3);
  int refused = 0;
  for (const ComparedMutant& row : result.mutants) {
    EXPECT_FALSE(row.missed()) << row.mutant;
    refused += row.refused_by_other;
  }
  EXPECT_GT(refused, 20);

  const OracleComparison tolerant =
      against_copy(replaced(kCopy, "// apo:workload", "// apo:tolerance rtol=0.1 atol=1\n// apo:workload"));
  const auto scaled = std::ranges::find(tolerant.mutants, "scaled", &ComparedMutant::mutant);
  EXPECT_GT(scaled->refused_by_other, 0);
  EXPECT_TRUE(scaled->missed());
}

TEST(OracleComparison, AnotherOperationIsADisagreement) {
  const OracleComparison result = against_copy(replaced(kCopy, "= x[i]", "= x[i] + x[0]"));
  expect_contains(result.disagreement, "the file's honest version is refused by the other");
}

TEST(OracleComparison, AnotherContractIsAnError) {
  expect_contains(error_of([&] { against_copy(replaced(kCopy, "input x f32", "input x bf16")); }), "'input x bf16[");
  expect_contains(error_of([&] { against_copy(replaced(kCopy, "n/4096", "n/1024")); }),
                  "'4 units' here, '1 units' there");
}

}  // namespace
}  // namespace apo
