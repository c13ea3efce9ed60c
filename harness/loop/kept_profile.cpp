// harness/loop/kept_profile.cpp - looks into the journal before it measures.
#include "harness/loop/kept_profile.h"

#include <functional>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/nvtx.h"
#include "harness/loop/known_roofs.h"
#include "harness/loop/measure.h"
#include "journal/journal.h"

namespace apo {
namespace {

std::optional<Profile> kept_profile(Workbench& bench, const Configuration& configuration, const Workload& workload,
                                    CachePolicy cache) {
  const auto& path = bench.paths().journal;
  if (is_absent(path)) {
    return std::nullopt;
  }
  Journal journal = Journal::open(path, Access::read_only);
  auto kept = journal.newest_profile(
      configuration, workload.name,
      {.machine = bench.machine().id, .source_hash = bench.catalogue().get(configuration.variant).source_hash});
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

std::vector<Roof> kept_or_measured_roofs(Workbench& bench, bool remeasure, Observer& observer) {
  const StageRange range("roofs");
  const Machine& machine = bench.machine();
  const auto& path = bench.paths().journal;
  if (!remeasure && !is_absent(path)) {
    Journal journal = Journal::open(path, Access::read_only);
    if (auto roofs = known_roofs(journal, machine); !roofs.empty()) {
      return roofs;
    }
  }
  observer.say("measuring the roofs of this machine");
  const std::vector<Roof> roofs = bench.measure_roofs();
  keep("roofs are", observer, [&] {
    Journal journal = Journal::open(path, Access::read_write);
    journal.add_machine(machine);
    journal.add_roofs(machine.id, roofs);
  });
  return roofs;
}

void keep_profile(Workbench& bench, const Profile& profile, Observer& observer) {
  const StageRange range("keep the profile");
  const Variant& variant = bench.catalogue().get(profile.configuration.variant);
  keep("profile is", observer, [&] {
    Journal journal = Journal::open(bench.paths().journal, Access::read_write);
    journal.add_machine(bench.machine());
    journal.add_variant(variant);
    journal.add_profile(profile, {.machine = bench.machine().id, .source_hash = variant.source_hash});
  });
}

Profile kept_or_measured_profile(Workbench& bench, const Family& family, const Configuration& configuration,
                                 const Workload& workload, CachePolicy cache, bool remeasure, Observer& observer) {
  if (!remeasure) {
    if (auto kept = kept_profile(bench, configuration, workload, cache)) {
      return *kept;
    }
  }
  observer.say("profiling " + configuration.label());
  Profile profile = measure_profile(bench.lab(family), configuration, workload, bench.machine(),
                                    kept_or_measured_roofs(bench, false, observer), cache, observer);
  keep_profile(bench, profile, observer);
  return profile;
}

}  // namespace apo
