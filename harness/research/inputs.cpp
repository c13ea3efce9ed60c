// harness/research/inputs.cpp - what of an experiment research remembers, with every tunable stated.
#include "harness/research/inputs.h"

namespace apo {

Configuration normalised(const Configuration& configuration, const Variant& variant) {
  Configuration full{.variant = variant.id(), .settings = configuration.settings};
  for (const Tunable& tunable : variant.tunables) {
    if (!tunable.values.empty()) {
      full.settings.try_emplace(tunable.name, tunable.values.front());
    }
  }
  return full;
}

PastResult past_result(const Experiment& experiment, const std::string& machine) {
  PastResult past{.experiment = experiment.id,
                  .machine = machine,
                  .workload_class = experiment.workload_class,
                  .candidate = experiment.candidate,
                  .incumbent = experiment.incumbent,
                  .candidate_source_hash = experiment.candidate_source_hash,
                  .incumbent_source_hash = experiment.incumbent_source_hash,
                  .techniques = experiment.techniques,
                  .prediction = experiment.prediction,
                  .outcome = experiment.outcome};
  for (const GateResult& gate : experiment.gates) {
    if (gate.outcome != Outcome::valid) {
      past.evidence = gate.evidence;
    }
  }
  if (experiment.judgement) {
    const Judgement& judgement = *experiment.judgement;
    past.verdict = judgement.verdict;
    past.timed = experiment.outcome == Outcome::valid && judgement.rounds > 0;
    past.effect = judgement.effect;
    past.lower = judgement.lower;
    past.upper = judgement.upper;
  }
  return past;
}

}  // namespace apo
