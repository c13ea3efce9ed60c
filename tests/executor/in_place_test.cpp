// tests/executor/in_place_test.cpp - device variants that read and write one tensor: what stands there is initialised,
// and every call begins with it.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/families/known_families.h"
#include "tests/executor/cpu_runtime_fixture.h"
#include "tests/families/family_text.h"
#include "tests/processes.h"

namespace apo::testing {
namespace {

TEST(ExecutorInPlace, RightKernelsPassAndWrongOnesAreFound) {
  constexpr const char* kCases[][2] = {{"adamw", "k01_adamw"}, {"beta_c", "k04_beta_c"}};
  for (const auto& [family, folder] : kCases) {
    const std::string place = std::string("tests/zoo/kinds/") + folder;
    add_family_file((std::filesystem::path(APO_SOURCE_FOLDER) / place / (std::string(family) + ".h")).string(),
                    test_oracle());
    const CpuRuntime cpu(family, place, kPatience);
    for (const Variant* variant : cpu.catalogue().of_family(family)) {
      if (variant->target != Target::cuda) {
        continue;
      }
      const Workload& ragged = *std::ranges::find(cpu.family().workloads, WorkloadKind::ragged, &Workload::kind);
      const CheckCase one{.workload = ragged.name, .axes = ragged.axes, .regimes = {"typical", "wide"}};
      for (const bool sanitize : {false, true}) {
        const CheckResult result =
            check_case(cpu.runtime(), {.variant = variant->id(), .settings = {}}, one, 5, sanitize);
        const bool is_right = variant->name.starts_with("right");
        EXPECT_EQ(result.outcome, is_right ? Outcome::valid : Outcome::incorrect)
            << variant->id() << ": " << result.evidence;
      }
    }
  }
}

}  // namespace
}  // namespace apo::testing
