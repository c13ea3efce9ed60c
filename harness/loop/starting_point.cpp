// harness/loop/starting_point.cpp - looks at the policy, the journal and the catalogue, in this order.
#include "harness/loop/starting_point.h"

#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/loop/workspace/incumbents.h"

namespace apo {
namespace {

Configuration root_configuration(const Workspace& workspace, const std::string& family) {
  if (const Variant* variant = workspace.catalogue().baseline(family, workspace.target())) {
    return {variant->id(), default_settings(*variant)};
  }
  throw UserError(
      fmt::format("family {} has no variant for target {} to start from", family, to_string(workspace.target())),
      "register one with 'apo register FILE', or name one with --baseline");
}

}  // namespace

std::optional<Configuration> named_baseline(const Workspace& workspace, const Policy& policy) {
  if (policy.baseline.empty()) {
    return std::nullopt;
  }
  Configuration given = workspace.catalogue().configuration(policy.baseline);
  if (!given.variant.starts_with(policy.family + "/")) {
    throw UserError("the baseline '" + policy.baseline + "' is not a variant of family " + policy.family);
  }
  return given;
}

Configuration starting_point(const Workspace& workspace, Journal& journal, const Policy& policy, Observer& observer) {
  if (auto named = named_baseline(workspace, policy)) {
    return *named;
  }
  if (const auto of_class = journal.incumbent(policy.family, policy.workload_class, workspace.machine().id)) {
    const Family& family = workspace.family(policy.family);
    const auto [incumbent, because] =
        nearest_incumbent(family, class_incumbents(journal, family, *of_class), policy.workloads);
    const Variant* variant = workspace.catalogue().find(incumbent.configuration.variant);
    if (variant != nullptr && variant->source_hash == incumbent.source_hash) {
      if (!because.empty()) {
        observer.say(incumbent.configuration.label() + " is " + because);
      }
      return incumbent.configuration;
    }
    observer.say(
        fmt::format("the incumbent {} changed or is gone since it was accepted; starting from the family's root",
                    incumbent.configuration.label()));
  }
  return root_configuration(workspace, policy.family);
}

}  // namespace apo
