// harness/loop/iteration.cpp - profiles, researches, implements and evaluates, and writes each step down.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/nvtx.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/loop/campaign.h"
#include "harness/loop/campaign_checks.h"
#include "harness/loop/experiment.h"
#include "harness/loop/proposers/ask_proposers.h"
#include "harness/loop/proposers/proposals.h"
#include "harness/loop/research/research_inputs.h"
#include "harness/loop/satellites.h"
#include "harness/loop/scan/scan.h"
#include "harness/loop/scan/scan_text.h"
#include "harness/profile/measure.h"
#include "harness/research/research.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/profiles.h"
#include "journal/facts/research/briefs.h"
#include "journal/facts/research/proposals.h"
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
    add_profile(frame.journal, profiles.back(),
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

constexpr std::int64_t kToldCalls = 10;

BriefRequest request_of(const CampaignFrame& frame) {
  BriefRequest request{
      .campaign = frame.campaign,
      .most = frame.proposers.most,
      .timeout_s = frame.proposers.timeout_s,
      .before = newest_proposer_calls(frame.journal, frame.family.name, frame.workspace.target(), kToldCalls)};
  if (frame.policy.budget_s > 0) {
    request.budget_left_s = std::max(1.0, frame.policy.budget_s - seconds_since(frame.started));
    request.timeout_s = std::min(request.timeout_s, request.budget_left_s);
  }
  return request;
}

// "3 proposals: 2 taken, 1 repeated", what went wrong, how long it took.
std::vector<std::string> parts_of(const ProposerCall& call) {
  std::vector<std::string> counts;
  for (const ProposalState state : {ProposalState::taken, ProposalState::repeated, ProposalState::refused}) {
    if (const auto count = std::ranges::count(call.proposals, state, &Proposal::state); count > 0) {
      counts.push_back(fmt::format("{} {}", count, to_string(state)));
    }
  }
  const std::string all = fmt::format("{} proposal{}: {}", call.proposals.size(), call.proposals.size() == 1 ? "" : "s",
                                      join(counts, ", "));
  std::vector<std::string> parts = {counts.empty() ? "" : all, call.note, format_seconds(call.seconds)};
  std::erase(parts, "");
  return parts;
}

void say_call(Observer& observer, const ProposerCall& call) {
  observer.say(fmt::format("  proposer {}: {}", one_line(call.command), join(parts_of(call), "; ")));
  for (const Proposal& proposal : call.proposals) {
    if (proposal.state == ProposalState::taken) {
      observer.say(fmt::format("    {}{}", proposal.configuration.label(),
                               proposal.idea.empty() ? "" : ": " + one_line(proposal.idea)));
    } else {
      observer.say(fmt::format("    {}: {}", to_string(proposal.state), one_line(proposal.why)));
    }
  }
}

// Asks the campaign's proposers and keeps what became of their answers in the journal.
void propose(const CampaignFrame& frame, CampaignProgress& state, std::int64_t iteration, const ResearchInputs& inputs,
             const ResearchBrief& brief) {
  const StageRange range("propose");
  const BriefRequest request = request_of(frame);
  ProposerOptions options = frame.proposers;
  options.timeout_s = request.timeout_s;
  const ProposalPlace place{
      .workspace = frame.workspace, .journal = frame.journal, .family = frame.family, .incumbent = state.incumbent};
  const std::string text = brief_to_json(brief, inputs, brief_subject(frame.workspace, frame.family, inputs), request);
  std::vector<AnsweredCall> answered = ask_proposers(options, text, frame.observer);
  take_proposals(place, answered, state.proposed);
  for (const AnsweredCall& one : answered) {
    add_proposer_call(frame.journal, iteration, one.call);
    say_call(frame.observer, one.call);
  }
}

// On every workload; the sentence is about the first.
std::string done_everywhere(const Variant& incumbent, const std::vector<Profile>& profiles) {
  const bool done =
      std::ranges::none_of(profiles, [&](const Profile& one) { return done_at_floor(incumbent, one).empty(); });
  return done ? done_at_floor(incumbent, profiles.front()) : "";
}

// All that may be judged, as far as it is not known yet.
void scan_candidates(const CampaignFrame& frame, const CampaignProgress& state, std::int64_t iteration) {
  const StageRange range("scan");
  constexpr double kMostS = 60;
  constexpr double kPart = 0.25;  // of what is left of the budget
  const double left_s = frame.policy.budget_s - seconds_since(frame.started);
  std::vector<Configuration> proposed;
  std::ranges::transform(state.proposed, std::back_inserter(proposed), &ProposedSettings::configuration);
  const std::unique_ptr<ScanBench> bench = frame.remote != nullptr ? frame.remote->bench() : nullptr;
  const ScanSummary summary =
      scan({.workspace = frame.workspace,
            .journal = frame.journal,
            .observer = frame.observer,
            .family = frame.family,
            .runtime = frame.runtime,
            .workload = *state.plan.workloads.front(),
            .cache = state.plan.cache,
            .incumbent = state.incumbent,
            .proposed = proposed,
            .budget_s = frame.policy.budget_s > 0 ? std::clamp(kPart * left_s, 1.0, kMostS) : kMostS,
            .seed = derive_seed(frame.policy.seed, "scan", static_cast<std::uint64_t>(iteration)),
            .bench = bench.get()});
  for (const std::string& line : scan_lines(summary, state.incumbent)) {
    frame.observer.say("  " + line);
  }
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
  if (asks) {
    propose(frame, state, iteration.id, inputs, brief);
  }
  if (iteration.nothing_left.empty()) {
    scan_candidates(frame, state, iteration.id);
    inputs = inputs_of(frame, state, profile, iteration.index);
    brief = research(inputs);
  }
  add_brief(frame.journal, iteration.id, brief);
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
  while (const auto candidate = candidates.take()) {
    experiments.push_back(run_experiment(frame, state, iteration, *candidate));
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
  summary.id = begin_iteration(
      frame.journal,
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
  finish_iteration(frame.journal, summary.id);
  return summary;
}

}  // namespace apo
