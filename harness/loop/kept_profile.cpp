// harness/loop/kept_profile.cpp - looks into the journal before it measures.
#include "harness/loop/kept_profile.h"

#include <filesystem>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/nvtx.h"
#include "harness/loop/known_roofs.h"
#include "harness/loop/measure.h"
#include "journal/journal.h"

namespace apo {
namespace {

std::optional<Profile> kept_profile(Workbench& bench, const Configuration& configuration, const Workload& workload,
                                    CachePolicy cache) {
  const auto& path = bench.paths().journal;
  if (!std::filesystem::exists(path)) {
    return std::nullopt;
  }
  Journal journal = Journal::open(path, Access::read_only);
  auto kept = journal.newest_profile(
      configuration, workload.name,
      {.machine = bench.machine().id, .source_hash = bench.catalogue().get(configuration.variant).source_hash});
  return kept && kept->conditions.starts_with(caches_text(cache)) ? kept : std::nullopt;
}

}  // namespace

std::vector<Roof> kept_or_measured_roofs(Workbench& bench, bool remeasure, Observer& observer) {
  const StageRange range("roofs");
  const Machine& machine = bench.machine();
  const auto& path = bench.paths().journal;
  if (!remeasure && std::filesystem::exists(path)) {
    Journal journal = Journal::open(path, Access::read_only);
    if (auto roofs = known_roofs(journal, machine); !roofs.empty()) {
      return roofs;
    }
  }
  observer.say("measuring the roofs of this machine");
  const std::vector<Roof> roofs = bench.measure_roofs();
  try {
    Journal journal = Journal::open(path, Access::read_write);
    journal.add_machine(machine);
    journal.add_roofs(machine.id, roofs);
  } catch (const UserError& error) {
    observer.say(std::string("the roofs are not kept: ") + error.what());
  }
  return roofs;
}

void keep_profile(Workbench& bench, const Profile& profile, Observer& observer) {
  const StageRange range("keep the profile");
  const Variant& variant = bench.catalogue().get(profile.configuration.variant);
  try {
    Journal journal = Journal::open(bench.paths().journal, Access::read_write);
    journal.add_machine(bench.machine());
    journal.add_variant(variant);
    journal.add_profile(profile, {.machine = bench.machine().id, .source_hash = variant.source_hash});
  } catch (const UserError& error) {
    observer.say(std::string("the profile is not kept: ") + error.what());
  }
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
