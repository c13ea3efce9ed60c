// harness/loop/workspace/known.cpp - reads roofs, selftests, experiments and the newest profile of an application.
#include "harness/loop/workspace/known.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "harness/profile/application/application_summary.h"
#include "harness/profile/host/host_profile.h"
#include "harness/profile/roofs/gpu_roofs.h"
#include "harness/research/diagnosis/diagnosis.h"
#include "journal/facts/applications.h"
#include "journal/facts/checks.h"
#include "journal/facts/profiles.h"
#include "journal/facts/selftests.h"
#include "journal/journal.h"

namespace apo {

std::optional<Journal> existing_journal(const Paths& paths) {
  return is_absent(paths.journal) ? std::nullopt : std::optional(Journal::open(paths.journal, Access::read_only));
}

namespace {

std::string sentence(const Configuration& candidate, std::optional<std::int64_t> proof) {
  return proof ? fmt::format("{} gave wrong results in experiment {}: 'apo show {}' has the evidence",
                             candidate.label(), *proof, *proof)
               : "";
}

}  // namespace

KnownMistakes known_mistakes(Journal& journal, const Family& family, const Experiment& candidate) {
  const auto proof = oldest_proof_of_wrong(journal, candidate);
  KnownMistakes known{.proof = sentence(candidate.candidate, proof), .cases = {}};
  for (const auto& [experiment, where] : wrong_cases(journal, family.name, proof)) {
    const bool is_own = proof == experiment;
    if (check_axes(family, where.axes).empty() &&
        std::ranges::find(family.regimes, where.regime) != family.regimes.end() &&
        element_count(family, where.axes) <= (is_own ? kMostElementsOfEveryRegime : kMostElements)) {
      known.cases.push_back({.workload = where.workload,
                             .axes = where.axes,
                             .regimes = {where.regime},
                             .known_from = fmt::format("experiment {}", experiment),
                             .known_seed = where.seed});
    }
  }
  return known;
}

std::string known_incorrect(Journal& journal, const Variant& variant, const Configuration& configuration) {
  return sentence(configuration, oldest_proof_of_wrong(journal, {.family = variant.family,
                                                                 .candidate = configuration,
                                                                 .candidate_source_hash = variant.source_hash}));
}

std::vector<Roof> known_roofs(Journal& journal, const Machine& machine) {
  std::vector<Roof> roofs = roofs_of(journal, machine.id, machine.driver);
  if (machine.target == Target::cuda && !has_all_cuda_roofs(roofs)) {
    return {};
  }
  return roofs;
}

double floor_of(const Family& family, const Workload& workload, const Machine& machine,
                const std::vector<Roof>& roofs) {
  Work work = family.work(workload.axes);
  work.flops = work.is_estimate ? 0 : work.flops;
  // On a GPU, whose copy roofs are those of its memory, as much as fits the L2 need not reach the memory within a call.
  if (machine.target == Target::cuda) {
    work.bytes = std::max(0.0, work.bytes - static_cast<double>(machine.l2_bytes));
  }
  return physical_floor_ns(work, roofs);
}

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
                                                  : selftest_kernels(*journal, machine, std::string(kRuleVersion));
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

namespace {

constexpr std::size_t kNamed = 5;

std::string longest_names(const ApplicationSummary& summary) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kNamed, summary.work.size()); ++i) {
    names.push_back(summary.work[i].work.name);
  }
  return join(names, ", ");
}

}  // namespace

double application_share(Journal& journal, const std::string& pattern, Observer& observer) {
  if (pattern.empty()) {
    return 1;
  }
  const auto application = newest_application(journal);
  if (!application) {
    throw UserError(
        "the campaign names kernels of an application, '" + pattern + "', and the journal has no profile of one",
        "make one with 'apo profile -- COMMAND', or drop application_kernels");
  }
  const std::string profile = fmt::format("application profile {}", application->id);
  const double share = share_of(application->summary, NamePattern(pattern));
  if (!(share > 0)) {
    throw UserError("nothing in " + profile + " (" + application->command + ") is called '" + pattern + "'",
                    "its longest: " + longest_names(application->summary));
  }
  observer.say("kernels '" + pattern + "' take " + format_g(100 * share, 3) + " % of the time of '" +
               application->command + "' (" + profile + "): it gets at most " +
               format_ratio(amdahl(share, std::numeric_limits<double>::infinity())) + " as fast");
  return share;
}

}  // namespace apo
