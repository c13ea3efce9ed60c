// journal/facts/research/lessons.cpp - reads lessons, each with the condition under which it was learnt.
#include <map>
#include <utility>

#include "journal/columns.h"

namespace apo {
namespace {

std::string model_of(Database& database, const std::string& machine) {
  Statement row = database.query("SELECT model FROM machine WHERE key = ? ORDER BY id DESC LIMIT 1", {machine});
  return row.step() ? row.text() : "";
}

using Stall = std::pair<std::string, double>;

// Reads the incumbent's profile in that iteration.
Stall largest_stall(Database& database, std::int64_t iteration) {
  Statement row = database.query(
      "SELECT substr(name, 7), value FROM metric WHERE profile = (SELECT min(id) FROM profile WHERE iteration = ?)"
      " AND name GLOB 'stall_*' AND name <> 'stall_selected' ORDER BY value DESC, position LIMIT 1",
      {iteration});
  if (!row.step()) {
    return {};
  }
  std::string name = row.text();
  return {std::move(name), row.real()};
}

std::int64_t iteration_of(Database& database, std::int64_t experiment) {
  Statement row = database.query("SELECT coalesce(iteration, 0) FROM experiment WHERE id = ?", {experiment});
  return row.step() ? row.integer() : 0;
}

void add_conditions(Database& database, std::vector<Lesson>& lessons) {
  std::map<std::string, std::string> models;
  std::map<std::int64_t, Stall> stalls;
  for (Lesson& lesson : lessons) {
    const auto [model, new_machine] = models.try_emplace(lesson.machine);
    if (new_machine) {
      model->second = model_of(database, lesson.machine);
    }
    const std::int64_t iteration = iteration_of(database, lesson.experiment);
    const auto [stall, new_iteration] = stalls.try_emplace(iteration);
    if (new_iteration && iteration != 0) {
      stall->second = largest_stall(database, iteration);
    }
    lesson.condition = {
        .model = model->second,
        .workloads = database.texts("SELECT workload FROM experiment_workload WHERE experiment = ? ORDER BY position",
                                    {lesson.experiment}),
        .stall = stall->second.first,
        .stall_share = stall->second.second};
  }
}

}  // namespace

// Only what is asked for stands in the SQL, so that SQLite can start at an index.
std::vector<Lesson> Journal::lessons(const LessonFilter& filter) {
  std::string conditions = " WHERE 1";
  std::vector<Value> values;
  if (filter.newest > 0) {
    conditions =
        " WHERE l.id IN (SELECT id FROM lesson WHERE family = ? AND workload_class = ? AND machine IN"
        " (SELECT key FROM machine WHERE model = ?) ORDER BY id DESC LIMIT ?)";
    values = {filter.family, filter.workload_class, filter.model, filter.newest};
  }
  const auto add = [&](bool asked, const char* condition, const Value& value) {
    if (asked) {
      conditions += condition;
      values.push_back(value);
    }
  };
  add(!filter.family.empty(), " AND l.family = ?", filter.family);
  add(!filter.workload_class.empty(), " AND l.workload_class = ?", filter.workload_class);
  add(!filter.machine.empty(), " AND l.machine = ?", filter.machine);
  add(!filter.model.empty(), " AND l.machine IN (SELECT key FROM machine WHERE model = ?)", filter.model);
  add(!filter.variant.empty(), " AND l.configuration IN (SELECT id FROM configuration WHERE variant = ?)",
      filter.variant);
  add(!filter.technique.empty(), " AND ? IN (SELECT value FROM json_each(l.techniques))", filter.technique);
  add(filter.verdict.has_value(), " AND l.verdict = ?",
      filter.verdict ? to_string(*filter.verdict) : std::string_view());
  add(!filter.incumbent_source.empty(), " AND l.incumbent_source = ?", filter.incumbent_source);
  add(filter.experiment != 0, " AND l.experiment = ?", filter.experiment);
  add(filter.campaign != 0, " AND l.experiment IN (SELECT id FROM experiment WHERE campaign = ?)", filter.campaign);
  std::vector<Lesson> result;
  Statement rows = self_->database.query(
      "SELECT l.id, " + columns_of<Lesson>("l.") + " FROM lesson l" + conditions + " ORDER BY l.id", values);
  while (rows.step()) {
    Lesson& lesson = result.emplace_back();
    lesson.id = rows.integer();
    read_row(*self_, rows, lesson);
  }
  add_conditions(self_->database, result);
  return result;
}

}  // namespace apo
