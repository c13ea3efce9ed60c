// harness/research/inputs.cpp - compares variants and settings, and turns experiments into past results.
#include "harness/research/inputs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace apo {

Configuration normalised(const Configuration& configuration, const Variant& variant) {
  Configuration full{.variant = variant.id(), .settings = configuration.settings};
  for (const Tunable& tunable : variant.tunables) {
    if (!tunable.values.empty()) {
      full.settings.try_emplace(tunable.name, tunable.values.front());
    }
  }
  full.settings = stated_settings(variant, std::move(full.settings));
  return full;
}

const RegisteredVariant* ResearchInputs::registered(std::string_view id) const {
  const auto found =
      std::ranges::find_if(variants, [&](const RegisteredVariant& one) { return one.variant.id() == id; });
  return found == variants.end() ? nullptr : &*found;
}

PastResult past_result(const Experiment& experiment, const Machine& machine) {
  PastResult past{.experiment = experiment.id,
                  .machine = machine.id,
                  .model = machine.model,
                  .isa = machine.isa,
                  .workload_class = experiment.workload_class,
                  .workload = experiment.workloads.empty() ? "" : experiment.workloads.front(),
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
    past.sentence = judgement.sentence;
    past.cache = judgement.cache_policy;
    past.timed = experiment.outcome == Outcome::valid && judgement.rounds > 0;
    past.effect = judgement.effect;
    past.lower = judgement.lower;
    past.upper = judgement.upper;
  }
  return past;
}

}  // namespace apo
