// harness/fleet/device_answers.cpp - counts the devices that accepted, and writes their rows.
#include "harness/fleet/device_answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/interval.h"
#include "harness/core/text.h"
#include "harness/evaluate/evaluate.h"
#include "harness/evaluate/untimed_gates.h"
#include "harness/loop/experiment.h"
#include "harness/loop/workspace/known.h"
#include "journal/facts/checks.h"
#include "journal/facts/experiments.h"
#include "journal/facts/machines.h"
#include "journal/facts/profiles.h"
#include "journal/facts/replays.h"
#include "journal/facts/variants.h"
#include "journal/facts/workers.h"
#include "journal/journal.h"

namespace apo {
namespace {

std::string found_on(const DeviceAnswer& answer) {
  const Judgement& judgement = *answer.judged.experiment.judgement;
  return fmt::format(
      "{} on {} ({})", to_string(judgement.verdict), answer.device,
      has_effect(judgement)
          ? format_interval(judgement.speedup(), judgement.speedup_lower(), judgement.speedup_upper()).all()
          : std::string(to_string(judgement.reason)));
}

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

void end_placement(const CampaignFrame& frame, const DeviceAnswer& answer, std::int64_t experiment) {
  end_placement(frame.journal, answer.placement,
                {.state = PlacementState::answered, .experiment = experiment, .note = "", .seconds = answer.seconds});
}

void store_replica(const CampaignFrame& frame, const Experiment& planned, const DeviceAnswer& answer,
                   std::int64_t original) {
  store_device(frame, answer);
  Experiment again = found_by(answer, planned);
  again.campaign = 0;
  again.iteration = 0;
  again.id = begin_replay(frame.journal, again, original, ReplayRow::Kind::replay);
  finish_experiment(frame.journal, again);
  end_placement(frame, answer, again.id);
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

void demand_agreement(Experiment& experiment, const std::vector<DeviceAnswer>& answers, int wanted) {
  Judgement& judgement = *experiment.judgement;
  if (wanted <= 1 || judgement.verdict != Verdict::accepted) {
    return;
  }
  std::vector<std::string> found;
  int agreed = 0;
  for (const DeviceAnswer& answer : answers) {
    found.push_back(found_on(answer));
    agreed += answer.judged.experiment.judgement->verdict == Verdict::accepted ? 1 : 0;
  }
  if (agreed >= wanted) {
    experiment.gates.push_back({.gate = "replication", .evidence = join(found, ", ")});
    return;
  }
  judgement.verdict = Verdict::inconclusive;
  judgement.reason = Reason::not_replicated;
  judgement.sentence =
      fmt::format("Accepted on {} of the {} devices that have to agree: {}.", agreed, wanted, join(found, ", "));
}

Experiment store_answers(const CampaignFrame& frame, const Experiment& planned,
                         const std::vector<DeviceAnswer>& answers, int replicate) {
  Journal::Batch batch(frame.journal);
  const DeviceAnswer& first = answers.front();
  Experiment experiment = found_by(first, planned);
  demand_agreement(experiment, answers, replicate);
  demand_right_history(frame, experiment);
  store_device(frame, first);
  begin(frame, experiment);
  frame.observer.say(
      fmt::format("  experiment {} on {}: {}", experiment.id, first.device, experiment.candidate.label()));
  keep_verdict(frame, experiment);
  end_placement(frame, first, experiment.id);
  for (std::size_t i = 1; i < answers.size(); ++i) {
    store_replica(frame, planned, answers[i], experiment.id);
  }
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
