// harness/cli/look/list.cpp - `apo list`: families, workloads, variants and incumbents; with --workers those of
// campaigns.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/look/variant_text.h"
#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/json/values.h"
#include "harness/core/text.h"
#include "harness/exchange/exchange.h"
#include "harness/loop/workspace/incumbents.h"
#include "harness/loop/workspace/known.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/incumbents.h"
#include "journal/facts/machines.h"
#include "journal/facts/unfinished.h"
#include "journal/facts/workers.h"
#include "journal/journal.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

// Variant -> "incumbent of class n32 on NVIDIA H200 (cuda) as e88_backward/simple[CHUNK=16]", one a workload class, or
// workload where those of the class differ, and device that the journal knows.
using Incumbents = std::map<std::string, std::vector<std::string>>;

std::string device_text(Journal& journal, const Workspace& workspace, const std::string& id) {
  if (id == workspace.machine().id) {
    return "this machine";
  }
  const std::optional<Machine> machine = find_machine(journal, id);
  return machine ? machine->model + " (" + std::string(to_string(machine->target)) + ")" : id;
}

// Prints each incumbent: one of the class, or one a workload where its workloads differ.
std::vector<std::pair<std::string, Incumbent>> incumbents_of(Journal& journal, const Incumbent& of_class) {
  std::vector<std::pair<std::string, Incumbent>> found;
  if (const Family* family = find_family(of_class.family)) {
    for (const WorkloadIncumbent& one : class_incumbents(journal, *family, of_class).differing) {
      found.emplace_back(one.workload, one.incumbent);
    }
  }
  if (found.empty()) {
    found.emplace_back("class " + of_class.workload_class, of_class);
  }
  return found;
}

Incumbents load_incumbents(const Workspace& workspace) {
  Incumbents incumbents;
  try {
    std::optional<Journal> journal = existing_journal(workspace.paths());
    for (const Incumbent& one : journal ? all_incumbents(*journal) : std::vector<Incumbent>()) {
      for (const auto& [where, incumbent] : incumbents_of(*journal, one)) {
        incumbents[incumbent.configuration.variant].push_back("incumbent of " + where + " on " +
                                                              device_text(*journal, workspace, one.machine) + " as " +
                                                              incumbent.configuration.label());
      }
    }
  } catch (const UserError& error) {
    // The list itself needs no journal.
    std::fprintf(stderr, "apo: incumbents are not shown: %s\n", error.what());
  } catch (const EnvironmentError& error) {
    std::fprintf(stderr, "apo: incumbents are not shown: %s\n", error.what());
  }
  return incumbents;
}

std::string overview_text(Workspace& workspace) {
  std::vector<std::vector<std::string>> rows = {{"family", "workloads", "variants", "summary"}};
  for (const Family& family : families()) {
    rows.push_back(
        {family.name, std::to_string(family.workloads.size()),
         std::to_string(workspace.catalogue().of_family(family.name).size()),
         family.summary + (family.declared_tolerance.empty() ? "" : " (" + family.declared_tolerance + ")")});
  }
  return format_table(rows) + "'apo list FAMILY' shows its workloads and variants\n";
}

std::string axes_text(const Family& family) {
  std::vector<std::vector<std::string>> rows = {{"  axis", "range", "meaning"}};
  for (const AxisSpec& axis : family.axes) {
    rows.push_back({"  " + axis.name, fmt::format("{}..{}", axis.min, axis.max),
                    axis.meaning + (axis.specialised ? " (known when compiling)" : "")});
  }
  return format_table(rows);
}

std::string tensors_text(const Family& family) {
  std::vector<std::vector<std::string>> rows = {{"  tensor", "shape", "dtype", "role", "meaning"}};
  for (const TensorSpec& tensor : arguments_of(family)) {
    rows.push_back({"  " + tensor.name, tensor.shape_text, std::string(to_string(tensor.dtype)),
                    std::string(role_word(tensor)), tensor.meaning});
  }
  return format_table(rows);
}

std::string scalars_text(const Family& family) {
  std::vector<std::vector<std::string>> rows = {{"  scalar", "value", "dtype", "meaning"}};
  for (const ScalarSpec& scalar : family.scalars) {
    rows.push_back({"  " + scalar.name, format_g(scalar.value), std::string(to_string(scalar.dtype)), scalar.meaning});
  }
  return family.scalars.empty() ? "" : format_table(rows) + "\n";
}

// In the contract's order: "rows=7 cols=100".
std::string axes_of(const Family& family, const Workload& workload) {
  std::vector<std::string> words;
  for (const AxisSpec& axis : family.axes) {
    words.push_back(fmt::format("{}={}", axis.name, workload.axes.at(axis.name)));
  }
  return join(words, " ");
}

std::string workloads_text(const Family& family) {
  std::vector<std::vector<std::string>> rows = {{"  workload", "kind", "class", "axes"}};
  for (const Workload& workload : family.workloads) {
    rows.push_back({"  " + workload.name, std::string(to_string(workload.kind)), workload.workload_class,
                    axes_of(family, workload)});
  }
  return format_table(rows);
}

// What tells variants apart; `apo show` has the whole block.
std::string variants_text(Workspace& workspace, const Family& family, const Incumbents& incumbents) {
  std::string text;
  for (const Variant* variant : workspace.catalogue().of_family(family.name)) {
    std::vector<std::string> head;
    std::vector<std::vector<std::string>> rows;
    for (const VariantField& field : metadata_fields(*variant)) {
      if (field.name == "target" || field.name == "techniques") {
        head.push_back(field.value);
      } else if (field.name != "requires" && field.name != "scratch" && field.name != "launch") {
        rows.push_back({"      " + field.name, field.value});
      }
    }
    text += "  " + paint(variant->name, "bold") + "  " + join(head, "  ") + "\n" + format_table(rows);
    if (const auto found = incumbents.find(variant->id()); found != incumbents.end()) {
      for (const std::string& line : found->second) {
        text += "      " + paint("* " + line, "green") + "\n";
      }
    }
  }
  return text;
}

std::string family_text(Workspace& workspace, const Family& family, const Incumbents& incumbents) {
  return paint(family.name, "bold") + ": " + family.summary + "\n\n" + axes_text(family) + "\n" + tensors_text(family) +
         "\n" + scalars_text(family) + workloads_text(family) + "\n  regimes: " + join(family.regimes, ", ") +
         (family.declared_tolerance.empty() ? "" : "\n  tolerance of the file: " + family.declared_tolerance) +
         "\n\nvariants\n" + variants_text(workspace, family, incumbents);
}

Json variant_document(const Variant& variant, const Incumbents& incumbents) {
  Json document = to_document(variant);
  const auto found = incumbents.find(variant.id());
  document["incumbent"] = found == incumbents.end() ? std::vector<std::string>() : found->second;
  return document;
}

Json family_document(Workspace& workspace, const Family& family, const Incumbents& incumbents) {
  Json document = to_document(family);
  document["variants"] = list_of(workspace.catalogue().of_family(family.name),
                                 [&](const Variant* variant) { return variant_document(*variant, incumbents); });
  return document;
}

// Files that are no variants do not stop the rest, but nobody should wonder where theirs is.
void print_problems(Workspace& workspace) {
  for (const CatalogueProblem& problem : workspace.catalogue().problems()) {
    std::fprintf(stderr, "apo: %s%s\n", problem.left_out ? "left out: " : "", problem.what.c_str());
    if (!problem.hint.empty()) {
      std::fprintf(stderr, "     %s\n", problem.hint.c_str());
    }
  }
}

int list(const std::vector<std::string>& names, const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  std::vector<const Family*> named;
  for (const std::string& name : names) {
    if (name.find('/') != std::string::npos) {
      throw UserError("'" + name + "' is no family", "'apo show " + name + "' shows a variant");
    }
    named.push_back(&workspace.family(name));
  }
  const Incumbents incumbents = load_incumbents(workspace);
  std::string text = names.empty() ? overview_text(workspace) : "";
  Json documents = Json::array();
  for (const Family& family : families()) {
    if (names.empty()) {
      documents.push_back(family_document(workspace, family, incumbents));
    }
  }
  for (const Family* family : named) {
    text += family_text(workspace, *family, incumbents);
    documents.push_back(family_document(workspace, *family, incumbents));
  }
  const auto problem_of = [](const CatalogueProblem& record) { return APO_DOCUMENT(path, what, hint); };
  print_answer(globals, {{"families", documents}, {"problems", list_of(workspace.catalogue().problems(), problem_of)}},
               text);
  if (!globals.json) {
    print_problems(workspace);
  }
  return kDone;
}

// ---------------------------------------------------------------- the workers of campaigns

struct CampaignStatus {
  Campaign campaign;
  std::string run_by;  // "process 4711"; "" for nobody
  double experiments_an_hour = 0;
  std::vector<WorkerRow> workers;
};

CampaignStatus status_of(Journal& journal, std::int64_t id) {
  const auto campaign = find_campaign(journal, id);
  if (!campaign) {
    throw UserError(fmt::format("there is no campaign {}", id), "'apo report' lists them");
  }
  return {.campaign = *campaign,
          .run_by = who_works_on(journal, {.kind = Unfinished::Kind::campaign, .id = id, .campaign = id}).value_or(""),
          .experiments_an_hour = answers_an_hour(journal, id),
          .workers = workers_of(journal, id)};
}

// The one that was asked for; else those that are being run with workers; else the newest that had some.
std::vector<CampaignStatus> read_status(std::int64_t campaign, const Paths& paths) {
  std::optional<Journal> journal = existing_journal(paths);
  if (!journal) {
    return {};
  }
  if (campaign != 0) {
    return {status_of(*journal, campaign)};
  }
  std::vector<CampaignStatus> all;
  const std::vector<std::int64_t> campaigns = campaigns_with_workers(*journal);
  for (const std::int64_t id : campaigns) {
    if (CampaignStatus status = status_of(*journal, id); !status.run_by.empty()) {
      all.push_back(std::move(status));
    }
  }
  if (all.empty() && !campaigns.empty()) {
    all.push_back(status_of(*journal, campaigns.front()));
  }
  return all;
}

// One that its killed driver could not end.
bool is_working(const CampaignStatus& status, const WorkerRow& worker) {
  return !worker.end && !status.run_by.empty();
}

std::string state_of(const CampaignStatus& status, const WorkerRow& worker) {
  if (worker.end) {
    return std::string(to_string(*worker.end));
  }
  return status.run_by.empty() ? "driver_ended" : worker.candidate.empty() ? "idle" : "judging";
}

Json to_document(const CampaignStatus& status, const WorkerRow& record) {
  const bool judges = is_working(status, record) && !record.candidate.empty();
  Json document = APO_DOCUMENT(number, device, model, machine, experiments, lost, busy_s, started_at, note, command);
  document["state"] = state_of(status, record);
  document["judging"] = judges ? Json(record.candidate) : Json(nullptr);
  document["since"] = judges ? Json(record.busy_since) : Json(nullptr);
  document["ended_at"] = record.end ? Json(record.ended_at) : Json(nullptr);
  return document;
}

Json to_document(const CampaignStatus& status) {
  return {{"campaign", status.campaign.id},
          {"family", status.campaign.policy.family},
          {"workloads", status.campaign.policy.workloads},
          {"run_by", status.run_by.empty() ? Json(nullptr) : Json(status.run_by)},
          {"experiments_an_hour", number_or_null(status.experiments_an_hour)},
          {"workers", list_of(status.workers, [&](const WorkerRow& one) { return to_document(status, one); })}};
}

std::string status_text(const CampaignStatus& status) {
  const Policy& policy = status.campaign.policy;
  std::string text =
      fmt::format("campaign {}: {} on {}, {}: {} experiments an hour\n", status.campaign.id, policy.family,
                  join(policy.workloads, ", "), status.run_by.empty() ? "not running" : "run by " + status.run_by,
                  format_g(status.experiments_an_hour, 3));
  std::vector<std::vector<std::string>> rows = {
      {"worker", "device", "state", "judging", "experiments", "lost", "busy", "note"}};
  for (const WorkerRow& worker : status.workers) {
    rows.push_back({std::to_string(worker.number), worker.device, state_of(status, worker),
                    is_working(status, worker) ? worker.candidate : "", std::to_string(worker.experiments),
                    std::to_string(worker.lost), format_seconds(worker.busy_s), one_line(worker.note)});
  }
  return text + format_table(rows);
}

// Of that campaign; 0: of those that are being run with workers, else of the newest one that had some.
int list_workers(std::int64_t campaign, const Globals& globals) {
  const std::vector<CampaignStatus> all = read_status(campaign, make_paths(globals.journal));
  std::string text;
  for (const CampaignStatus& one : all) {
    text += status_text(one);
  }
  print_answer(globals, {{"campaigns", list_of(all, [](const CampaignStatus& one) { return to_document(one); })}},
               text.empty() ? "no campaign has had workers: 'apo run --workers local:all' starts some\n" : text);
  return kDone;
}

}  // namespace

Action define_list(CLI::App& app, Globals& globals) {
  struct Options {
    std::vector<std::string> names;
    bool workers = false;
    std::int64_t campaign = 0;
  };
  const auto options = std::make_shared<Options>();
  auto* names =
      app.add_option("names", options->names, "families to show in full; 'apo show FAMILY/NAME' shows a variant");
  auto* workers = app.add_flag("--workers", options->workers,
                               "the workers of campaigns instead: device, what each judges, failures");
  workers->excludes(names);
  app.add_option("--campaign", options->campaign, "the workers of this campaign (default: those that are running)")
      ->needs(workers);
  return [options, &globals] {
    return options->workers ? list_workers(options->campaign, globals) : list(options->names, globals);
  };
}

}  // namespace apo
