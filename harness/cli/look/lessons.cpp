// harness/cli/look/lessons.cpp - `apo query --lessons`: what experiments taught, and whether it still holds.
#include "harness/cli/look/lessons.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "harness/cli/console.h"
#include "harness/cli/terminal.h"
#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/text.h"
#include "harness/loop/workspace/incumbents.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/research/prediction/evidence.h"
#include "journal/facts/experiments.h"
#include "journal/facts/incumbents.h"
#include "journal/facts/machines.h"
#include "journal/facts/profiles.h"
#include "journal/facts/research/lessons.h"
#include "journal/journal.h"

namespace apo {
namespace {

using Names = std::map<std::string, std::set<std::string>>;  // by the key of a query

// What the program or the journal has: a variant may be gone and its lessons still here.
Names known_names(const Workspace& workspace, Journal& journal) {
  Names names;
  for (const Family& family : families()) {
    names["family"].insert(family.name);
    for (const Variant* variant : workspace.catalogue().of_family(family.name)) {
      names["variant"].insert(variant->id());
      names["technique"].insert(variant->techniques.begin(), variant->techniques.end());
    }
  }
  for (const Lesson& lesson : lessons_of(journal)) {
    names["family"].insert(lesson.family);
    names["variant"].insert(lesson.configuration.variant);
    names["technique"].insert(lesson.techniques.begin(), lesson.techniques.end());
  }
  return names;
}

// Throws UserError for a family, technique or variant that nobody knows.
void check_names(const Query& query, const Names& names) {
  for (const Predicate& predicate : query.where) {
    const auto known = names.find(predicate.key);
    for (const Cell& value : predicate.values) {
      const auto* given = std::get_if<std::string>(&value);
      if (known != names.end() && predicate.operation == Operator::equal && !known->second.contains(*given)) {
        throw UserError(fmt::format("unknown {} '{}'", predicate.key, *given),
                        did_you_mean(*given, {known->second.begin(), known->second.end()}) +
                            "\n'apo list' shows all families, 'apo list FAMILY' its variants and their techniques; "
                            "docs/research.md#the-catalogue has all techniques");
      }
    }
  }
}

// In the order of the query, by default the oldest first.
std::vector<Lesson> lessons_of(Journal& journal, Query query) {
  query.columns = {"id"};
  if (query.sort.empty()) {
    query.sort = {{.column = "id"}};
  }
  std::vector<Lesson> found;
  for (const std::vector<Cell>& row : run_query(journal, query).rows) {
    for (Lesson& lesson : lessons_of(journal, {.experiment = std::get<std::int64_t>(row.front())})) {
      found.push_back(std::move(lesson));
    }
  }
  return found;
}

bool changed(const Workspace& workspace, const std::string& variant, const std::string& source_hash) {
  return workspace.catalogue().get(variant).source_hash != source_hash;
}

// The incumbents of now, read once a class, and their newest profiles.
class CurrentIncumbents {
 public:
  explicit CurrentIncumbents(Journal& journal) : journal_(journal) {}

  // Of the lesson's incumbent on its workload.
  const Profile& profile(const Lesson& lesson) {
    const std::string workload = lesson.condition.workloads.empty() ? "" : lesson.condition.workloads.front();
    const auto [known, added] =
        profiles_.try_emplace({lesson.incumbent.label(), lesson.incumbent_source_hash, workload, lesson.machine});
    if (added && !workload.empty()) {
      known->second = newest_profile(journal_, lesson.incumbent, workload,
                                     {.machine = lesson.machine, .source_hash = lesson.incumbent_source_hash})
                          .value_or(Profile());
    }
    return known->second;
  }

  // Where the lesson was learnt.
  std::optional<Incumbent> of(const Lesson& lesson) {
    const auto [known, added] = known_.try_emplace({lesson.family, lesson.workload_class, lesson.machine});
    const Family* family = find_family(lesson.family);
    if (added) {
      const auto of_class = find_incumbent(journal_, lesson.family, lesson.workload_class, lesson.machine);
      if (of_class) {
        known->second =
            family == nullptr ? ClassIncumbents{*of_class, {}} : class_incumbents(journal_, *family, *of_class);
      }
    }
    if (!known->second || known->second->differing.empty() || lesson.experiment == 0) {
      return known->second ? std::optional(known->second->of_class) : std::nullopt;
    }
    const Experiment experiment = load_experiment(journal_, lesson.experiment, Detail::summary);
    return nearest_incumbent(*family, *known->second, experiment.workloads).incumbent;
  }

 private:
  Journal& journal_;
  std::map<std::tuple<std::string, std::string, std::string>, std::optional<ClassIncumbents>> known_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, Profile> profiles_;
};

// "" while the lesson's precondition holds, else what is different now. What gained over something gains over it still
// when both are left behind.
std::string expired(const Lesson& lesson, const Workspace& workspace, CurrentIncumbents& incumbents) {
  const auto incumbent = incumbents.of(lesson);
  if (lesson.verdict != Verdict::accepted && incumbent && !(incumbent->configuration == lesson.incumbent)) {
    return incumbent->configuration.label() + " is the incumbent now";
  }
  for (const auto& [variant, hash] : {std::pair(lesson.configuration.variant, lesson.source_hash),
                                      std::pair(lesson.incumbent.variant, lesson.incumbent_source_hash)}) {
    if (workspace.catalogue().find(variant) == nullptr) {
      return variant + " is not registered here";
    }
    if (changed(workspace, variant, hash)) {
      return "the source of " + variant + " has changed since";
    }
  }
  return changed_stall(lesson.condition, incumbents.profile(lesson));
}

// "b16_t512_h83_n32 (B=16 H=83 N=32 T=512 V=32)"
std::string sizes_of(const Lesson& lesson) {
  const Family* family = find_family(lesson.family);
  std::vector<std::string> sizes;
  for (const std::string& name : lesson.condition.workloads) {
    std::vector<std::string> axes;
    if (family != nullptr) {
      const auto found = std::ranges::find(family->workloads, name, &Workload::name);
      for (const auto& [axis, value] : found == family->workloads.end() ? Axes() : found->axes) {
        axes.push_back(fmt::format("{}={}", axis, value));
      }
    }
    sizes.push_back(name + (axes.empty() ? "" : " (" + join(axes, " ") + ")"));
  }
  return join(sizes, ", ");
}

// "on b16_t512_h83_n32 (...), while e88_backward/cuda_simple waits most for barriers (41 % of its samples)"
std::string condition_of(const Lesson& lesson) {
  const std::string sizes = sizes_of(lesson);
  const LessonCondition& condition = lesson.condition;
  return (sizes.empty() ? "on workloads of class " + lesson.workload_class : "on " + sizes) +
         (condition.stall.empty()
              ? ""
              : fmt::format(", while {} waits most for {} ({} of its samples)", lesson.incumbent.label(),
                            waiting_words(condition.stall), format_share(condition.stall_share)));
}

std::string place_of(const Lesson& lesson, Journal& journal) {
  const std::optional<Machine> machine = find_machine(journal, lesson.machine);
  return fmt::format("{}, class {}, on {}", lesson.family, lesson.workload_class,
                     machine ? machine->model : lesson.machine);
}

// By operation and machine.
std::string lessons_text(const std::vector<Lesson>& found, const Workspace& workspace, Journal& journal) {
  std::map<std::string, std::vector<Lesson>> places;
  for (const Lesson& lesson : found) {
    places[place_of(lesson, journal)].push_back(lesson);
  }
  CurrentIncumbents incumbents(journal);
  const auto hold = [&](const Lesson& lesson) {
    const std::string why = expired(lesson, workspace, incumbents);
    return why.empty() ? "holds " + condition_of(lesson) : "no longer known to hold: " + why;
  };
  return terminal_text([&](report::Writer& writer) {
    for (const auto& [place, lessons] : places) {
      writer.heading(2, place);
      write_lessons(lessons, writer, hold);
    }
  });
}

nlohmann::ordered_json condition_document(const Lesson& lesson) {
  const LessonCondition& condition = lesson.condition;
  return {{"model", condition.model},
          {"workloads", condition.workloads},
          {"stall", condition.stall},
          {"stall_share",
           condition.stall.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(condition.stall_share)}};
}

}  // namespace

int show_lessons(const Query& query, const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  Journal journal = Journal::open(workspace.paths().journal, Access::read_only);
  const std::vector<Lesson> found = lessons_of(journal, query);
  if (found.empty()) {
    check_names(query, known_names(workspace, journal));
  }
  nlohmann::ordered_json documents = nlohmann::ordered_json::array();
  CurrentIncumbents incumbents(journal);
  for (const Lesson& lesson : found) {
    documents.push_back(to_document(lesson));
    documents.back()["expired"] = expired(lesson, workspace, incumbents);
    documents.back()["condition"] = condition_document(lesson);
  }
  print_answer(globals, {{"lessons", documents}}, lessons_text(found, workspace, journal));
  if (found.empty() && !globals.quiet && !globals.json) {
    std::fprintf(stderr, "no lesson matches\n");
  }
  return kDone;
}

}  // namespace apo
