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

double busy_part(const ResearchInputs& inputs, const std::string& workload, const Variant& variant,
                 const Settings& settings) {
  const std::int64_t blocks = inputs.blocks && inputs.sms > 0 ? inputs.blocks(workload, variant, settings) : 0;
  const double for_each = blocks > 0 ? static_cast<double>(blocks) / static_cast<double>(inputs.sms) : 1;
  return for_each / std::ceil(for_each);
}

std::vector<std::string> added_techniques(const Variant& variant, const Variant& base) {
  std::vector<std::string> added;
  for (const std::string& technique : variant.techniques) {
    if (std::find(base.techniques.begin(), base.techniques.end(), technique) == base.techniques.end()) {
      added.push_back(technique);
    }
  }
  return added;
}

int steps_between(const std::vector<Tunable>& tunables, const Settings& from, const Settings& to) {
  std::ptrdiff_t steps = 0;
  for (const Tunable& tunable : tunables) {
    std::vector<std::int64_t> values = tunable.values;
    std::ranges::sort(values);
    const auto place = [&](const Settings& settings) {
      const auto found = settings.find(tunable.name);
      return found == settings.end() ? values.begin() : std::ranges::lower_bound(values, found->second);
    };
    const auto value = [&](const Settings& settings) {
      const auto found = settings.find(tunable.name);
      return found == settings.end() ? std::optional<std::int64_t>() : found->second;
    };
    steps += value(from) == value(to) ? 0 : std::max<std::ptrdiff_t>(1, std::abs(place(from) - place(to)));
  }
  return static_cast<int>(steps);
}

std::vector<Tunable> toggles_of(const Variant& variant) {
  std::vector<Tunable> toggles = variant.tunables;
  std::erase_if(toggles, [](const Tunable& tunable) { return tunable.technique.empty(); });
  return toggles;
}

int turned(const Tunable& toggle, const Settings& from, const Settings& to) {
  const auto is_on = [&](const Settings& settings) {
    const auto value = settings.find(toggle.name);
    return value != settings.end() && value->second != 0 ? 1 : 0;
  };
  return is_on(to) - is_on(from);
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
