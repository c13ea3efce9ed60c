// harness/loop/experiment.cpp - one candidate from its row in the journal to its verdict and lesson.
#include "harness/loop/experiment.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "harness/core/interval.h"
#include "harness/core/text.h"
#include "harness/evaluate/rounds/clocks.h"
#include "harness/loop/campaign_checks.h"
#include "harness/loop/plan.h"
#include "harness/loop/proposers/proposals.h"
#include "harness/loop/trial/registration.h"
#include "harness/loop/workspace/known.h"
#include "journal/facts/experiments.h"
#include "journal/facts/unfinished.h"
#include "journal/facts/variants.h"

namespace apo {

namespace {

constexpr double kQuietPatienceS = 60;

// The preset of a candidate that is judged by another word than the campaign; "": the campaign's.
JudgePreset preset_of(const CampaignProgress& state, const std::string& judge) {
  if (judge.empty()) {
    return state.plan.preset;
  }
  return with_floor(any_asked_preset(judge).value_or(state.auto_preset), state.claim_floor);
}

EvaluatePlan plan_for(const CampaignProgress& state, const std::string& judge) {
  EvaluatePlan plan = state.plan;
  plan.preset = preset_of(state, judge);
  return plan;
}

void wait_for_other_work(const CampaignFrame& frame, const CampaignProgress& state, EvaluatePlan& plan) {
  if (!wait_for_quiet(kQuietPatienceS)) {
    frame.observer.say("    the hypervisor takes more than 5 % of this machine: judging with the extended preset");
    plan.preset = with_floor(extended_preset(), state.claim_floor);
  }
}

std::string lesson_text(const Experiment& experiment) {
  const Judgement& judgement = *experiment.judgement;
  std::string text = fmt::format("{} against {} on {}: {}", experiment.candidate.label(), experiment.incumbent.label(),
                                 join(experiment.workloads, ", "), judgement.sentence);
  if (experiment.prediction.high > 0 && judgement.reason != Reason::gate_failed) {
    text += fmt::format(" Predicted {}.", format_band(experiment.prediction.low, experiment.prediction.high));
  }
  return text;
}

// It holds on the campaign's machine, and so on the devices of its model that judge for the campaign.
std::optional<Lesson> lesson_of(const CampaignFrame& frame, const Experiment& experiment) {
  const Judgement& judgement = *experiment.judgement;
  if (judgement.reason == Reason::interrupted || judgement.reason == Reason::noisy ||
      judgement.reason == Reason::ranked || experiment.outcome == Outcome::unstable_clock) {
    return std::nullopt;  // it taught nothing about the candidate
  }
  return Lesson{.experiment = experiment.id,
                .family = experiment.family,
                .workload_class = experiment.workload_class,
                .machine = frame.workspace.machine().id,
                .configuration = experiment.candidate,
                .source_hash = experiment.candidate_source_hash,
                .incumbent = experiment.incumbent,
                .incumbent_source_hash = experiment.incumbent_source_hash,
                .techniques = experiment.techniques,
                .verdict = judgement.verdict,
                .speedup = judgement.speedup(),
                .text = lesson_text(experiment)};
}

// "experiment 12: reverted: Slower: ..." where it judged the same machine code.
std::string judged_before(const CampaignFrame& frame, const Build& candidate, const Build& incumbent) {
  const auto before = newest_with_code(frame.journal, {.candidate = candidate.code_hash,
                                                       .incumbent = incumbent.code_hash,
                                                       .machine = frame.workspace.machine().id,
                                                       .workload = join(frame.policy.workloads, ","),
                                                       .cache = frame.policy.cache_policy});
  if (!before) {
    return "";
  }
  const Experiment experiment = load_experiment(frame.journal, *before, Detail::summary);
  return fmt::format("experiment {}: {}: {}", *before, to_string(experiment.judgement->verdict),
                     experiment.judgement->sentence);
}

// What somebody has just written goes through what registered variants have been through, and a proposer that repeats
// itself in other words is not timed again.
void add_checks_of_new_text(const CampaignFrame& frame, const Experiment& experiment, EvaluatePlan& plan) {
  const Variant& variant = frame.workspace.catalogue().get(experiment.candidate.variant);
  if (is_waiting_proposal(frame.workspace, variant)) {
    plan.judged_before = [&frame](const Build& candidate, const Build& incumbent) {
      return judged_before(frame, candidate, incumbent);
    };
  }
  plan.check_on_cpu = executor_check(frame.workspace, variant);
}

void judge_candidate(const CampaignFrame& frame, CampaignProgress& state, Experiment& experiment,
                     const std::string& judge) {
  EvaluatePlan first = plan_for(state, judge);
  first.known_mistakes = [&](const Experiment& candidate) {
    return known_mistakes(frame.journal, frame.family, candidate);
  };
  add_checks_of_new_text(frame, experiment, first);
  const auto before_timing = [&](EvaluatePlan& plan) {
    const bool decides = !plan.preset.ranks_only;
    if (decides && !state.machine_checked) {
      check_machine(frame, state);
    }
    plan = plan_for(state, judge);
    if (decides) {
      wait_for_other_work(frame, state, plan);
    }
  };
  evaluate_in(frame.journal, frame.runtime, experiment, first, frame.observer, before_timing);
}

// After the verdict: what the next experiment starts from.
void advance(CampaignProgress& state, const Experiment& experiment) {
  ++state.timed_candidates;
  ++state.since_sentinel;
  if (experiment.judgement->verdict == Verdict::accepted) {
    state.incumbent = experiment.candidate;
    ++state.accepts_since_certificate;
  }
}

}  // namespace

Experiment planned_experiment(const CampaignFrame& frame, const Configuration& incumbent, std::int64_t iteration,
                              const Candidate& candidate, int index) {
  const Catalogue& catalogue = frame.workspace.catalogue();
  const Variant& variant = catalogue.get(candidate.configuration.variant);
  return {.iteration = iteration,
          .campaign = frame.campaign,
          .index = index,
          .family = frame.family.name,
          .workload_class = frame.policy.workload_class,
          .workloads = frame.policy.workloads,
          .candidate = candidate.configuration,
          .incumbent = incumbent,
          .candidate_source_hash = variant.source_hash,
          .incumbent_source_hash = catalogue.get(incumbent.variant).source_hash,
          .techniques = techniques_of(variant, candidate.configuration.settings),
          .prediction = candidate.prediction,
          .started_at = utc_now(),
          .machine = frame.workspace.machine().id};
}

void keep_verdict(const CampaignFrame& frame, const Experiment& experiment) {
  finish_experiment(frame.journal, experiment, lesson_of(frame, experiment));
  settle_proposal(frame.workspace, experiment);
  frame.observer.say(
      fmt::format("    {}: {}", to_string(experiment.judgement->verdict), experiment.judgement->sentence));
}

Experiment run_experiment(const CampaignFrame& frame, CampaignProgress& state, std::int64_t iteration,
                          const Candidate& candidate, const std::string& judge) {
  Experiment experiment = planned_experiment(frame, state.incumbent, iteration, candidate, state.timed_candidates + 1);
  const Catalogue& catalogue = frame.workspace.catalogue();
  add_variant(frame.journal, catalogue.get(experiment.candidate.variant));
  add_variant(frame.journal, catalogue.get(experiment.incumbent.variant));
  experiment.id = begin_experiment(frame.journal, experiment);
  frame.observer.say(fmt::format("  experiment {}: {}, predicted {}", experiment.id, candidate.configuration.label(),
                                 format_band(candidate.prediction.low, candidate.prediction.high)));
  judge_candidate(frame, state, experiment, judge);
  keep_verdict(frame, experiment);
  advance(state, experiment);
  return experiment;
}

}  // namespace apo
