// harness/cli/look/lessons.cpp - `apo lessons`: what past experiments taught, and under which precondition.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/text.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"

namespace apo {
namespace {

struct LessonOptions {
  std::string family;
  std::string technique;
  std::string variant;
  std::string verdict;
};

std::optional<Verdict> verdict_of(const std::string& word) {
  if (word.empty()) {
    return std::nullopt;
  }
  const auto verdict = verdict_from(word);
  if (!verdict) {
    throw UserError("unknown verdict '" + word + "'", did_you_mean(word, {"accepted", "reverted", "inconclusive"}) +
                                                          "\nknown: accepted, reverted, inconclusive");
  }
  return verdict;
}

void check_name(const std::string& kind, const std::string& given, const std::set<std::string>& known) {
  if (!given.empty() && !known.contains(given)) {
    throw UserError("unknown " + kind + " '" + given + "'",
                    did_you_mean(given, {known.begin(), known.end()}) + "\n'apo list' shows all");
  }
}

// A word is known when the program or the journal has it: a variant may be gone and its lessons still here.
void check_names(const LessonOptions& options, Workspace& workspace, Journal& journal) {
  std::set<std::string> names;
  std::set<std::string> techniques;
  std::set<std::string> variants;
  for (const Family& family : families()) {
    names.insert(family.name);
    for (const Variant* variant : workspace.catalogue().of_family(family.name)) {
      variants.insert(variant->id());
      techniques.insert(variant->techniques.begin(), variant->techniques.end());
    }
  }
  const auto known = [](const std::string& given, const std::set<std::string>& words) {
    return given.empty() || words.contains(given);
  };
  if (known(options.family, names) && known(options.technique, techniques) && known(options.variant, variants)) {
    return;  // without reading every lesson there is
  }
  for (const Lesson& lesson : journal.lessons()) {
    names.insert(lesson.family);
    variants.insert(lesson.configuration.variant);
    techniques.insert(lesson.techniques.begin(), lesson.techniques.end());
  }
  check_name("family", options.family, names);
  check_name("technique", options.technique, techniques);
  check_name("variant", options.variant, variants);
}

bool changed(const Workspace& workspace, const std::string& variant, const std::string& source_hash) {
  const Variant* now = workspace.catalogue().find(variant);
  return now == nullptr || now->source_hash != source_hash;
}

// "" while the lesson's precondition holds, else what is different now.
std::string expired(const Lesson& lesson, const Workspace& workspace, Journal& journal) {
  const auto incumbent = journal.incumbent(lesson.family, lesson.workload_class, lesson.machine);
  if (incumbent && !(incumbent->configuration == lesson.incumbent)) {
    return incumbent->configuration.label() + " is the incumbent now";
  }
  for (const auto& [variant, hash] : {std::pair(lesson.configuration.variant, lesson.source_hash),
                                      std::pair(lesson.incumbent.variant, lesson.incumbent_source_hash)}) {
    if (changed(workspace, variant, hash)) {
      return "the source of " + variant + " has changed since";
    }
  }
  return "";
}

int lessons(const LessonOptions& options, const Globals& globals) {
  const auto verdict = verdict_of(options.verdict);
  Workspace workspace(make_paths(globals.journal));
  Journal journal = Journal::open(workspace.paths().journal, Access::read_only);
  check_names(options, workspace, journal);
  const std::vector<Lesson> found = journal.lessons(
      {.family = options.family, .variant = options.variant, .technique = options.technique, .verdict = verdict});
  if (globals.json) {
    nlohmann::ordered_json documents = nlohmann::ordered_json::array();
    for (const Lesson& lesson : found) {
      documents.push_back(to_document(lesson));
      documents.back()["expired"] = expired(lesson, workspace, journal);
    }
    print_json({{"lessons", documents}});
    return kDone;
  }
  for (const Lesson& lesson : found) {
    const std::string why = expired(lesson, workspace, journal);
    print(fmt::format(
        "#{}  {}  {}  ({})\n    {}\n    {} for class {} on {} while {} {} the incumbent; experiment {}{}\n", lesson.id,
        to_string(lesson.verdict), lesson.configuration.label(), join(lesson.techniques, ", "), lesson.text,
        why.empty() ? "holds" : "held", lesson.workload_class, lesson.machine, lesson.incumbent.label(),
        why.empty() ? "is" : "was", lesson.experiment, why.empty() ? "" : "\n    no longer in force: " + why));
  }
  if (found.empty() && !globals.quiet) {
    std::fprintf(stderr, "no lesson matches\n");
  }
  return kDone;
}

}  // namespace

Action define_lessons(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<LessonOptions>();
  app.add_option("--family", options->family, "only lessons of this kernel family");
  app.add_option("--technique", options->technique, "only lessons about this technique");
  app.add_option("--variant", options->variant, "only lessons about this variant, FAMILY/NAME");
  app.add_option("--verdict", options->verdict, "only lessons with this verdict: accepted, reverted or inconclusive");
  return [options, &globals] { return lessons(*options, globals); };
}

}  // namespace apo
