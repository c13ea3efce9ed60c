// harness/loop/export/dispatch.cpp - collects incumbents with their evidence; unmeasured sizes get no row.
#include "harness/loop/export/dispatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/core/error.h"
#include "harness/core/sources.h"
#include "harness/core/system/machine.h"
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
  return "measured on " + row.measured->machine.model + tolerance +
         (row.nearest_only ? " at " + join(row.measured->workloads, ", ") : "") +
         (row.unchecked ? ", and not verified at all sizes of the region" : "") +
         (row.refused ? fmt::format(", and refused by its application in comparison c{}", row.refused->comparison)
                      : "");
}

std::vector<const DispatchRow*> all_rows(const DispatchTable& table) {
  std::vector<const DispatchRow*> rows;
  const auto add = [&](const DispatchRow& row) { rows.push_back(&row); };
  for (const DispatchDevice& device : table.devices) {
    std::ranges::for_each(device.rows, add);
  }
  std::ranges::for_each(table.fallbacks, add);
  return rows;
}

Ratio ratio_of(const DispatchEvidence& evidence) {
  const Judgement& judgement = evidence.judgement;
  return evidence.stood ? Ratio{1 / judgement.speedup(), 1 / judgement.speedup_upper(), 1 / judgement.speedup_lower()}
                        : Ratio{judgement.speedup(), judgement.speedup_lower(), judgement.speedup_upper()};
}

namespace {

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

// A row can serve what its code was measured on: a GPU of the same compute capability, any CPU, for which its source is
// compiled. An unmeasured one can serve what its target allows.
std::string devices_of(const Variant& variant, const Machine* measured) {
  if (variant.target == Target::host) {
    return "compute_capability == 0";
  }
  if (measured != nullptr) {
    const DeviceFacts facts = device_facts(*measured);
    return fmt::format("compute_capability == {}", 10 * facts.major + facts.minor);
  }
  const bool special = !variant.arch.empty() && variant.arch.back() > '9';  // sm_90a: 9.0 and nothing else
  return fmt::format("compute_capability {} {}", special ? "==" : ">=",
                     variant.arch.empty() ? "1" : variant.arch.substr(3, variant.arch.size() - 3 - (special ? 1 : 0)));
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
  const bool python = variant && is_python(variant->source);
  if (!variant || region.expression.empty() || python) {
    why = !variant ? "the journal does not hold its source"
          : python ? "it is Python, whose launches only its build knows"
                   : "the family has neither the class nor one of the measured workloads any more";
    return std::nullopt;
  }
  const Settings settings = resolve_settings(*variant, incumbent.configuration.settings);
  const std::int64_t shared = static_shared(evidence.build);
  std::string devices = devices_of(*variant, &evidence.machine);
  return DispatchRow{.workload_class = incumbent.workload_class,
                     .region = std::move(region.expression),
                     .devices = std::move(devices),
                     .variant = as_set(*variant, settings),
                     .settings = settings,
                     .static_shared_bytes = shared,
                     .measured = std::move(evidence),
                     .unchecked = region.unchecked};
}

bool decided(const Judgement& judgement) {
  return judgement.verdict == Verdict::accepted || judgement.reason == Reason::regression;
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
    leave_sizes(family, found.rows);
    return found;
  }

  static void leave_sizes(const Family& family, std::vector<DispatchRow>& rows) {
    for (DispatchRow& row : rows) {
      row.nearest_only = true;
    }
    leave_sizes_to_nearer_rows(family, rows);
  }

  // The rows that the machine has by repetitions of the judgements of `rows`; none unless each was decided there.
  std::vector<DispatchRow> rows_again(const Family& family, const Incumbent& of_class, const std::string& machine,
                                      const std::vector<DispatchRow>& rows) const {
    std::vector<DispatchRow> result;
    for (const DispatchRow& row : rows) {
      const std::map<std::string, Experiment> all = judged_again(journal, row.measured->experiment);
      const auto found = all.find(machine);
      if (found == all.end() || !decided(*found->second.judgement)) {
        return {};
      }
      const Experiment& again = found->second;
      const bool stood = again.judgement->verdict != Verdict::accepted;
      const Incumbent there{.family = family.name,
                            .workload_class = of_class.workload_class,
                            .machine = machine,
                            .configuration = stood ? again.incumbent : again.candidate,
                            .source_hash = stood ? again.incumbent_source_hash : again.candidate_source_hash,
                            .experiment = again.id,
                            .since = again.finished_at};
      std::string why;
      if (std::optional<DispatchRow> one = measured_row(journal, family, there, stood, request.unchecked, why)) {
        result.push_back(*std::move(one));
      }
    }
    if (result.size() > 1) {
      leave_sizes(family, result);
    }
    return result;
  }

  // Machines without an incumbent of their own in the class on which its first row was judged again.
  std::vector<std::string> machines_again(const Incumbent& of_class, const std::vector<DispatchRow>& rows) const {
    std::vector<std::string> machines;
    if (!rows.empty()) {
      for (const auto& [machine, again] : judged_again(journal, rows.front().measured->experiment)) {
        if (!find_incumbent(journal, of_class.family, of_class.workload_class, machine)) {
          machines.push_back(machine);
        }
      }
    }
    return machines;
  }
};

DispatchTable& table_of(Dispatch& dispatch, const Family& family) {
  const auto found = std::ranges::find(dispatch.tables, &family, &DispatchTable::family);
  return found != dispatch.tables.end() ? *found : dispatch.tables.emplace_back(DispatchTable{.family = &family});
}

DispatchDevice& device_of(DispatchTable& table, const Machine& machine) {
  const auto found = std::ranges::find(
      table.devices, machine.id, [](const DispatchDevice& device) -> const std::string& { return device.machine.id; });
  return found != table.devices.end() ? *found : table.devices.emplace_back(DispatchDevice{.machine = machine});
}

DispatchRow fallback_row(const Family& family, const Variant& variant, const Settings& settings) {
  if (family.legal.empty()) {
    throw UserError("family " + family.name + " does not say which sizes are legal, so that " + variant.id() +
                        " cannot stand in for what was not measured",
                    "set Family::legal");
  }
  return {.workload_class = "",
          .region = family.legal,
          .devices = devices_of(variant, nullptr),
          .variant = as_set(variant, settings),
          .settings = resolve_settings(variant, settings),
          .static_shared_bytes = 0,
          .measured = {}};
}

void add_fallback(Dispatch& dispatch, const Catalogue& catalogue, const std::string& text,
                  const std::string& only_family) {
  const Configuration configuration = catalogue.configuration(text);
  const Variant& variant = catalogue.get(configuration.variant);
  const Family* family = find_family(variant.family);
  if (family == nullptr || (!only_family.empty() && only_family != variant.family)) {
    throw UserError("--fallback " + text + " fits no exported table: it is for family " + variant.family,
                    "export that family, or drop the option");
  }
  table_of(dispatch, *family).fallbacks.push_back(fallback_row(*family, variant, configuration.settings));
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
      std::ranges::stable_sort(device.rows, {}, [&](const DispatchRow& row) {
        return std::ranges::find(table.family->classes, row.workload_class, &WorkloadClass::name);
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
  std::set<std::string> known_devices;
  bool known = false;
  const auto is_wanted = [&](const Machine& machine) {
    known_devices.insert({machine.id, machine.model});
    const bool wanted = request.device.empty() || request.device == machine.id || request.device == machine.model;
    known = known || wanted;
    return wanted;
  };
  const auto add = [&](const Family& family, const Machine& machine, const std::vector<DispatchRow>& rows) {
    if (!rows.empty()) {
      std::vector<DispatchRow>& all = device_of(table_of(dispatch, family), machine).rows;
      all.insert(all.end(), rows.begin(), rows.end());
    }
  };
  const ClassReader reader{journal, request, refusals_in(journal)};
  for (const Incumbent& incumbent : all_incumbents(journal)) {
    const Machine machine = *find_machine(journal, incumbent.machine);
    const bool this_device = is_wanted(machine);
    if (!request.family.empty() && incumbent.family != request.family) {
      continue;
    }
    const Family* family = find_family(incumbent.family);
    const ClassRows found = family == nullptr
                                ? ClassRows{.gaps = {"this program does not know the family: load it with --families"}}
                                : reader.rows_of_class(*family, incumbent);
    for (const std::string& other : reader.machines_again(incumbent, found.rows)) {
      if (const Machine there = *find_machine(journal, other); is_wanted(there)) {
        add(*family, there, reader.rows_again(*family, incumbent, other, found.rows));
      }
    }
    if (!this_device) {
      continue;
    }
    add(*family, machine, found.rows);
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
    add_fallback(dispatch, catalogue, fallback, request.family);
  }
  std::ranges::sort(dispatch.tables, {}, [](const DispatchTable& table) { return table.family->name; });
  return dispatch;
}

}  // namespace apo
