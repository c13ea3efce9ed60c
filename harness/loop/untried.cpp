// harness/loop/untried.cpp - sorts the variants of a family by what the last brief said of them.
#include "harness/loop/untried.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace apo {
namespace {

std::string reason_text(const LeftOut& left_out) {
  switch (left_out.kind) {
    case LeftOutKind::incumbent:
      return "the same text as the incumbent";
    case LeftOutKind::refuted:
      return "refuted by earlier experiments: 'apo query variant=FAMILY/NAME' shows them";
    case LeftOutKind::below_resolution:
      return "less than one chance in ten of a gain that this machine resolves";
    case LeftOutKind::other_target:
    case LeftOutKind::unsupported:
    case LeftOutKind::unknown:
      return left_out.why;
  }
  return "";
}

// Reasons for variants that the last iteration's brief names, or that they were ranked.
std::map<std::string, std::string> reasons_of(const IterationSummary& iteration) {
  std::map<std::string, std::string> reasons;
  for (const Candidate& candidate : iteration.ranked) {
    reasons.try_emplace(candidate.configuration.variant, "ranked, and not reached: more --iterations judge them");
  }
  for (const LeftOut& left_out : iteration.left_out) {
    reasons.try_emplace(left_out.configuration.variant, reason_text(left_out));
  }
  return reasons;
}

}  // namespace

std::vector<UntriedGroup> untried(const CampaignFrame& frame, const CampaignProgress& state,
                                  const std::vector<IterationSummary>& iterations) {
  std::set<std::string> judged = {state.incumbent.variant, frame.baseline.variant};
  for (const Experiment& experiment : frame.journal.experiments(frame.campaign)) {
    judged.insert(experiment.candidate.variant);
  }
  const auto reasons = iterations.empty() ? std::map<std::string, std::string>() : reasons_of(iterations.back());
  std::map<std::string, std::vector<std::string>> groups;
  for (const Variant* variant : frame.workspace.catalogue().of_family(frame.family.name)) {
    if (judged.contains(variant->id())) {
      continue;
    }
    const auto found = reasons.find(variant->id());
    groups[variant->target != frame.workspace.target() ? fmt::format("for target {}", to_string(variant->target))
           : found != reasons.end()                    ? found->second
                                                       : "no iteration came to them"]
        .push_back(variant->id());
  }
  std::vector<UntriedGroup> result;
  for (auto& [why, variants] : groups) {
    result.push_back({.why = why, .variants = std::move(variants)});
  }
  std::ranges::stable_sort(result, [](const auto& a, const auto& b) { return a.variants.size() > b.variants.size(); });
  UntriedGroup files{.why = "no valid variants: 'apo doctor' says why", .variants = {}};
  for (const CatalogueProblem& problem : frame.workspace.catalogue().problems()) {
    if (problem.left_out) {
      files.variants.push_back(problem.path);
    }
  }
  if (!files.variants.empty()) {
    result.push_back(std::move(files));
  }
  return result;
}

}  // namespace apo
