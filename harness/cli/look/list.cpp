// harness/cli/look/list.cpp - `apo list`: families, workloads, variants and incumbents; with --workers those of
// campaigns.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/look/variant_text.h"
#include "harness/cli/scale/list_workers.h"
#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/json/records_json.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/exchange/family_document.h"
#include "harness/loop/workspace/incumbents.h"
#include "harness/loop/workspace/workspace.h"
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
  const std::optional<Machine> machine = journal.machine(id);
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
  if (is_absent(workspace.paths().journal)) {
    return incumbents;
  }
  try {
    Journal journal = Journal::open(workspace.paths().journal, Access::read_only);
    for (const Incumbent& one : journal.incumbents()) {
      for (const auto& [where, incumbent] : incumbents_of(journal, one)) {
        incumbents[incumbent.configuration.variant].push_back("incumbent of " + where + " on " +
                                                              device_text(journal, workspace, one.machine) + " as " +
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

std::string target_text(const Variant& variant) {
  return std::string(to_string(variant.target)) + (variant.arch.empty() ? "" : " " + variant.arch);
}

void print_overview(Workspace& workspace) {
  std::vector<std::vector<std::string>> rows = {{"family", "workloads", "variants", "summary"}};
  for (const Family& family : families()) {
    rows.push_back({family.name, std::to_string(family.workloads.size()),
                    std::to_string(workspace.catalogue().of_family(family.name).size()), family.summary});
  }
  print(format_table(rows) + "'apo list FAMILY' shows its workloads and variants\n");
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
  for (const TensorSpec& tensor : family.tensors) {
    rows.push_back({"  " + tensor.name, tensor.shape_text, std::string(to_string(tensor.dtype)),
                    tensor.role == Role::output ? "output" : "input", tensor.meaning});
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

std::string variants_text(Workspace& workspace, const Family& family, const Incumbents& incumbents) {
  std::string text;
  for (const Variant* variant : workspace.catalogue().of_family(family.name)) {
    text += "  " + paint(variant->name, "bold") + "  " + target_text(*variant) + "  " + join(variant->techniques, ", ");
    text += variant->parent.empty() ? "" : "  from " + variant->parent;
    text += variant->idea.empty() ? "\n" : "\n      " + variant->idea + "\n";
    if (variant->prediction) {
      text += "      predicted " + format_band(variant->prediction->low, variant->prediction->high) + " over " +
              variant->prediction->relative_to + "\n";
    }
    if (!variant->tunables.empty()) {
      text += "      tunables: " + tunables_text(*variant) + "\n";
    }
    if (const auto found = incumbents.find(variant->id()); found != incumbents.end()) {
      for (const std::string& line : found->second) {
        text += "      " + paint("* " + line, "green") + "\n";
      }
    }
  }
  return text;
}

void print_family(Workspace& workspace, const Family& family, const Incumbents& incumbents) {
  print(paint(family.name, "bold") + ": " + family.summary + "\n\n" + axes_text(family) + "\n" + tensors_text(family) +
        "\n" + scalars_text(family) + workloads_text(family) + "\n  regimes: " + join(family.regimes, ", ") +
        "\n\nvariants\n" + variants_text(workspace, family, incumbents));
}

void print_variant(const Variant& variant, const Incumbents& incumbents) {
  std::string text = paint(variant.id(), "bold") + "\n" + describe_variant(variant);
  if (const auto found = incumbents.find(variant.id()); found != incumbents.end()) {
    for (const std::string& line : found->second) {
      text += "  * " + line + "\n";
    }
  }
  print(text);
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

// The names on the command line, all checked before anything is printed.
struct Named {
  std::vector<const Family*> families;
  std::vector<const Variant*> variants;
};

Named find_named(Workspace& workspace, const std::vector<std::string>& names) {
  Named named;
  for (const std::string& name : names) {
    const std::size_t slash = name.find('/');
    const Family& family = workspace.family(name.substr(0, slash));
    if (slash == std::string::npos) {
      named.families.push_back(&family);
    } else {
      named.variants.push_back(&workspace.catalogue().get(name));
    }
  }
  return named;
}

void print_document(Workspace& workspace, const Named& named, bool all, const Incumbents& incumbents) {
  Json document = {{"families", Json::array()}, {"variants", Json::array()}, {"problems", Json::array()}};
  for (const Family& family : families()) {
    if (all) {
      document["families"].push_back(family_document(workspace, family, incumbents));
    }
  }
  for (const Family* family : named.families) {
    document["families"].push_back(family_document(workspace, *family, incumbents));
  }
  for (const Variant* variant : named.variants) {
    document["variants"].push_back(variant_document(*variant, incumbents));
  }
  for (const CatalogueProblem& problem : workspace.catalogue().problems()) {
    document["problems"].push_back({{"path", problem.path}, {"what", problem.what}, {"hint", problem.hint}});
  }
  print_json(document);
}

int list(const std::vector<std::string>& names, const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  const Named named = find_named(workspace, names);
  const Incumbents incumbents = load_incumbents(workspace);
  if (globals.json) {
    print_document(workspace, named, names.empty(), incumbents);
    return kDone;
  }
  if (names.empty()) {
    print_overview(workspace);
  }
  for (const Family* family : named.families) {
    print_family(workspace, *family, incumbents);
  }
  for (const Variant* variant : named.variants) {
    print_variant(*variant, incumbents);
  }
  print_problems(workspace);
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
  auto* names = app.add_option("names", options->names, "families (FAMILY) and variants (FAMILY/NAME) to show in full");
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
