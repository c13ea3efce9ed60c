// harness/loop/iteration.cpp - profile, research, implement, evaluate: one after the other, each written down.
#include "harness/loop/iteration.h"

#include <algorithm>
#include <cmath>

#include "harness/core/error.h"
#include "harness/core/nvtx.h"
#include "harness/core/text.h"
#include "harness/evaluate/certification.h"
#include "harness/evaluate/evaluate.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/evaluate/judge/decision.h"
#include "harness/evaluate/rounds/clocks.h"
#include "harness/evaluate/sentinel.h"
#include "harness/loop/hooks.h"
#include "harness/loop/workspace/application_share.h"
#include "harness/loop/workspace/known_roofs.h"
#include "harness/profile/host/host_profile.h"
#include "harness/profile/measure.h"
#include "harness/profile/roofs/roofs.h"
#include "harness/research/research.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr double kQuietPatienceS = 60;

std::vector<Profile> profile_incumbent(IterationContext& context, std::int64_t iteration) {
  std::vector<Profile> profiles;
  for (const Workload* workload : context.plan.workloads) {
    profiles.push_back(measure_profile(context.runtime, context.incumbent, *workload, context.workspace.machine(),
                                       context.roofs, context.plan.cache, context.observer));
    context.journal.add_profile(
        profiles.back(), {.machine = context.workspace.machine().id,
                          .iteration = iteration,
                          .source_hash = context.workspace.catalogue().get(context.incumbent.variant).source_hash});
    context.plan.floor_ns[workload->name] =
        floor_of(*context.family, *workload, context.workspace.machine(), context.roofs);
  }
  return profiles;
}

// Experiments of this machine and workload class that research goes by: what came before them may be tried again.
constexpr std::int64_t kRemembered = 20'000;

double total_scratch(const IterationContext& context, const Configuration& configuration, const Axes& axes) {
  double bytes = 0;
  for (const std::int64_t one : context.runtime.scratch(configuration, axes)) {
    bytes += static_cast<double>(one);
  }
  return bytes;
}

ResearchInputs research_inputs(IterationContext& context, const Profile& profile, int index) {
  const Workload& workload = *context.plan.workloads.front();
  ResearchInputs inputs;
  inputs.diagnosis = {.profile = profile,
                      .work = context.family->work(workload.axes),
                      .axes = workload.axes,
                      .incumbent = context.workspace.catalogue().get(context.incumbent.variant),
                      .units = context.family->unit_count(workload.axes),
                      .scratch_bytes = total_scratch(context, context.incumbent, workload.axes),
                      .l2_bytes = context.workspace.machine().l2_bytes,
                      .has_doubles = has_doubles(*context.family)};
  inputs.incumbent = context.incumbent;
  inputs.machine = context.workspace.machine().id;
  inputs.workload_class = context.policy.workload_class;
  for (const Variant* variant : context.workspace.catalogue().of_family(context.family->name)) {
    RegisteredVariant registered{.variant = *variant, .supported = true, .why_not = ""};
    if (variant->target != context.workspace.target()) {
      registered.supported = false;
      registered.why_not = "its target is " + std::string(to_string(variant->target));
    } else {
      registered.supported = supports(*variant, *context.family, workload.axes, default_settings(*variant),
                                      &registered.why_not, context.workspace.device_symbols());
    }
    inputs.variants.push_back(std::move(registered));
  }
  for (const Experiment& experiment :
       context.journal.newest_judged(context.family->name, inputs.workload_class, inputs.machine, kRemembered)) {
    inputs.past.push_back(past_result(experiment, inputs.machine));
  }
  inputs.lessons = context.journal.lessons({.family = context.family->name,
                                            .workload_class = inputs.workload_class,
                                            .machine = inputs.machine,
                                            .verdict = Verdict::reverted,
                                            .incumbent_source = inputs.diagnosis.incumbent.source_hash,
                                            .newest = kRemembered});
  inputs.share = context.application_share;
  inputs.minimum_detectable = context.minimum_detectable;
  inputs.seed = derive_seed(context.policy.seed, "research", static_cast<std::uint64_t>(index));
  return inputs;
}

ResearchBrief research_incumbent(IterationContext& context, const Profile& profile, int index) {
  const StageRange range("research");
  return research(research_inputs(context, profile, index));
}

std::string lesson_text(const Experiment& experiment) {
  const Judgement& judgement = *experiment.judgement;
  std::string text = experiment.candidate.label() + " against " + experiment.incumbent.label() + " on " +
                     join(experiment.workloads, ", ") + ": " + judgement.sentence;
  if (experiment.prediction.high > 0 && judgement.reason != Reason::gate_failed) {
    text += " Predicted " + format_ratio(experiment.prediction.low) + " to " +
            format_ratio(experiment.prediction.high) + ".";
  }
  return text;
}

std::optional<Lesson> lesson_of(const IterationContext& context, const Experiment& experiment) {
  const Judgement& judgement = *experiment.judgement;
  if (judgement.reason == Reason::interrupted || judgement.reason == Reason::noisy) {
    return std::nullopt;  // it taught nothing about the candidate
  }
  return Lesson{.experiment = experiment.id,
                .family = experiment.family,
                .workload_class = experiment.workload_class,
                .machine = context.workspace.machine().id,
                .configuration = experiment.candidate,
                .source_hash = experiment.candidate_source_hash,
                .incumbent = experiment.incumbent,
                .incumbent_source_hash = experiment.incumbent_source_hash,
                .techniques = experiment.techniques,
                .verdict = judgement.verdict,
                .speedup = judgement.speedup(),
                .text = lesson_text(experiment)};
}

Experiment begin_experiment(IterationContext& context, std::int64_t iteration, const Candidate& candidate) {
  const Variant& variant = context.workspace.catalogue().get(candidate.configuration.variant);
  const Variant& incumbent = context.workspace.catalogue().get(context.incumbent.variant);
  context.journal.add_variant(variant);
  context.journal.add_variant(incumbent);
  Experiment experiment{.iteration = iteration,
                        .campaign = context.campaign,
                        .index = context.timed_candidates + 1,
                        .family = context.family->name,
                        .workload_class = context.policy.workload_class,
                        .workloads = context.policy.workloads,
                        .candidate = candidate.configuration,
                        .incumbent = context.incumbent,
                        .candidate_source_hash = variant.source_hash,
                        .incumbent_source_hash = incumbent.source_hash,
                        .techniques = variant.techniques,
                        .prediction = candidate.prediction,
                        .started_at = utc_now(),
                        .machine = context.workspace.machine().id};
  experiment.id = context.journal.begin_experiment(experiment);
  return experiment;
}

Experiment try_candidate(IterationContext& context, std::int64_t iteration, const Candidate& candidate) {
  Experiment experiment = begin_experiment(context, iteration, candidate);
  context.observer.say("  experiment " + std::to_string(experiment.id) + ": " + candidate.configuration.label() +
                       ", predicted " + format_ratio(candidate.prediction.low) + " to " +
                       format_ratio(candidate.prediction.high));
  ++context.timed_candidates;
  ++context.since_sentinel;
  EvaluatePlan plan = context.plan;
  plan.index = experiment.index;
  if (!wait_for_quiet(kQuietPatienceS)) {
    context.observer.say("    the hypervisor takes more than 5 % of this machine: judging with the extended profile");
    plan.preset = with_floor(extended_preset(), context.claim_floor);
  }
  evaluate(context.runtime, experiment, plan, hooks_for(context.observer, &context.journal, experiment.id));
  context.journal.finish_experiment(experiment, lesson_of(context, experiment));
  context.observer.say("    " + std::string(to_string(experiment.judgement->verdict)) + ": " +
                       experiment.judgement->sentence);
  if (experiment.judgement->verdict == Verdict::accepted) {
    context.incumbent = experiment.candidate;
    ++context.accepts_since_certificate;
  }
  return experiment;
}

double geometric_mean_time(const std::vector<Profile>& profiles) {
  double logs = 0;
  for (const Profile& profile : profiles) {
    logs += std::log(profile.time_ns);
  }
  return profiles.empty() ? 0 : std::exp(logs / static_cast<double>(profiles.size()));
}

std::vector<double> earlier_sentinel_effects(IterationContext& context) {
  std::vector<double> effects;
  for (const SentinelRow& sentinel : context.journal.sentinels(context.campaign)) {
    for (const Round& round : context.journal.sentinel_rounds(sentinel.id)) {
      if (round.void_why.empty()) {
        effects.push_back(round.effect);
      }
    }
  }
  return effects;
}

}  // namespace

void set_up(IterationContext& context) {
  Workspace& workspace = context.workspace;
  context.family = &workspace.family(context.policy.family);
  context.runtime = workspace.runtime(*context.family);
  for (const std::string& name : context.policy.workloads) {
    context.plan.workloads.push_back(&workspace.workload(*context.family, name));
  }
  context.plan.cache = context.policy.cache_policy;
  context.plan.seed = context.policy.seed;
  const double usual_s = workspace.machine().target == Target::cuda ? kSoloRunSeconds : 0;
  context.plan.solo_run_s = context.policy.solo_run_s > 0 ? context.policy.solo_run_s : usual_s;
  context.plan.rounds.layout = context.policy.layout.value_or(Layout::random);
  context.plan.preset =
      context.policy.judge_preset == "auto" ? standard_preset() : preset_named(context.policy.judge_preset);
  context.roofs = context.remeasure_roofs ? std::vector<Roof>() : known_roofs(context.journal, workspace.machine());
  if (context.roofs.empty()) {
    context.observer.say("measuring the roofs of this machine");
    context.roofs = workspace.measure_roofs();
    context.journal.add_roofs(workspace.machine().id, context.roofs);
  }
  context.application_share = application_share(context.journal, context.policy.application_kernels, context.observer);
  context.incumbent = context.baseline;
  // A resumed campaign goes on from what it had accepted.
  for (const Experiment& experiment : context.journal.experiments(context.campaign)) {
    context.timed_candidates = std::max(context.timed_candidates, experiment.index);
    if (experiment.judgement && experiment.judgement->verdict == Verdict::accepted) {
      context.incumbent = experiment.candidate;
      ++context.accepts_since_certificate;
    }
  }
  context.certificates = static_cast<int>(context.journal.certifications(context.campaign).size());
  if (const auto last = context.journal.latest_certification(context.campaign);
      last && last->champion == context.incumbent) {
    context.accepts_since_certificate = 0;
  }
}

void check_machine(IterationContext& context) {
  const std::vector<double> earlier = earlier_sentinel_effects(context);
  const SentinelResult sentinel = run_sentinel(context.runtime, context.incumbent, context.plan, context.sentinels++,
                                               earlier, hooks_for(context.observer));
  context.since_sentinel = 0;
  context.journal.add_sentinel({.campaign = context.campaign,
                                .machine = context.workspace.machine().id,
                                .configuration = context.incumbent,
                                .effect = sentinel.check.effect,
                                .lower = sentinel.lower,
                                .upper = sentinel.upper,
                                .confidence = 1 - 2 * context.plan.preset.interval_alpha,
                                .sd = sentinel.check.sd,
                                .p_value = sentinel.check.p,
                                .rounds = kSentinelRounds,
                                .alarm = sentinel.check.stop,
                                .preset = context.plan.preset.name,
                                .cache_policy = context.policy.cache_policy,
                                .rule_version = std::string(kRuleVersion),
                                .seconds = sentinel.seconds},
                               sentinel.rounds);
  if (sentinel.check.stop) {
    throw EnvironmentError("the A/A sentinel failed: " + sentinel.check.why,
                           "identical code must not differ; stop other work on this machine and run again");
  }
  if (context.policy.judge_preset == "auto") {
    context.plan.preset = choose_preset(sentinel.check.sd, layout_control(context.plan.rounds.layout));
  }
  context.claim_floor =
      claim_floor(context.journal, context.workspace.machine(), context.family->name, context.policy.workloads);
  context.plan.preset = with_floor(context.plan.preset, context.claim_floor);
  context.plan.rounds.rounds_per_process = context.claim_floor.rounds_per_process;
  context.observer.say(context.claim_floor.sentence);
  context.minimum_detectable =
      std::max(context.plan.preset.margin,
               minimum_detectable_effect(context.plan.preset, context.plan.preset.confirm_alpha, sentinel.check.sd));
  context.observer.say("A/A sentinel: " + format_percent(sentinel.check.effect) + " [" +
                       format_percent(sentinel.lower) + ", " + format_percent(sentinel.upper) + "] over " +
                       std::to_string(kSentinelRounds) + " rounds, spread of a round " +
                       format_g(100 * sentinel.check.sd, 2) + " %; judge preset " + context.plan.preset.name +
                       ", resolves about " + format_percent(context.minimum_detectable, 1));
}

IterationSummary run_iteration(IterationContext& context, int index) {
  const StageRange range("iteration " + std::to_string(index));
  if (context.since_sentinel >= kSentinelEveryCandidates) {
    check_machine(context);
  }
  IterationSummary summary{.index = index, .incumbent = context.incumbent};
  summary.id = context.journal.begin_iteration(
      {.campaign = context.campaign, .index = index, .incumbent = context.incumbent, .started_at = utc_now()});

  const std::vector<Profile> profiles = profile_incumbent(context, summary.id);
  summary.time_ns = geometric_mean_time(profiles);
  context.observer.say("  profile: " + context.incumbent.label() + " takes " + format_ns(summary.time_ns) +
                       ", the floor is " + format_ns(profiles.front().floor_ns) + " (" + profiles.front().floor_roof +
                       "), " + format_g(100 * profiles.front().floor_fraction, 3) + " % of it");

  const ResearchBrief brief = research_incumbent(context, profiles.front(), index);
  context.journal.add_brief(summary.id, brief);
  summary.bottlenecks = brief.bottlenecks;
  for (const Bottleneck& bottleneck : brief.bottlenecks) {
    context.observer.say("  bottleneck: " + bottleneck.name + ", worth at most " + format_ratio(bottleneck.bound) +
                         ": " + bottleneck.evidence);
  }

  const auto most = static_cast<std::size_t>(context.policy.candidates_per_iteration);
  for (std::size_t i = 0; i < std::min(most, brief.ranked.size()); ++i) {
    summary.experiments.push_back(try_candidate(context, summary.id, brief.ranked[i]));
    summary.experiments.back().rounds.clear();
    if (summary.experiments.back().judgement->verdict == Verdict::accepted) {
      break;  // the profile and the ranking were about the old incumbent
    }
  }
  context.journal.finish_iteration(summary.id);
  return summary;
}

Certification certify_incumbent(IterationContext& context, CachePolicy cache) {
  double claimed = 0;
  for (const Experiment& experiment : context.journal.experiments(context.campaign)) {
    if (experiment.judgement && experiment.judgement->verdict == Verdict::accepted) {
      claimed += experiment.judgement->effect;
    }
  }
  EvaluatePlan plan = context.plan;
  plan.cache = cache;
  CertificationResult result = run_certification(context.runtime, context.incumbent, context.baseline, claimed, plan,
                                                 context.certificates++, hooks_for(context.observer));
  result.certification.campaign = context.campaign;
  result.certification.id = context.journal.add_certification(result.certification, result.rounds, result.solo_runs);
  return result.certification;
}

}  // namespace apo
