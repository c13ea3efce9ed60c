// harness/fleet/device_answers.cpp - writes the rows of an answer.
#include "harness/fleet/device_answers.h"

#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/evaluate/evaluate.h"
#include "harness/evaluate/untimed_gates.h"
#include "harness/loop/experiment.h"
#include "harness/loop/workspace/known.h"
#include "journal/facts/checks.h"
#include "journal/facts/experiments.h"
#include "journal/facts/machines.h"
#include "journal/facts/profiles.h"
#include "journal/facts/variants.h"
#include "journal/facts/workers.h"
#include "journal/journal.h"

namespace apo {
namespace {

// The plan, with what was found there.
Experiment found_by(const DeviceAnswer& answer, const Experiment& planned) {
  Experiment experiment = planned;
  const Experiment& found = answer.judged.experiment;
  experiment.started_at = answer.started_at;
  experiment.finished_at = utc_now();
  experiment.machine = answer.judged.machine.id;
  experiment.candidate_build = found.candidate_build;
  experiment.incumbent_build = found.incumbent_build;
  experiment.gates = found.gates;
  experiment.rounds = found.rounds;
  experiment.judgement = found.judgement;
  experiment.outcome = found.outcome;
  return experiment;
}

void store_device(const CampaignFrame& frame, const DeviceAnswer& answer) {
  add_machine(frame.journal, answer.judged.machine);
  if (known_roofs(frame.journal, answer.judged.machine).empty()) {
    add_roofs(frame.journal, answer.judged.machine.id, answer.judged.roofs);
  }
  for (SentinelRun sentinel : answer.judged.sentinels) {
    sentinel.row.campaign = frame.campaign;
    add_sentinel(frame.journal, sentinel.row, sentinel.rounds);
  }
}

void begin(const CampaignFrame& frame, Experiment& experiment) {
  const Catalogue& catalogue = frame.workspace.catalogue();
  add_variant(frame.journal, catalogue.get(experiment.candidate.variant));
  add_variant(frame.journal, catalogue.get(experiment.incumbent.variant));
  experiment.id = begin_experiment(frame.journal, experiment);
}

// A worker does not know what the driver's journal has proved wrong.
void demand_right_history(const CampaignFrame& frame, Experiment& experiment) {
  if (experiment.judgement->verdict != Verdict::accepted) {
    return;
  }
  if (const KnownMistakes known = known_mistakes(frame.journal, frame.family, experiment); !known.proof.empty()) {
    experiment.gates.push_back(history_gate(known.proof));
    fail_after_timing(experiment);
  }
}

}  // namespace

Experiment store_answer(const CampaignFrame& frame, const Experiment& planned, const DeviceAnswer& answer) {
  Journal::Batch batch(frame.journal);
  Experiment experiment = found_by(answer, planned);
  demand_right_history(frame, experiment);
  store_device(frame, answer);
  begin(frame, experiment);
  frame.observer.say(
      fmt::format("  experiment {} on {}: {}", experiment.id, answer.device, experiment.candidate.label()));
  keep_verdict(frame, experiment);
  end_placement(
      frame.journal, answer.placement,
      {.state = PlacementState::answered, .experiment = experiment.id, .note = "", .seconds = answer.seconds});
  add_machine(frame.journal, frame.workspace.machine());  // what this process measures is of that one again
  batch.commit();
  return experiment;
}

Experiment store_failure(const CampaignFrame& frame, Experiment planned, Outcome outcome, const std::string& evidence) {
  Journal::Batch batch(frame.journal);
  planned.outcome = outcome;
  planned.gates = {{.gate = "workers", .outcome = outcome, .evidence = evidence}};
  planned.judgement = not_timed(planned.gates.back());
  planned.finished_at = utc_now();
  begin(frame, planned);
  keep_verdict(frame, planned);
  batch.commit();
  return planned;
}

}  // namespace apo
