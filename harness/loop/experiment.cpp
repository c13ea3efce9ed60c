// harness/loop/experiment.cpp - one candidate from its row in the journal to its verdict and lesson.
#include "harness/loop/experiment.h"

#include <fmt/format.h>

#include <exception>
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

using Gates = std::vector<GateResult>;

Gates run_steps(const AheadSteps& steps, const std::stop_token& stop) {
  try {
    steps.build();
  } catch (const std::exception&) {
    // whoever asks for this build meets the same error, and reports it
  }
  return steps.check ? steps.check(stop) : Gates();
}

// For the campaign's workloads, and those that correctness is always checked on.
std::vector<Axes> axes_to_build(const Family& family, const std::vector<const Workload*>& workloads) {
  std::vector<Axes> axes;
  for (const Workload* workload : workloads) {
    axes.push_back(workload->axes);
  }
  for (const Workload& workload : family.workloads) {
    if (is_small(workload)) {
      axes.push_back(workload.axes);
    }
  }
  return axes;
}

// They look nothing up in the catalogue, which changes while they run.
AheadSteps steps_for(const CampaignFrame& frame, const CampaignProgress& state, const Configuration& candidate) {
  const Variant variant = frame.workspace.catalogue().get(candidate.variant);
  AheadSteps steps;
  steps.build = [candidate, runtime = frame.workspace.runtime(frame.family, {{variant.id(), variant}}),
                 axes = axes_to_build(frame.family, state.plan.workloads)] {
    for (const Axes& one : axes) {
      if (runtime.unsupported(candidate, one).empty()) {
        static_cast<void>(runtime.build(candidate, one, false));
      }
    }
  };
  steps.check = executor_check(frame.workspace, variant);
  return steps;
}

}  // namespace

void WorkAhead::begin() {
  if (!steps_of_ || !next_ || begun_.contains(next_->label())) {
    return;
  }
  for (const auto& [label, work] : begun_) {
    if (work.is_under_way()) {
      return;
    }
  }
  begun_.try_emplace(next_->label(),
                     [steps = steps_of_(*next_)](const std::stop_token& stop) { return run_steps(steps, stop); });
}

std::optional<std::vector<GateResult>> WorkAhead::take(const Configuration& candidate, const std::stop_token& stop) {
  const auto found = begun_.find(candidate.label());
  return found == begun_.end() || found->second.is_taken() ? std::nullopt : std::optional(found->second.take(stop));
}

bool has_idle_cores(Target target, int cores) {
  constexpr int kExecutor = 6;  // that it runs on at most
  return target == Target::cuda && cores >= kExecutor + 2;
}

WorkAhead work_ahead(const CampaignFrame& frame, const CampaignProgress& state) {
  if (!has_idle_cores(frame.workspace.target(), frame.runtime.threads)) {
    return WorkAhead({});
  }
  return WorkAhead([&](const Configuration& candidate) { return steps_for(frame, state, candidate); });
}

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
void add_checks_of_new_text(const CampaignFrame& frame, const Experiment& experiment, WorkAhead* ahead,
                            EvaluatePlan& plan) {
  const Variant& variant = frame.workspace.catalogue().get(experiment.candidate.variant);
  if (is_waiting_proposal(frame.workspace, variant)) {
    plan.judged_before = [&frame](const Build& candidate, const Build& incumbent) {
      return judged_before(frame, candidate, incumbent);
    };
  }
  if (const BackgroundGates::Run check = executor_check(frame.workspace, variant)) {
    plan.check_on_cpu = [check, ahead, candidate = experiment.candidate](const std::stop_token& stop) {
      const auto known = ahead != nullptr ? ahead->take(candidate, stop) : std::nullopt;
      return known ? *known : check(stop);
    };
  }
}

void judge_candidate(const CampaignFrame& frame, CampaignProgress& state, Experiment& experiment,
                     const std::string& judge, WorkAhead* ahead) {
  EvaluatePlan first = plan_for(state, judge);
  first.known_mistakes = [&](const Experiment& candidate) {
    return known_mistakes(frame.journal, frame.family, candidate);
  };
  add_checks_of_new_text(frame, experiment, ahead, first);
  const auto before_timing = [&](EvaluatePlan& plan) {
    const bool decides = !plan.preset.ranks_only;
    if (decides && !state.machine_checked) {
      check_machine(frame, state);
    }
    plan = plan_for(state, judge);
    if (decides) {
      wait_for_other_work(frame, state, plan);
    }
    if (ahead != nullptr) {
      ahead->begin();
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
                          const Candidate& candidate, const std::string& judge, WorkAhead* ahead) {
  Experiment experiment = planned_experiment(frame, state.incumbent, iteration, candidate, state.timed_candidates + 1);
  const Catalogue& catalogue = frame.workspace.catalogue();
  add_variant(frame.journal, catalogue.get(experiment.candidate.variant));
  add_variant(frame.journal, catalogue.get(experiment.incumbent.variant));
  experiment.id = begin_experiment(frame.journal, experiment);
  frame.observer.say(fmt::format("  experiment {}: {}, predicted {}", experiment.id, candidate.configuration.label(),
                                 format_band(candidate.prediction.low, candidate.prediction.high)));
  judge_candidate(frame, state, experiment, judge, ahead);
  keep_verdict(frame, experiment);
  advance(state, experiment);
  return experiment;
}

}  // namespace apo
