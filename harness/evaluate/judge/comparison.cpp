// harness/evaluate/judge/comparison.cpp - feeds rounds to the decision, applies void rules and guards, fills the
// judgement.
#include "harness/evaluate/judge/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "harness/core/error.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/evaluate/judge/claim.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/judge/signed_rank.h"

namespace apo {
namespace {

std::set<std::string> workload_names(const Round& round) {
  std::set<std::string> names;
  for (const RoundWorkload& workload : round.workloads) {
    names.insert(workload.workload);
  }
  return names;
}

int sample_count(const Round& round) {
  std::size_t count = 0;
  for (const RoundWorkload& workload : round.workloads) {
    count += 4 * workload.blocks.size();
  }
  return static_cast<int>(round.commands ? round.commands->runs.size() : count);
}

// Median over the rounds of each workload's medians, then the geometric mean over the workloads.
double typical_call_ns(const std::vector<Round>& rounds, RoundStage stage, double RoundWorkload::*median_of_round) {
  std::map<std::string, std::vector<double>> times;
  for (const Round& round : rounds) {
    for (const RoundWorkload& workload : round.workloads) {
      if (round.stage == stage && round.void_why.empty()) {
        times[workload.workload].push_back(workload.*median_of_round);
      }
    }
  }
  double logs = 0;
  for (const auto& [name, values] : times) {
    logs += std::log(median(values));
  }
  return times.empty() ? 0 : std::exp(logs / static_cast<double>(times.size()));
}

bool counts(const Round& round, RoundStage stage) {
  return round.void_why.empty() && round.stage == stage;
}

}  // namespace

Judge::Judge(JudgePlan plan)
    : plan_(std::move(plan)),
      confirm_alpha_(confirm_alpha(plan_.index, plan_.preset)),
      decision_(plan_.preset, confirm_alpha_, plan_.confirm_rounds) {}

int Judge::rounds_of(RoundStage stage) const {
  return static_cast<int>(
      std::count_if(rounds_.begin(), rounds_.end(), [&](const Round& round) { return round.stage == stage; }));
}

RoundStage Judge::stage() const {
  return second_look_rounds_ > 0                         ? RoundStage::second_look
         : decision_.phase() == Decision::Phase::confirm ? RoundStage::confirm
                                                         : RoundStage::search;
}

int Judge::rounds_planned() const {
  return second_look_rounds_ > 0 ? second_look_rounds_ : decision_.rounds_planned();
}

NextStep Judge::next() const {
  if (finished_) {
    return {.finished = true};
  }
  const int index = rounds_of(stage());
  const bool pause = index == 0 && !rounds_.empty();
  return {.stage = stage(),
          .index = index,
          .rounds = rounds_planned() - how_many_count(stage()),
          .pause_s = pause ? plan_.preset.pause_s : 0.0};
}

void Judge::check(const Round& round) const {
  const NextStep step = next();
  const std::string place = fmt::format("{} round {}", to_string(round.stage), round.index);
  if (step.finished || round.stage != step.stage || round.index != step.index) {
    throw UserError(place + " is not the next one of this comparison",
                    step.finished ? "it is finished already"
                                  : fmt::format("needed: {} round {}", to_string(step.stage), step.index));
  }
  const std::set<std::string> names = workload_names(round);
  if (names.size() != round.workloads.size() ||
      (!rounds_.empty() && (names != workload_names(rounds_.front()) ||
                            round.commands.has_value() != rounds_.front().commands.has_value()))) {
    throw UserError(place + " did not measure the workloads of this comparison, once each");
  }
  const bool of_windows = round.environment.empty_window_ns.has_value();
  const int fewest = of_windows ? plan_.preset.window_blocks_min : plan_.preset.blocks_min;
  for (const RoundWorkload& workload : round.workloads) {
    if (static_cast<int>(workload.blocks.size()) < fewest) {
      throw UserError(fmt::format("{} has {} blocks of workload '{}', fewer than {}", place, workload.blocks.size(),
                                  workload.workload, fewest));
    }
  }
}

const Round& Judge::add(Round round) {
  check(round);
  round.void_why = void_reason(round, busy_seconds(rounds_), plan_.preset);
  summarise_round(round);
  rounds_.push_back(std::move(round));
  const Round& added = rounds_.back();
  if (!added.void_why.empty()) {
    count_void(added);
    return added;
  }
  if (added.stage == RoundStage::second_look) {
    if (how_many_count(added.stage) == second_look_rounds_) {
      conclude_second_look();
    }
    return added;
  }
  decision_.add(added.effect);
  if (decision_.phase() == Decision::Phase::finished) {
    look_for_objections();
  }
  return added;
}

void Judge::count_void(const Round& round) {
  const auto voids = std::count_if(rounds_.begin(), rounds_.end(), [&](const Round& other) {
    return other.stage == round.stage && !other.void_why.empty();
  });
  if (static_cast<double>(voids) > plan_.preset.void_fraction * rounds_planned()) {
    finish(
        Verdict::inconclusive, Reason::noisy,
        fmt::format("{} of {} rounds were void, the last because {}", voids, rounds_of(round.stage), round.void_why));
  }
}

void Judge::give_up(const std::string& why) {
  APO_CHECK(!finished_);
  finish(Verdict::inconclusive, Reason::unresolved, why);
}

std::string Judge::objection(const std::vector<Round>& rounds, Proof proof) const {
  const std::string claim = claim_failure(rounds, plan_.preset);
  return claim.empty() ? guard_failure(rounds, plan_.preset, proof) : claim;
}

void Judge::look_for_objections() {
  if (decision_.verdict() == Verdict::accepted && !objection(counted(), Proof::doubt).empty()) {
    second_look_rounds_ = static_cast<int>(decision_.confirmation().size());
  } else {
    finish(decision_.verdict(), decision_.reason(), "");
  }
}

void Judge::conclude_second_look() {
  if (std::string proved = objection(counted(RoundStage::second_look), Proof::beyond_doubt); !proved.empty()) {
    finish(Verdict::reverted, Reason::guard_failed, std::move(proved));
  } else if (std::string doubt = objection(counted(), Proof::doubt); !doubt.empty()) {
    finish(Verdict::inconclusive, Reason::unresolved, std::move(doubt));
  } else {
    finish(decision_.verdict(), decision_.reason(), "");
  }
}

std::vector<Round> Judge::counted(std::optional<RoundStage> stage) const {
  std::vector<Round> result;
  std::ranges::copy_if(rounds_, std::back_inserter(result),
                       [&](const Round& round) { return counts(round, stage.value_or(round.stage)); });
  return result;
}

int Judge::how_many_count(RoundStage stage) const {
  return static_cast<int>(std::ranges::count_if(rounds_, [&](const Round& round) { return counts(round, stage); }));
}

void Judge::finish(Verdict verdict, Reason reason, std::string detail) {
  finished_ = true;
  verdict_ = verdict;
  reason_ = reason;
  detail_ = std::move(detail);
}

Judgement Judge::judgement() const {
  const bool confirmed = !decision_.confirmation().empty();
  const std::vector<double>& effects = confirmed ? decision_.confirmation() : decision_.search();
  const RoundStage stage = confirmed ? RoundStage::confirm : RoundStage::search;
  const JudgePreset& preset = plan_.preset;

  Judgement judgement{.verdict = verdict_,
                      .reason = reason_,
                      .lower = -std::numeric_limits<double>::infinity(),
                      .upper = std::numeric_limits<double>::infinity(),
                      .confidence = 1 - 2 * preset.interval_alpha,
                      .rounds = static_cast<int>(effects.size()),
                      .processes = processes_of(rounds_),
                      .alpha = confirm_alpha_,
                      .preset = preset.name,
                      .cache_policy = plan_.cache_policy,
                      .rule_version = std::string(kRuleVersion),
                      .minimum_claim = decision_.minimum_claim()};
  for (const Round& round : rounds_) {
    judgement.samples += sample_count(round);
    judgement.seconds += round.seconds;
  }
  if (!effects.empty()) {
    const WalshAverages averages(effects);
    judgement.effect = averages.hodges_lehmann();
    judgement.lower = averages.lower(preset.interval_alpha);
    judgement.upper = averages.upper(preset.interval_alpha);
    const std::vector<double>& spread = decision_.search().empty() ? effects : decision_.search();
    judgement.search_effect = decision_.search().empty() ? 0 : WalshAverages(decision_.search()).hodges_lehmann();
    judgement.minimum_detectable = std::max(
        judgement.minimum_claim, minimum_detectable_effect(preset, confirm_alpha_, standard_deviation(spread)));
    judgement.incumbent_ns = typical_call_ns(rounds_, stage, &RoundWorkload::incumbent_median_ns);
    judgement.candidate_ns = typical_call_ns(rounds_, stage, &RoundWorkload::candidate_median_ns);
  }
  judgement.sentence = describe(judgement, preset, detail_, plan_.wording);
  return judgement;
}

}  // namespace apo
