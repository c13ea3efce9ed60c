// harness/loop/experiment.cpp - one candidate from its row in the journal to its verdict and lesson.
#include "harness/loop/experiment.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/nvtx.h"
#include "harness/core/text.h"
#include "harness/evaluate/evaluate.h"
#include "harness/evaluate/rounds/clocks.h"
#include "harness/implement/variant/form.h"
#include "harness/loop/hooks.h"
#include "harness/loop/machine_check.h"
#include "harness/loop/proposers/proposals.h"
#include "harness/loop/trial/device_check.h"

namespace apo {
namespace {

constexpr double kQuietPatienceS = 60;

Experiment begin_experiment(const CampaignFrame& frame, const CampaignProgress& state, std::int64_t iteration,
                            const Candidate& candidate) {
  const Catalogue& catalogue = frame.workspace.catalogue();
  const Variant& variant = catalogue.get(candidate.configuration.variant);
  const Variant& incumbent = catalogue.get(state.incumbent.variant);
  frame.journal.add_variant(variant);
  frame.journal.add_variant(incumbent);
  Experiment experiment{.iteration = iteration,
                        .campaign = frame.campaign,
                        .index = state.timed_candidates + 1,
                        .family = frame.family.name,
                        .workload_class = frame.policy.workload_class,
                        .workloads = frame.policy.workloads,
                        .candidate = candidate.configuration,
                        .incumbent = state.incumbent,
                        .candidate_source_hash = variant.source_hash,
                        .incumbent_source_hash = incumbent.source_hash,
                        .techniques = variant.techniques,
                        .prediction = candidate.prediction,
                        .started_at = utc_now(),
                        .machine = frame.workspace.machine().id};
  experiment.id = frame.journal.begin_experiment(experiment);
  return experiment;
}

EvaluatePlan untimed_plan(const CampaignProgress& state, const Experiment& experiment) {
  EvaluatePlan plan = state.plan;
  plan.index = experiment.index;
  return plan;
}

EvaluatePlan timing_plan(const CampaignFrame& frame, const CampaignProgress& state, const Experiment& experiment) {
  EvaluatePlan plan = untimed_plan(state, experiment);
  if (!wait_for_quiet(kQuietPatienceS)) {
    frame.observer.say("    the hypervisor takes more than 5 % of this machine: judging with the extended preset");
    plan.preset = with_floor(extended_preset(), state.claim_floor);
  }
  return plan;
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

std::optional<Lesson> lesson_of(const Experiment& experiment) {
  const Judgement& judgement = *experiment.judgement;
  if (judgement.reason == Reason::interrupted || judgement.reason == Reason::noisy ||
      experiment.outcome == Outcome::unstable_clock) {
    return std::nullopt;  // it taught nothing about the candidate
  }
  return Lesson{.experiment = experiment.id,
                .family = experiment.family,
                .workload_class = experiment.workload_class,
                .machine = experiment.machine,
                .configuration = experiment.candidate,
                .source_hash = experiment.candidate_source_hash,
                .incumbent = experiment.incumbent,
                .incumbent_source_hash = experiment.incumbent_source_hash,
                .techniques = experiment.techniques,
                .verdict = judgement.verdict,
                .speedup = judgement.speedup(),
                .text = lesson_text(experiment)};
}

// A machine that cannot judge says nothing about the candidate.
Judgement not_judged(const EvaluatePlan& plan, const EnvironmentError& error) {
  return {.verdict = Verdict::inconclusive,
          .reason = Reason::noisy,
          .sentence = error.hint().empty() ? error.what() : fmt::format("{}; {}", error.what(), error.hint()),
          .preset = plan.preset.name,
          .cache_policy = plan.cache,
          .rule_version = std::string(kRuleVersion)};
}

// "experiment 12: reverted: Slower: ..." where it judged the same machine code.
std::string judged_before(const CampaignFrame& frame, const Build& candidate, const Build& incumbent) {
  const auto before = frame.journal.newest_with_code({.candidate = candidate.code_hash,
                                                      .incumbent = incumbent.code_hash,
                                                      .machine = frame.workspace.machine().id,
                                                      .workload = join(frame.policy.workloads, ","),
                                                      .cache = frame.policy.cache_policy});
  if (!before) {
    return "";
  }
  const Experiment experiment = frame.journal.load_experiment(*before, Detail::summary);
  return fmt::format("experiment {}: {}: {}", *before, to_string(experiment.judgement->verdict),
                     experiment.judgement->sentence);
}

// What somebody has just proposed goes through what registered variants have been through, and a proposer that repeats
// itself in other words is not timed again.
void add_checks_of_proposal(const CampaignFrame& frame, const Experiment& experiment, EvaluatePlan& plan) {
  const Variant& variant = frame.workspace.catalogue().get(experiment.candidate.variant);
  if (!is_waiting_proposal(frame.workspace, variant)) {
    return;
  }
  plan.judged_before = [&frame](const Build& candidate, const Build& incumbent) {
    return judged_before(frame, candidate, incumbent);
  };
  if (is_device_variant(variant)) {
    std::string log;
    plan.first_gates = check_on_cpu(frame.workspace.paths(), variant, true, frame.observer, log);
  }
}

void judge_candidate(const CampaignFrame& frame, CampaignProgress& state, Experiment& experiment) {
  const StageRange range("evaluate " + experiment.candidate.label());
  const EvaluateHooks hooks = journal_hooks(frame.journal, experiment.id);
  EvaluatePlan untimed = untimed_plan(state, experiment);
  add_checks_of_proposal(frame, experiment, untimed);
  std::optional<ReadyToTime> ready = run_untimed_gates({frame.runtime, experiment, untimed, frame.observer, hooks});
  if (!ready) {
    return;
  }
  if (!state.machine_checked) {
    try {
      check_machine(frame, state);
    } catch (const EnvironmentError& error) {
      experiment.judgement = not_judged(untimed, error);
      experiment.finished_at = utc_now();
      return;
    }
  }
  const EvaluatePlan plan = timing_plan(frame, state, experiment);
  run_timing({frame.runtime, experiment, plan, frame.observer, hooks}, std::move(*ready));
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

Experiment run_experiment(const CampaignFrame& frame, CampaignProgress& state, std::int64_t iteration,
                          const Candidate& candidate) {
  Experiment experiment = begin_experiment(frame, state, iteration, candidate);
  frame.observer.say(fmt::format("  experiment {}: {}, predicted {}", experiment.id, candidate.configuration.label(),
                                 format_band(candidate.prediction.low, candidate.prediction.high)));
  judge_candidate(frame, state, experiment);
  frame.journal.finish_experiment(experiment, lesson_of(experiment));
  settle_proposal(frame.workspace, experiment);
  frame.observer.say(
      fmt::format("    {}: {}", to_string(experiment.judgement->verdict), experiment.judgement->sentence));
  advance(state, experiment);
  return experiment;
}

}  // namespace apo
