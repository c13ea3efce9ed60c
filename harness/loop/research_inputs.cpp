// harness/loop/research_inputs.cpp - asks catalogue, runtime and journal.
#include "harness/loop/research_inputs.h"

#include <numeric>

#include "kernels/random.h"

namespace apo {
namespace {

// Experiments of this machine and workload class that research goes by: what came before them may be tried again.
constexpr std::int64_t kRemembered = 20'000;

Diagnosis diagnosis_of(const CampaignFrame& frame, const Configuration& incumbent, const Profile& profile,
                       const Workload& workload) {
  const std::vector<std::int64_t> scratch = frame.runtime.scratch(incumbent, workload.axes);
  return {.profile = profile,
          .work = frame.family.work(workload.axes),
          .axes = workload.axes,
          .incumbent = frame.workspace.catalogue().get(incumbent.variant),
          .units = frame.family.unit_count(workload.axes),
          .scratch_bytes = std::accumulate(scratch.begin(), scratch.end(), 0.0),
          .l2_bytes = frame.workspace.machine().l2_bytes,
          .has_doubles = has_doubles(frame.family)};
}

std::vector<RegisteredVariant> registered_variants(const CampaignFrame& frame, const Workload& workload) {
  std::vector<RegisteredVariant> variants;
  for (const Variant* variant : frame.workspace.catalogue().of_family(frame.family.name)) {
    RegisteredVariant registered{.variant = *variant, .supported = true, .why_not = ""};
    if (variant->target != frame.workspace.target()) {
      registered.supported = false;
      registered.why_not = "its target is " + std::string(to_string(variant->target));
      registered.kind = LeftOutKind::other_target;
    } else {
      registered.supported = supports(*variant, frame.family, workload.axes, default_settings(*variant),
                                      &registered.why_not, frame.workspace.device_symbols());
    }
    variants.push_back(std::move(registered));
  }
  return variants;
}

}  // namespace

ResearchInputs research_inputs(const CampaignFrame& frame, const CampaignProgress& state, const Profile& profile,
                               int index) {
  const Workload& workload = *state.plan.workloads.front();
  ResearchInputs inputs;
  inputs.diagnosis = diagnosis_of(frame, state.incumbent, profile, workload);
  inputs.incumbent = state.incumbent;
  inputs.machine = frame.workspace.machine().id;
  inputs.workload_class = frame.policy.workload_class;
  inputs.variants = registered_variants(frame, workload);
  for (const Experiment& experiment :
       frame.journal.newest_judged(frame.family.name, inputs.workload_class, inputs.machine, kRemembered)) {
    inputs.past.push_back(past_result(experiment, inputs.machine));
  }
  inputs.lessons = frame.journal.lessons({.family = frame.family.name,
                                          .workload_class = inputs.workload_class,
                                          .machine = inputs.machine,
                                          .verdict = Verdict::reverted,
                                          .incumbent_source = inputs.diagnosis.incumbent.source_hash,
                                          .newest = kRemembered});
  inputs.share = frame.application_share;
  inputs.minimum_detectable = state.minimum_detectable;
  inputs.seed = derive_seed(frame.policy.seed, "research", static_cast<std::uint64_t>(index));
  return inputs;
}

}  // namespace apo
