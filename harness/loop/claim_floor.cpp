// harness/loop/claim_floor.cpp - picks the kernels of a selftest that a claim is about.
#include "harness/loop/claim_floor.h"

#include <algorithm>
#include <optional>

#include "harness/core/text.h"

namespace apo {
namespace {

std::optional<double> largest_of(const Selftest& selftest, const std::string& family,
                                 const std::vector<std::string>& workloads) {
  std::optional<double> largest;
  for (const SelftestKernel& kernel : selftest.kernels) {
    const bool asked =
        workloads.empty() || std::find(workloads.begin(), workloads.end(), kernel.workload) != workloads.end();
    if (asked && kernel.configuration.variant.starts_with(family + "/")) {
      largest = std::max(largest.value_or(0), kernel.smallest_claim);
    }
  }
  return largest;
}

ClaimFloor no_selftest() {
  return {.smallest = 0,
          .sentence =
              "no selftest of this machine is in the journal: claims are held against the judge's margin alone; "
              "'apo selftest' shows what it resolves"};
}

}  // namespace

ClaimFloor claim_floor(Journal& journal, const Machine& machine, const std::string& family,
                       const std::vector<std::string>& workloads) {
  const auto selftest = journal.latest_selftest(machine);
  if (!selftest || selftest->rule_version != kRuleVersion) {
    return no_selftest();
  }
  std::string about = "these workloads";
  std::optional<double> smallest = largest_of(*selftest, family, workloads);
  if (!smallest) {
    about = family;
    smallest = largest_of(*selftest, family, {});
  }
  if (!smallest) {
    about = "the median kernel";
    smallest = selftest->smallest_claim;
  }
  return {.smallest = *smallest,
          .sentence = "selftest " + std::to_string(selftest->id) + " of " + selftest->ended_at + ": claims below " +
                      format_percent(*smallest) + " are refused, by identical code on " + about};
}

ClaimFloor claim_floor(const std::filesystem::path& path, const Machine& machine, const std::string& family,
                       const std::vector<std::string>& workloads) {
  if (!std::filesystem::exists(path)) {
    return no_selftest();
  }
  Journal journal = Journal::open(path, Access::read_only);
  return claim_floor(journal, machine, family, workloads);
}

JudgeProfile with_floor(JudgeProfile profile, const ClaimFloor& floor) {
  profile.minimum_claim = std::max(profile.minimum_claim, floor.smallest);
  return profile;
}

}  // namespace apo
