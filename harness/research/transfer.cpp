// harness/research/transfer.cpp - asks the predictor, with the judgements of one other workload as its past.
#include "harness/research/transfer.h"

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "harness/research/attack.h"
#include "harness/research/prediction/prediction.h"

namespace apo {
namespace {

// The stage, as if nothing had been judged but on `workload`.
ResearchInputs known_from(const RecordedStage& stage, const std::string& workload) {
  ResearchInputs inputs = stage.inputs;
  std::erase_if(inputs.past, [&](const PastResult& past) {
    return past.workload_class != inputs.workload_class || past.workload != workload || !past.timed;
  });
  return inputs;
}

// The effects of configurations over each other, whatever the texts of their variants.
class JudgedEffects {
 public:
  explicit JudgedEffects(const Evidence& evidence) {
    std::vector<StatedEffect> statements;
    for (const PastResult& past : evidence.results()) {
      const std::size_t from = node(past.incumbent), to = node(past.candidate);
      if (from != to) {
        statements.push_back({.from = from, .to = to, .effect = past.effect, .sd = 0.01});
      }
    }
    network_.emplace(nodes_.size(), std::move(statements));
  }

  std::optional<double> over(const Configuration& from, const Configuration& to) const {
    const auto first = nodes_.find(from.label()), second = nodes_.find(to.label());
    if (first == nodes_.end() || second == nodes_.end()) {
      return std::nullopt;
    }
    const Estimate estimate = network_->difference(first->second, second->second);
    return estimate.connected ? std::optional(estimate.effect) : std::nullopt;
  }

 private:
  std::size_t node(const Configuration& configuration) {
    return nodes_.emplace(configuration.label(), nodes_.size()).first->second;
  }

  std::map<std::string, std::size_t> nodes_;
  std::optional<EffectNetwork> network_;
};

// Adds sums, for now.
void score_stage(const RecordedStage& stage, Transfer& transfer) {
  const ResearchInputs inputs = known_from(stage, transfer.from);
  const Evidence evidence(inputs);
  const Predictor predictor(inputs, evidence);
  const JudgedEffects judged(evidence);
  const Configuration incumbent = normalised(inputs.incumbent, inputs.diagnosis.incumbent);
  for (const PastResult& one : stage.judged) {
    const RegisteredVariant* found = inputs.registered(one.candidate.variant);
    const auto taken =
        found == nullptr ? std::nullopt : judged.over(incumbent, normalised(one.candidate, found->variant));
    if (taken) {
      const Variant& variant = found->variant;
      const Forecast forecast = predictor.predict(
          variant, one.candidate, floor_bound(inputs, {.variant = &variant, .configuration = one.candidate}));
      ++transfer.effects;
      transfer.taken_error += std::fabs(one.effect - *taken);
      transfer.error += std::fabs(one.effect - forecast.effect);
    }
  }
}

std::set<std::string> other_workloads(const RecordedStage& stage) {
  std::set<std::string> others;
  for (const PastResult& past : stage.inputs.past) {
    if (past.workload_class == stage.inputs.workload_class && !past.workload.empty() &&
        past.workload != stage.inputs.diagnosis.profile.workload) {
      others.insert(past.workload);
    }
  }
  return others;
}

}  // namespace

std::vector<Transfer> score_transfers(const std::vector<RecordedCampaign>& campaigns) {
  std::map<std::pair<std::string, std::string>, Transfer> transfers;
  for (const RecordedCampaign& campaign : campaigns) {
    for (const RecordedStage& stage : campaign.stages) {
      const std::string& to = stage.inputs.diagnosis.profile.workload;
      for (const std::string& from : other_workloads(stage)) {
        Transfer& transfer = transfers.try_emplace({from, to}, Transfer{.from = from, .to = to}).first->second;
        score_stage(stage, transfer);
      }
    }
  }
  std::vector<Transfer> scored;
  for (auto& [workloads, transfer] : transfers) {
    if (transfer.effects > 0) {
      transfer.taken_error /= transfer.effects;
      transfer.error /= transfer.effects;
      scored.push_back(transfer);
    }
  }
  return scored;
}

}  // namespace apo
