// harness/cli/target_choice.cpp - looks at the word, the campaign file, the baseline and the GPU, in this order.
#include "harness/cli/target_choice.h"

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/loop/workspace/chosen_workload.h"

namespace apo {
namespace {

bool has_variant_for(Workspace& workspace, const std::string& family, Target target) {
  const auto variants = workspace.catalogue().of_family(family);
  return std::any_of(variants.begin(), variants.end(),
                     [&](const Variant* variant) { return variant->target == target; });
}

// nullptr without a baseline.
const Variant* baseline_of(Workspace& workspace, const Policy& policy) {
  return policy.baseline.empty()
             ? nullptr
             : &workspace.catalogue().get(workspace.catalogue().configuration(policy.baseline).variant);
}

}  // namespace

std::optional<Target> asked_target(const std::string& word) {
  for (const Target target : {Target::host, Target::cuda}) {
    if (word == to_string(target)) {
      return target;
    }
  }
  if (word != "auto") {
    const std::vector<std::string> known = {"auto", "host", "cuda"};
    throw UserError("unknown target '" + word + "'", did_you_mean(word, known) + "\nknown: " + join(known, ", "));
  }
  return std::nullopt;
}

Target resolve_target(const std::string& word, Workspace& workspace) {
  if (const std::optional<Target> asked = asked_target(word)) {
    return *asked;
  }
  return workspace.has_gpu() ? Target::cuda : Target::host;
}

void choose_target(const std::string& word, bool workloads_given, Workspace& workspace, Policy& policy,
                   Observer& observer) {
  const Variant* baseline = baseline_of(workspace, policy);
  if (const std::optional<Target> asked = asked_target(word)) {
    policy.target = *asked;
  } else if (policy.target_named) {
    observer.say("target " + std::string(to_string(policy.target)) + ", as the campaign file says");
  } else if (baseline != nullptr) {
    policy.target = baseline->target;
    observer.say("target " + std::string(to_string(policy.target)) + ", that of the baseline " + policy.baseline);
  } else if (has_variant_for(workspace, policy.family, Target::cuda)) {
    std::string why_not;
    policy.target = workspace.has_gpu(&why_not) ? Target::cuda : Target::host;
    observer.say(policy.target == Target::cuda ? "target cuda" : "target host (" + why_not + ")");
  }
  if (baseline != nullptr && baseline->target != policy.target) {
    const std::string is(to_string(baseline->target));
    const std::string wanted(to_string(policy.target));
    throw UserError(
        "the baseline '" + policy.baseline + "' is for target " + is + ", and the campaign runs on " + wanted,
        "give --target " + is + ", or --baseline with a variant for " + wanted + ": 'apo list " + policy.family +
            "' shows them");
  }
  workspace.use(policy.target);
  if (policy.target == Target::host) {
    return;
  }
  if (!workloads_given) {
    policy.workloads = {first_workload(workspace.family(policy.family), Target::cuda).name};
    complete_policy(policy, "");
  }
}

Policy asked_policy(Policy policy, const std::string& workload, const std::string& baseline, const std::string& cache) {
  policy.baseline = baseline;
  policy.cache_policy = checked_cache_policy(cache);
  if (!workload.empty()) {
    policy.workloads = {workload};
  }
  complete_policy(policy, "");
  return policy;
}

}  // namespace apo
