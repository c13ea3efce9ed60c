// harness/core/records/experiment.h - one judgement of a candidate against the incumbent, from prediction to verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/build.h"
#include "harness/core/records/judgement.h"
#include "harness/core/records/variant.h"

namespace apo {

struct Experiment {
  std::int64_t id = 0;
  std::int64_t iteration = 0;  // journal id; 0 outside a campaign (apo compare)
  std::int64_t campaign = 0;
  int index = 0;  // its place among the candidates of the campaign, from 1
  std::string family;
  std::string workload_class;
  std::vector<std::string> workloads;
  Configuration candidate;
  Configuration incumbent;
  std::string candidate_source_hash;
  std::string incumbent_source_hash;
  std::vector<std::string> techniques;
  Prediction prediction;  // over the incumbent, written before measuring
  Build candidate_build;
  Build incumbent_build;
  std::vector<GateResult> gates;
  std::vector<Round> rounds;
  std::optional<Judgement> judgement;  // absent while under way
  Outcome outcome = Outcome::valid;
  std::string started_at;  // ISO 8601 UTC
  std::string finished_at;
  std::string machine;    // Machine::id; where it was measured, empty at first = the campaign's
  std::string abandoned;  // why it will never be judged
  bool operator==(const Experiment&) const = default;
};

// False where no timing finished: the effect is meaningless then, whatever the field says.
bool has_effect(const Judgement& judgement);
bool has_effect(const Experiment& experiment);
// Returns the stage that the effect comes from: confirm, or search, which is never a claim. Needs the rounds of the
// experiment.
RoundStage effect_stage(const Experiment& experiment);

}  // namespace apo
