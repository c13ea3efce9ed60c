// harness/loop/workspace/kept_profile.cpp - searches the journal before it measures.
#include "harness/loop/workspace/kept_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "harness/core/error.h"
#include "harness/core/nvtx.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/loop/workspace/known.h"
#include "harness/profile/conditions.h"
#include "harness/profile/measure.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/machines.h"
#include "journal/facts/profiles.h"
#include "journal/facts/variants.h"
#include "journal/journal.h"

namespace apo {
namespace {

using Rows = std::vector<ProfileRow>;

// Profiles of the first journals do not tell of the caches.
bool is_asked_for(const ProfileRow& row, const Configuration& configuration, const std::string& workload,
                  CachePolicy cache) {
  return row.configuration == configuration && (workload.empty() || row.workload == workload) &&
         (row.conditions.empty() || row.conditions.starts_with(caches_text(cache)));
}

// The newest of `rows` that was taken where `like` was.
const ProfileRow* taken_beside(const Rows& rows, const ProfileRow& like) {
  const auto found = std::ranges::find_if(
      rows, [&](const ProfileRow& one) { return one.machine == like.machine && one.workload == like.workload; });
  return found == rows.end() ? nullptr : &*found;
}

// One row of each configuration; empty where none were taken in one place.
std::vector<const ProfileRow*> taken_together(const std::vector<Rows>& all) {
  for (const ProfileRow& first : all.front()) {
    std::vector<const ProfileRow*> together;
    for (const Rows& rows : all) {
      if (const ProfileRow* row = taken_beside(rows, first)) {
        together.push_back(row);
      }
    }
    if (together.size() == all.size()) {
      return together;
    }
  }
  return {};
}

[[noreturn]] void throw_nothing_there(Journal& journal, const std::vector<Configuration>& configurations) {
  std::set<std::string> there;
  for (const Configuration& one : configurations) {
    for (const ProfileRow& row : profile_rows(journal, one.variant)) {
      const std::string caches = row.conditions.empty() ? "unknown caches" : split(row.conditions, ':').front();
      there.insert(fmt::format("{} on {} with {} on {}", row.configuration.label(), row.workload, caches, row.machine));
    }
  }
  std::vector<std::string> labels;
  for (const Configuration& one : configurations) {
    labels.push_back(one.label());
  }
  throw UserError(fmt::format("'{}' has no such profile of {}{}", journal.path().string(), join(labels, " and "),
                              labels.size() > 1 ? " on one machine and workload" : ""),
                  there.empty()
                      ? "the view profiles of 'apo query --sql' has what was profiled; without --recorded the profile "
                        "is measured here"
                      : "it has " + join({there.begin(), there.end()}, "; ") + "; name what was taken in one place");
}

}  // namespace

void use_recorded_texts(Workspace& workspace) {
  Journal journal = Journal::open(workspace.paths().journal, Access::read_only);
  for (const Variant& variant : variants_of(journal, "")) {
    workspace.catalogue().replace(variant);
  }
}

std::vector<Profile> recorded_profiles(Workspace& workspace, const std::vector<Configuration>& configurations,
                                       const std::string& workload, CachePolicy cache, Observer& observer) {
  Journal journal = Journal::open(workspace.paths().journal, Access::read_only);
  std::vector<Rows> all;
  for (const Configuration& one : configurations) {
    Rows rows = profile_rows(journal, one.variant);
    std::erase_if(rows, [&](const ProfileRow& row) { return !is_asked_for(row, one, workload, cache); });
    all.push_back(std::move(rows));
  }
  const std::vector<const ProfileRow*> together = taken_together(all);
  if (together.empty()) {
    throw_nothing_there(journal, configurations);
  }
  const Machine machine = find_machine(journal, together.front()->machine).value();
  workspace.use_recorded(machine);
  std::vector<Profile> profiles;
  for (const ProfileRow* row : together) {
    observer.say(
        fmt::format("{} as profiled on {} ({}), {}", row->configuration.label(), machine.model, machine.id, row->at));
    if (const std::optional<Variant> text = find_variant(journal, row->source_hash)) {
      workspace.catalogue().replace(*text);
    }
    profiles.push_back(load_profile(journal, row->id));
  }
  return profiles;
}

Policy use_recorded_campaign(Workspace& workspace, const std::string& family, std::optional<Target> target) {
  Journal journal = Journal::open(workspace.paths().journal, Access::read_only);
  const std::vector<Campaign> campaigns = all_campaigns(journal);
  for (auto campaign = campaigns.rbegin(); campaign != campaigns.rend(); ++campaign) {
    const std::optional<Machine> machine = find_machine(journal, campaign->machine);
    if (campaign->policy.family == family && machine && (!target || machine->target == *target)) {
      workspace.use_recorded(*machine);
      return campaign->policy;
    }
  }
  throw UserError(fmt::format("'{}' has no campaign of {}{}", journal.path().string(), family,
                              target ? fmt::format(" for target {}", to_string(*target)) : ""),
                  "'apo query' lists what it has; without --recorded the incumbent is profiled here");
}

namespace {

std::optional<Profile> kept_profile(Workspace& workspace, const Configuration& configuration, const Workload& workload,
                                    CachePolicy cache) {
  std::optional<Journal> journal = existing_journal(workspace.paths());
  if (!journal) {
    return std::nullopt;
  }
  auto kept = newest_profile(
      *journal, configuration, workload.name,
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
  if (std::optional<Journal> journal = remeasure ? std::nullopt : existing_journal(workspace.paths())) {
    if (auto roofs = known_roofs(*journal, machine); !roofs.empty()) {
      return roofs;
    }
  }
  observer.say("measuring the roofs of this machine");
  const std::vector<Roof> roofs = workspace.measure_roofs();
  keep("roofs are", observer, [&] {
    Journal journal = Journal::open(workspace.paths().journal, Access::read_write);
    add_machine(journal, machine);
    add_roofs(journal, machine.id, roofs);
  });
  return roofs;
}

void keep_profile(Workspace& workspace, const Profile& profile, Observer& observer) {
  const StageRange range("keep the profile");
  const Variant& variant = workspace.catalogue().get(profile.configuration.variant);
  keep("profile is", observer, [&] {
    Journal journal = Journal::open(workspace.paths().journal, Access::read_write);
    add_machine(journal, workspace.machine());
    add_variant(journal, variant);
    add_profile(journal, profile, {.machine = workspace.machine().id, .source_hash = variant.source_hash});
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
