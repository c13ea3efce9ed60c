// harness/loop/iteration.cpp - profiles, researches, implements and evaluates, and writes each step down.
#include "harness/loop/iteration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/nvtx.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/loop/experiment.h"
#include "harness/loop/machine_check.h"
#include "harness/loop/proposers/propose.h"
#include "harness/loop/research/research_inputs.h"
#include "harness/loop/satellites.h"
#include "harness/loop/work_ahead.h"
#include "harness/profile/measure.h"
#include "harness/research/research.h"
#include "kernels/random.h"

namespace apo {
namespace {

double geometric_mean_time(const std::vector<Profile>& profiles) {
  double logs = 0;
  for (const Profile& profile : profiles) {
    logs += std::log(profile.time_ns);
  }
  return profiles.empty() ? 0 : std::exp(logs / static_cast<double>(profiles.size()));
}

// On every workload of the campaign.
std::vector<Profile> profile_incumbent(const CampaignFrame& frame, const CampaignProgress& state,
                                       std::int64_t iteration) {
  std::vector<Profile> profiles;
  for (const Workload* workload : state.plan.workloads) {
    profiles.push_back(measure_profile(frame.runtime, state.incumbent, *workload, frame.workspace.machine(),
                                       frame.roofs, state.plan.cache, frame.observer));
    frame.journal.add_profile(profiles.back(),
                              {.machine = frame.workspace.machine().id,
                               .iteration = iteration,
                               .source_hash = frame.workspace.catalogue().get(state.incumbent.variant).source_hash});
  }
  const Profile& first = profiles.front();
  frame.observer.say(fmt::format("  profile: {} takes {}; the floor is {} ({}), {} % of that", state.incumbent.label(),
                                 format_ns(geometric_mean_time(profiles)), format_ns(first.floor_ns), first.floor_roof,
                                 format_g(100 * first.floor_fraction, 3)));
  return profiles;
}

ResearchInputs inputs_of(const CampaignFrame& frame, const CampaignProgress& state, const Profile& profile, int index) {
  const ResearchSubject subject{.workspace = frame.workspace,
                                .journal = frame.journal,
                                .family = frame.family,
                                .runtime = frame.runtime,
                                .workload = *state.plan.workloads.front(),
                                .policy = frame.policy,
                                .incumbent = state.incumbent,
                                .application_share = frame.application_share,
                                .minimum_detectable = state.minimum_detectable,
                                .seed = derive_seed(frame.policy.seed, "research", static_cast<std::uint64_t>(index)),
                                .proposed = state.proposed};
  return research_inputs(subject, profile);
}

// On every workload; the sentence is about the first.
std::string done_everywhere(const Variant& incumbent, const std::vector<Profile>& profiles) {
  const bool done =
      std::ranges::none_of(profiles, [&](const Profile& one) { return done_at_floor(incumbent, one).empty(); });
  return done ? done_at_floor(incumbent, profiles.front()) : "";
}

// Ranks the proposals with all other candidates. Nobody is asked for some where the incumbent is done.
void research_incumbent(const CampaignFrame& frame, CampaignProgress& state, const std::vector<Profile>& profiles,
                        IterationSummary& iteration) {
  const StageRange range("research");
  const Profile& profile = profiles.front();
  ResearchInputs inputs = inputs_of(frame, state, profile, iteration.index);
  ResearchBrief brief = research(inputs);
  for (const Bottleneck& bottleneck : brief.bottlenecks) {
    frame.observer.say(
        fmt::format("  bottleneck: {}, worth {}: {}", bottleneck.name, worth_text(bottleneck), bottleneck.evidence));
  }
  iteration.nothing_left = done_everywhere(inputs.diagnosis.incumbent, profiles);
  const bool asks = iteration.nothing_left.empty() && !frame.proposers.commands.empty();
  if (asks && propose(frame, state, iteration.id, inputs, brief) > 0) {
    inputs = inputs_of(frame, state, profile, iteration.index);
    brief = research(inputs);
  }
  frame.journal.add_brief(iteration.id, brief);
  if (iteration.nothing_left.empty()) {
    const std::string nothing = nothing_to_try(inputs, brief);
    iteration.nothing_left = nothing + (asks && !nothing.empty() ? "; and nothing new was proposed" : "");
  }
  iteration.bottlenecks = brief.bottlenecks;
  iteration.ranked = brief.ranked;
  iteration.left_out = brief.left_out;
  iteration.unwritten = brief.unwritten;
}

// Until one is accepted: the profile was about the old incumbent.
std::vector<Experiment> run_experiments(const CampaignFrame& frame, CampaignProgress& state, std::int64_t iteration,
                                        RankedCandidates& candidates) {
  std::vector<Experiment> experiments;
  WorkAhead ahead = work_ahead(frame, state);
  while (const auto candidate = candidates.take()) {
    const auto next = candidates.best();
    ahead.expect(next ? std::optional(next->configuration) : std::nullopt);
    experiments.push_back(run_experiment(frame, state, iteration, *candidate, "", &ahead));
    experiments.back().rounds.clear();
    if (experiments.back().judgement->verdict == Verdict::accepted) {
      break;
    }
    candidates.rank_anew();
  }
  return experiments;
}

}  // namespace

IterationSummary run_iteration(const CampaignFrame& frame, CampaignProgress& state, int index) {
  const StageRange range(fmt::format("iteration {}", index));
  if (state.since_sentinel >= kSentinelEveryCandidates) {
    check_machine(frame, state);
  }
  IterationSummary summary;
  summary.index = index;
  summary.incumbent = state.incumbent;
  summary.id = frame.journal.begin_iteration(
      {.campaign = frame.campaign, .index = index, .incumbent = state.incumbent, .started_at = utc_now()});
  const std::vector<Profile> profiles = profile_incumbent(frame, state, summary.id);
  research_incumbent(frame, state, profiles, summary);
  summary.time_ns = geometric_mean_time(profiles);
  if (summary.nothing_left.empty()) {
    RankedCandidates candidates(summary.ranked, frame.policy.candidates_per_iteration,
                                [&] { return research(inputs_of(frame, state, profiles.front(), index)).ranked; });
    summary.experiments = frame.remote != nullptr ? frame.remote->judge(state, summary.id, candidates)
                                                  : run_experiments(frame, state, summary.id, candidates);
  }
  frame.journal.finish_iteration(summary.id);
  return summary;
}

}  // namespace apo
