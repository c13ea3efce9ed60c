// harness/loop/export/refusal.cpp - finds the campaign that accepted a configuration, and what its application said.
#include "harness/loop/export/refusal.h"

#include "journal/facts/campaigns.h"
#include "journal/facts/checks.h"
#include "journal/facts/comparisons.h"

namespace apo {
namespace {

bool is_of_class(const Campaign& campaign, const Incumbent& incumbent) {
  return campaign.policy.family == incumbent.family && campaign.policy.workload_class == incumbent.workload_class &&
         campaign.machine == incumbent.machine;
}

// The newest accept of the configuration, in campaigns up to the incumbent's.
std::optional<Incumbent> accept_of(Journal& journal, const Incumbent& incumbent) {
  std::optional<Incumbent> newest;
  for (const Campaign& campaign : all_campaigns(journal)) {
    if (campaign.id > incumbent.campaign || !is_of_class(campaign, incumbent)) {
      continue;
    }
    for (const Experiment& one : standing_accepts(journal, campaign.id)) {
      if (one.candidate == incumbent.configuration) {
        newest = incumbent;
        newest->source_hash = one.candidate_source_hash;
        newest->experiment = one.id;
        newest->campaign = campaign.id;
        newest->since = one.finished_at;
      }
    }
  }
  return newest;
}

// The baseline of the campaign that accepted the configuration, as it was before.
Incumbent baseline_before(Journal& journal, const Incumbent& accepted) {
  Incumbent before = accepted;
  before.configuration = find_campaign(journal, accepted.campaign)->baseline;
  before.campaign = accepted.campaign - 1;
  return before;
}

}  // namespace

Refusals refusals_in(Journal& journal) {
  Refusals refusals;
  for (const ProgramComparison& one : all_comparisons(journal)) {
    if (one.campaign != 0 && one.judgement) {
      refusals.erase(one.campaign);
      if (one.judgement->verdict == Verdict::reverted) {
        refusals[one.campaign] = {.comparison = one.id, .campaign = one.campaign, .reason = one.judgement->reason};
      }
    }
  }
  return refusals;
}

std::optional<Refusal> refusal_of(Journal& journal, const Refusals& refusals, const Incumbent& incumbent) {
  // Without refusals, as in most journals, no campaign has to be searched.
  const std::optional<Incumbent> accepted = refusals.empty() ? std::nullopt : accept_of(journal, incumbent);
  const auto found = accepted ? refusals.find(accepted->campaign) : refusals.end();
  return found == refusals.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Incumbent> incumbent_before(Journal& journal, const Refusals& refusals, const Incumbent& refused) {
  std::optional<Incumbent> accepted = accept_of(journal, refused);
  while (accepted && refusals.contains(accepted->campaign)) {
    accepted = accept_of(journal, baseline_before(journal, *accepted));
  }
  return accepted;
}

Configuration before_refusals(Journal& journal, const Incumbent& incumbent) {
  const Refusals refusals = refusals_in(journal);
  Incumbent before = incumbent;
  while (refusal_of(journal, refusals, before)) {
    before = baseline_before(journal, *accept_of(journal, before));
  }
  return before.configuration;
}

}  // namespace apo
