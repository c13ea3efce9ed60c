// harness/loop/workspace/kept_profile.cpp - searches the journal before it measures.
#include "harness/loop/workspace/kept_profile.h"

#include <functional>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/nvtx.h"
#include "harness/core/system/files.h"
#include "harness/loop/workspace/known_roofs.h"
#include "harness/profile/measure.h"
#include "journal/journal.h"

namespace apo {
namespace {

std::optional<Profile> kept_profile(Workspace& workspace, const Configuration& configuration, const Workload& workload,
                                    CachePolicy cache) {
  const auto& path = workspace.paths().journal;
  if (is_absent(path)) {
    return std::nullopt;
  }
  Journal journal = Journal::open(path, Access::read_only);
  auto kept = journal.newest_profile(
      configuration, workload.name,
      {.machine = workspace.machine().id, .source_hash = workspace.catalogue().get(configuration.variant).source_hash});
  return kept && kept->conditions.starts_with(caches_text(cache)) ? kept : std::nullopt;
}

// What was measured is of use without the journal, too.
void keep(const std::string& what, Observer& observer, const std::function<void()>& write) {
  try {
    write();
  } catch (const UserError& error) {
    observer.say("the " + what + " not kept: " + error.what());
  } catch (const EnvironmentError& error) {
    observer.say("the " + what + " not kept: " + error.what());
  }
}

}  // namespace

std::vector<Roof> kept_or_measured_roofs(Workspace& workspace, bool remeasure, Observer& observer) {
  const StageRange range("roofs");
  const Machine& machine = workspace.machine();
  const auto& path = workspace.paths().journal;
  if (!remeasure && !is_absent(path)) {
    Journal journal = Journal::open(path, Access::read_only);
    if (auto roofs = known_roofs(journal, machine); !roofs.empty()) {
      return roofs;
    }
  }
  observer.say("measuring the roofs of this machine");
  const std::vector<Roof> roofs = workspace.measure_roofs();
  keep("roofs are", observer, [&] {
    Journal journal = Journal::open(path, Access::read_write);
    journal.add_machine(machine);
    journal.add_roofs(machine.id, roofs);
  });
  return roofs;
}

void keep_profile(Workspace& workspace, const Profile& profile, Observer& observer) {
  const StageRange range("keep the profile");
  const Variant& variant = workspace.catalogue().get(profile.configuration.variant);
  keep("profile is", observer, [&] {
    Journal journal = Journal::open(workspace.paths().journal, Access::read_write);
    journal.add_machine(workspace.machine());
    journal.add_variant(variant);
    journal.add_profile(profile, {.machine = workspace.machine().id, .source_hash = variant.source_hash});
  });
}

Profile kept_or_measured_profile(Workspace& workspace, const Family& family, const Configuration& configuration,
                                 const Workload& workload, CachePolicy cache, bool remeasure, Observer& observer) {
  if (!remeasure) {
    if (auto kept = kept_profile(workspace, configuration, workload, cache)) {
      return *kept;
    }
  }
  observer.say("profiling " + configuration.label());
  Profile profile = measure_profile(workspace.runtime(family), configuration, workload, workspace.machine(),
                                    kept_or_measured_roofs(workspace, false, observer), cache, observer);
  keep_profile(workspace, profile, observer);
  return profile;
}

}  // namespace apo
