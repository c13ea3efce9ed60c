// harness/loop/export/dispatch.cpp - collects incumbents with their evidence; unmeasured sizes get no row.
#include "harness/loop/export/dispatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/core/error.h"
#include "harness/core/sources.h"
#include "harness/core/text.h"
#include "harness/implement/variant/settings.h"
#include "harness/loop/workspace/incumbents.h"
#include "journal/facts/checks.h"
#include "journal/facts/experiments.h"
#include "journal/facts/machines.h"
#include "journal/facts/variants.h"
#include "journal/journal.h"

namespace apo {

Configuration configuration_of(const DispatchRow& row) {
  return {.variant = row.variant.id(), .settings = stated_settings(row.variant, row.settings)};
}

std::string statement_of(const DispatchRow& row) {
  const Family* family = find_family(row.variant.family);
  const std::string tolerance = family == nullptr || family->declared_tolerance.empty()
                                    ? ""
                                    : ", within the family's own tolerance: " + family->declared_tolerance;
  if (!row.measured) {
    return "unmeasured, correct by apo:requires" + tolerance;
  }
  return "measured" + tolerance + (row.nearest_only ? " at " + join(row.measured->workloads, ", ") : "") +
         (row.unchecked ? ", and not verified at all sizes of the region" : "") +
         (row.refused ? fmt::format(", and refused by its application in comparison c{}", row.refused->comparison)
                      : "");
}

Ratio ratio_of(const DispatchEvidence& evidence) {
  const Judgement& judgement = evidence.judgement;
  return evidence.stood ? Ratio{1 / judgement.speedup(), 1 / judgement.speedup_upper(), 1 / judgement.speedup_lower()}
                        : Ratio{judgement.speedup(), judgement.speedup_lower(), judgement.speedup_upper()};
}

namespace {

std::size_t place_of(const Family& family, const std::string& workload_class) {
  const auto found = std::find_if(family.classes.begin(), family.classes.end(),
                                  [&](const WorkloadClass& one) { return one.name == workload_class; });
  return static_cast<std::size_t>(found - family.classes.begin());
}

DispatchEvidence evidence_of(Journal& journal, const Incumbent& incumbent, bool stood) {
  const Experiment experiment = load_experiment(journal, incumbent.experiment, Detail::summary);
  DispatchEvidence evidence{.experiment = experiment.id,
                            .campaign = experiment.campaign,
                            .since = incumbent.since,
                            .stood = stood,
                            .other = stood ? experiment.candidate : experiment.incumbent,
                            .judgement = *experiment.judgement,
                            .workloads = experiment.workloads,
                            .machine = *machine_of(journal, experiment.id),
                            .build = stood ? experiment.incumbent_build : experiment.candidate_build};
  for (const Certification& one : certifications_of(journal, experiment.campaign)) {
    if (one.incumbent == incumbent.configuration && !one.alarm) {
      evidence.certifications.push_back(one);
    }
  }
  return evidence;
}

std::int64_t static_shared(const Build& build) {
  const auto found = build.resources.find("shared_bytes");
  return found == build.resources.end() ? 0 : found->second;
}

// The row, or why there is none.
std::optional<DispatchRow> measured_row(Journal& journal, const Family& family, const Incumbent& incumbent, bool stood,
                                        bool unchecked, std::string& why) {
  if (incumbent.experiment == 0) {
    why = "it is a campaign's baseline, and nothing was accepted over it";
    return std::nullopt;
  }
  std::optional<Variant> variant = find_variant(journal, incumbent.source_hash);
  DispatchEvidence evidence = evidence_of(journal, incumbent, stood);
  Region region = region_of(family, incumbent.workload_class, evidence.workloads, unchecked);
  const bool triton = variant && is_python(variant->source);
  if (!variant || region.expression.empty() || triton) {
    why = !variant ? "the journal does not hold its source"
          : triton ? "it is a Triton kernel, whose launch only its build knows"
                   : "the family has neither the class nor one of the measured workloads any more";
    return std::nullopt;
  }
  const Settings settings = resolve_settings(*variant, incumbent.configuration.settings);
  const std::int64_t shared = static_shared(evidence.build);
  return DispatchRow{.workload_class = incumbent.workload_class,
                     .region = std::move(region.expression),
                     .variant = as_set(*variant, settings),
                     .settings = settings,
                     .static_shared_bytes = shared,
                     .measured = std::move(evidence),
                     .unchecked = region.unchecked};
}

struct ClassRows {
  std::vector<DispatchRow> rows;
  std::vector<std::string> gaps;  // why an incumbent has no row
  std::vector<RefusedIncumbent> refused;
};

// Reads the classes of one journal.
struct ClassReader {
  Journal& journal;
  const DispatchRequest& request;
  Refusals refusals;

  void add_row(ClassRows& found, const Family& family, const Incumbent& incumbent, bool stood,
               const std::string& where = "") const {
    std::string why;
    if (std::optional<DispatchRow> row = measured_row(journal, family, incumbent, stood, request.unchecked, why)) {
      row->refused = refusal_of(journal, refusals, incumbent);
      found.rows.push_back(*std::move(row));
    } else {
      found.gaps.push_back(where + why);
    }
  }

  // Of what was accepted before, where the application refused it.
  void add_answer(ClassRows& found, const Family& family, const Incumbent& incumbent, bool stood,
                  const std::string& where = "") const {
    const std::optional<Refusal> refusal = refusal_of(journal, refusals, incumbent);
    if (refusal) {
      found.refused.push_back({incumbent, *refusal, request.refused});
    }
    if (!refusal || request.refused) {
      return add_row(found, family, incumbent, stood, where);
    }
    const std::optional<Incumbent> before = incumbent_before(journal, refusals, incumbent);
    const bool is_there = before && std::ranges::any_of(found.rows, [&](const DispatchRow& row) {
                            return row.measured->experiment == before->experiment;
                          });
    if (before && !is_there) {
      add_row(found, family, *before, false, where);
    }
  }

  // One row, or where workloads differ in their answer one for each experiment that decided the answer of some.
  ClassRows rows_of_class(const Family& family, const Incumbent& of_class) const {
    ClassRows found;
    const std::vector<WorkloadIncumbent> differing = class_incumbents(journal, family, of_class).differing;
    if (differing.empty()) {
      add_answer(found, family, of_class, false);
      return found;
    }
    std::set<std::int64_t> experiments;
    for (const WorkloadIncumbent& one : differing) {
      if (experiments.insert(one.incumbent.experiment).second) {
        add_answer(found, family, one.incumbent, one.stood, "at " + one.workload + " ");
      }
    }
    for (DispatchRow& row : found.rows) {
      row.nearest_only = true;
    }
    leave_sizes_to_nearer_rows(family, found.rows);
    return found;
  }
};

DispatchTable& table_of(Dispatch& dispatch, const Family& family) {
  for (DispatchTable& table : dispatch.tables) {
    if (table.family == &family) {
      return table;
    }
  }
  return dispatch.tables.emplace_back(DispatchTable{.family = &family, .devices = {}});
}

DispatchDevice& device_of(DispatchTable& table, const Machine& machine) {
  for (DispatchDevice& device : table.devices) {
    if (device.machine.id == machine.id) {
      return device;
    }
  }
  return table.devices.emplace_back(DispatchDevice{.machine = machine, .rows = {}});
}

bool has_measured_row(const DispatchTable& table) {
  return std::ranges::any_of(table.devices, [](const DispatchDevice& device) {
    return std::ranges::any_of(device.rows, [](const DispatchRow& row) { return row.measured.has_value(); });
  });
}

DispatchRow fallback_row(const Family& family, const Variant& variant, const Settings& settings) {
  if (family.legal.empty()) {
    throw UserError("family " + family.name + " does not say which sizes are legal, so that " + variant.id() +
                        " cannot stand in for what was not measured",
                    "set Family::legal");
  }
  return {.workload_class = "",
          .region = family.legal,
          .variant = as_set(variant, settings),
          .settings = resolve_settings(variant, settings),
          .static_shared_bytes = 0,
          .measured = {}};
}

// For every device of the family's table; where nothing of the family was accepted, for every device of the journal.
void add_fallback(Dispatch& dispatch, const Catalogue& catalogue, const std::string& text,
                  const std::vector<Machine>& machines, const std::string& only_family) {
  const Configuration configuration = catalogue.configuration(text);
  const Variant& variant = catalogue.get(configuration.variant);
  const Family* family = find_family(variant.family);
  const bool is_wanted = family != nullptr && (only_family.empty() || only_family == variant.family);
  const auto is_its = [&](const DispatchTable& table) { return table.family == family; };
  const bool was_accepted = std::ranges::any_of(
      dispatch.tables, [&](const DispatchTable& table) { return is_its(table) && has_measured_row(table); });
  bool used = false;
  for (const Machine& machine : machines) {
    if (is_wanted && machine.target == variant.target && !was_accepted) {
      device_of(table_of(dispatch, *family), machine);
    }
  }
  for (DispatchTable& table : dispatch.tables) {
    for (DispatchDevice& device : table.devices) {
      if (is_its(table) && device.machine.target == variant.target) {
        device.rows.push_back(fallback_row(*family, variant, configuration.settings));
        used = true;
      }
    }
  }
  if (!used) {
    const std::string target(to_string(variant.target));
    throw UserError(
        "--fallback " + text + " fits no exported table: it is for family " + variant.family + " and target " + target,
        is_wanted ? "the journal knows no device of target " + target + ": 'apo run' on one first, or drop the option"
                  : "export that family, or drop the option");
  }
}

std::string newest(const DispatchDevice& device) {
  std::string since;
  for (const DispatchRow& row : device.rows) {
    since = std::max(since, row.measured ? row.measured->since : "");
  }
  return since;
}

void put_in_order(Dispatch& dispatch) {
  for (DispatchTable& table : dispatch.tables) {
    for (DispatchDevice& device : table.devices) {
      std::stable_sort(device.rows.begin(), device.rows.end(), [&](const DispatchRow& a, const DispatchRow& b) {
        return place_of(*table.family, a.workload_class) < place_of(*table.family, b.workload_class);
      });
    }
    std::stable_sort(table.devices.begin(), table.devices.end(), [](const DispatchDevice& a, const DispatchDevice& b) {
      return a.machine.model != b.machine.model ? a.machine.model < b.machine.model : newest(a) > newest(b);
    });
  }
}

[[noreturn]] void unknown_device(const std::string& device, const std::set<std::string>& known) {
  const std::vector<std::string> names(known.begin(), known.end());
  const std::string guess = did_you_mean(device, names);
  throw UserError("the journal has nothing of a device '" + device + "'",
                  (guess.empty() ? "" : guess + "\n") + "it knows: " + join(names, ", "));
}

[[noreturn]] void all_refused(const Journal& journal, const RefusedIncumbent& one) {
  throw UserError(
      fmt::format("the application of campaign {} refused {}, and '{}' has no accepted configuration but what "
                  "an application refused",
                  one.refusal.campaign, one.incumbent.configuration.label(), journal.path().string()),
      fmt::format("'apo show c{}' tells why; --refused exports it all the same, --fallback another variant",
                  one.refusal.comparison));
}

[[noreturn]] void nothing_accepted(const Journal& journal, const DispatchRequest& request) {
  const std::string of = request.family.empty() ? "" : " for family " + request.family;
  const std::string on = request.device.empty() ? "" : " on device '" + request.device + "'";
  throw UserError("'" + journal.path().string() + "' has no accepted configuration" + of + on,
                  "'apo run" + (request.family.empty() ? "" : " " + request.family) +
                      " --iterations 6' judges candidates and records those that it accepts");
}

}  // namespace

Dispatch load_dispatch(Journal& journal, const Catalogue& catalogue, const DispatchRequest& request) {
  Dispatch dispatch;
  std::vector<Machine> machines;
  std::set<std::string> known_devices;
  bool known = false;
  const ClassReader reader{journal, request, refusals_in(journal)};
  for (const Incumbent& incumbent : all_incumbents(journal)) {
    const Machine machine = *find_machine(journal, incumbent.machine);
    known_devices.insert({machine.id, machine.model});
    const bool this_device = request.device.empty() || request.device == machine.id || request.device == machine.model;
    known = known || this_device;
    if (this_device && std::ranges::find(machines, machine.id, &Machine::id) == machines.end()) {
      machines.push_back(machine);
    }
    if (!this_device || (!request.family.empty() && incumbent.family != request.family)) {
      continue;
    }
    const Family* family = find_family(incumbent.family);
    const ClassRows found = family == nullptr
                                ? ClassRows{.gaps = {"this program does not know the family: load it with --families"}}
                                : reader.rows_of_class(*family, incumbent);
    for (const DispatchRow& row : found.rows) {
      device_of(table_of(dispatch, *family), machine).rows.push_back(row);
    }
    dispatch.refused.insert(dispatch.refused.end(), found.refused.begin(), found.refused.end());
    for (const std::string& why : found.gaps) {
      dispatch.gaps.push_back({incumbent.family, incumbent.workload_class, incumbent.machine, why});
    }
  }
  if (!known && !known_devices.empty()) {
    unknown_device(request.device, known_devices);
  }
  if (dispatch.tables.empty() && request.fallbacks.empty() && !dispatch.refused.empty()) {
    all_refused(journal, dispatch.refused.front());
  }
  if (dispatch.tables.empty() && request.fallbacks.empty()) {
    nothing_accepted(journal, request);
  }
  put_in_order(dispatch);
  for (const std::string& fallback : request.fallbacks) {
    add_fallback(dispatch, catalogue, fallback, machines, request.family);
  }
  std::ranges::sort(dispatch.tables, {}, [](const DispatchTable& table) { return table.family->name; });
  return dispatch;
}

}  // namespace apo
