// journal/facts/research/lessons.cpp - reads lessons, each with the condition under which it was learnt.
#include "journal/facts/research/lessons.h"

#include <map>
#include <utility>

#include "journal/columns.h"

namespace apo {
namespace {

std::string model_of(Database& database, const std::string& machine) {
  return database.text("SELECT model FROM machine WHERE key = ? ORDER BY id DESC LIMIT 1", {machine});
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
  return database.number("SELECT iteration FROM experiment WHERE id = ?", {experiment});
}

void add_conditions(Journal& journal, std::vector<Lesson>& lessons) {
  std::map<std::string, std::string> models;
  std::map<std::int64_t, Stall> stalls;
  for (Lesson& lesson : lessons) {
    const auto [model, new_machine] = models.try_emplace(lesson.machine);
    if (new_machine) {
      model->second = model_of(database_of(journal), lesson.machine);
    }
    const std::int64_t iteration = iteration_of(database_of(journal), lesson.experiment);
    const auto [stall, new_iteration] = stalls.try_emplace(iteration);
    if (new_iteration && iteration != 0) {
      stall->second = largest_stall(database_of(journal), iteration);
    }
    lesson.condition = {.model = model->second,
                        .workloads = workloads_of(journal, lesson.experiment),
                        .stall = stall->second.first,
                        .stall_share = stall->second.second};
  }
}

}  // namespace

// Only what is asked for stands in the SQL, so that SQLite can start at an index.
std::vector<Lesson> lessons_of(Journal& journal, const LessonFilter& filter) {
  std::string conditions = " WHERE 1";
  std::vector<Value> values;
  if (filter.newest > 0) {
    conditions =
        " WHERE id IN (SELECT id FROM lesson WHERE family = ? AND workload_class = ? AND machine IN"
        " (SELECT key FROM machine WHERE model = ?) ORDER BY id DESC LIMIT ?)";
    values = {filter.family, filter.workload_class, filter.model, filter.newest};
  }
  const auto add = [&](bool asked, const char* condition, const Value& value) {
    if (asked) {
      conditions += condition;
      values.push_back(value);
    }
  };
  add(!filter.family.empty(), " AND family = ?", filter.family);
  add(!filter.workload_class.empty(), " AND workload_class = ?", filter.workload_class);
  add(!filter.machine.empty(), " AND machine = ?", filter.machine);
  add(!filter.model.empty(), " AND machine IN (SELECT key FROM machine WHERE model = ?)", filter.model);
  add(!filter.variant.empty(), " AND configuration IN (SELECT id FROM configuration WHERE variant = ?)",
      filter.variant);
  add(!filter.technique.empty(), " AND ? IN (SELECT value FROM json_each(techniques))", filter.technique);
  add(filter.verdict.has_value(), " AND verdict = ?", filter.verdict ? to_string(*filter.verdict) : std::string_view());
  add(!filter.incumbent_source.empty(), " AND incumbent_source = ?", filter.incumbent_source);
  add(filter.experiment != 0, " AND experiment = ?", filter.experiment);
  add(filter.campaign != 0, " AND experiment IN (SELECT id FROM experiment WHERE campaign = ?)", filter.campaign);
  std::vector<Lesson> result = read_rows<Lesson>(journal, "lesson" + conditions + " ORDER BY id", values);
  add_conditions(journal, result);
  return result;
}

}  // namespace apo
