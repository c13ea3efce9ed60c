// harness/loop/workspace/claim_floor.cpp - selects the selftest's kernels that apply to a claim.
#include "harness/loop/workspace/claim_floor.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/core/text.h"
#include "harness/evaluate/judge/signed_rank.h"

namespace apo {
namespace {

// nullopt where no kernel is of the family, and of the workloads where some are given.
std::optional<double> largest_of(const std::vector<SelftestKernel>& kernels, const std::string& family,
                                 const std::vector<std::string>& workloads) {
  std::optional<double> largest;
  for (const SelftestKernel& kernel : kernels) {
    const bool asked =
        workloads.empty() || std::find(workloads.begin(), workloads.end(), kernel.workload) != workloads.end();
    if (asked && kernel.configuration.variant.starts_with(family + "/")) {
      largest = std::max(largest.value_or(0), kernel.smallest_claim);
    }
  }
  return largest;
}

// The smallest number among kernels of the family on the one workload; 1 if none was measured or there are several.
int fewest_rounds(const std::vector<SelftestKernel>& kernels, const std::string& family,
                  const std::vector<std::string>& workloads) {
  std::optional<int> fewest;
  for (const SelftestKernel& kernel : kernels) {
    if (workloads.size() == 1 && kernel.workload == workloads.front() &&
        kernel.configuration.variant.starts_with(family + "/")) {
      fewest = std::min(fewest.value_or(kernel.rounds_per_process), kernel.rounds_per_process);
    }
  }
  return fewest.value_or(1);
}

double median_of(const std::vector<SelftestKernel>& kernels) {
  std::vector<double> claims;
  std::transform(kernels.begin(), kernels.end(), std::back_inserter(claims),
                 [](const SelftestKernel& kernel) { return kernel.smallest_claim; });
  return median(claims);
}

ClaimFloor no_selftest() {
  return {.smallest = 0,
          .sentence =
              "no selftest of this machine is in the journal: claims are held against the judge's margin alone; "
              "'apo selftest' shows what it resolves"};
}

}  // namespace

ClaimFloor claim_floor(Journal* journal, const Machine& machine, const std::string& family,
                       const std::vector<std::string>& workloads) {
  const std::vector<SelftestKernel> kernels = journal == nullptr
                                                  ? std::vector<SelftestKernel>()
                                                  : journal->selftest_kernels(machine, std::string(kRuleVersion));
  if (kernels.empty()) {
    return no_selftest();
  }
  std::string about = "these workloads";
  std::optional<double> smallest = largest_of(kernels, family, workloads);
  if (!smallest) {
    about = family;
    smallest = largest_of(kernels, family, {});
  }
  if (!smallest) {
    about = fmt::format("the median of {} kernels", kernels.size());
    smallest = median_of(kernels);
  }
  return {.smallest = *smallest,
          .sentence = "claims below " + format_percent(*smallest) +
                      " are refused on this machine: that much its selftests saw identical code differ by on " + about,
          .rounds_per_process = fewest_rounds(kernels, family, workloads)};
}

JudgePreset with_floor(JudgePreset preset, const ClaimFloor& floor) {
  preset.minimum_claim = std::max(preset.minimum_claim, floor.smallest);
  return preset;
}

}  // namespace apo
