// journal/query/query_conditions.cpp - writes predicates as SQL conditions.
#include "journal/query/query_conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/core/text.h"
#include "journal/query/query_keys.h"
#include "journal/query/query_sql.h"

namespace apo {
namespace {

// The values in the order in which the texts that are joined need them.
std::vector<Value> values_of(std::initializer_list<const std::vector<Value>*> parts) {
  std::vector<Value> all;
  for (const std::vector<Value>* part : parts) {
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

Form compared(const std::string& column, const Predicate& predicate) {
  Form form;
  form.text = comparison(column, predicate, form.values);
  return form;
}

// The experiments whose candidate has a resource or a metric of that name and value. `metric` is there in both forms:
// profiles are few.
Condition metric_condition(const Predicate& predicate, const Cell& name) {
  const std::vector<Value> named = {bound(name)};
  const Form value = compared("value", predicate);
  const std::vector<Value> once = values_of({&named, &value.values});
  const std::vector<Value> twice = values_of({&once, &once});
  const std::string of_resource = "role = 'candidate' AND name = ? AND " + value.text;
  const std::string of_metric =
      "SELECT x.id FROM metric mt JOIN profile p ON p.id = mt.profile"
      " JOIN experiment x ON x.candidate = p.configuration AND x.machine = p.machine"
      " AND (p.source IS NULL OR p.source = x.candidate_source) WHERE mt.name = ? AND " +
      compared("mt.value", predicate).text;
  const std::string resources = "SELECT experiment FROM build_resource WHERE " + of_resource;
  return {.finds = {"id IN (" + resources + " UNION ALL " + of_metric + ")", twice},
          .tests = {"(EXISTS (SELECT 1 FROM build_resource WHERE experiment = experiments.id AND " + of_resource +
                        ") OR id IN (" + of_metric + "))",
                    twice},
          .probe = {resources, once}};
}

}  // namespace

std::string indexed(std::string_view column) {
  static const std::map<std::string_view, std::string> kIndexed = {
      {"id", "id FROM experiment WHERE id"},
      {"speedup", "experiment FROM judgement WHERE speedup"},
      {"lower", "experiment FROM judgement WHERE speedup_lower"},
      {"upper", "experiment FROM judgement WHERE speedup_upper"},
      {"rounds", "experiment FROM judgement WHERE rounds"},
      {"samples", "experiment FROM judgement WHERE samples"},
      {"seconds", "experiment FROM judgement WHERE seconds"},
      {"incumbent_ns", "experiment FROM judgement WHERE incumbent_ns"},
      {"candidate_ns", "experiment FROM judgement WHERE candidate_ns"},
      {"finished_at", "experiment FROM judgement WHERE finished_at"},
      {"campaign", "id FROM experiment WHERE campaign"},
      {"iteration", "id FROM experiment WHERE iteration"},
      {"idx", "id FROM experiment WHERE idx"},
      {"predicted_low", "id FROM experiment WHERE predicted_low"},
      {"predicted_high", "id FROM experiment WHERE predicted_high"},
      {"source_hash", "id FROM experiment WHERE candidate_source"},
      {"started_at", "id FROM experiment WHERE started_at"},
      {"code_hash", "experiment FROM build WHERE role = 'candidate' AND code_hash"},
      {"object_hash", "experiment FROM build WHERE role = 'candidate' AND object_hash"},
  };
  const auto found = kIndexed.find(column);
  return found == kIndexed.end() ? "" : found->second;
}

namespace {

// Of a configuration: there are few of them, so that reading them all costs little.
std::string of_configuration(std::string_view column) {
  static const std::map<std::string_view, std::string> kColumns = {
      {"variant", "x.candidate = c.id WHERE c.variant"},
      {"settings", "x.candidate = c.id WHERE c.settings"},
      {"candidate", "x.candidate = c.id WHERE c.label"},
      {"incumbent", "x.incumbent = c.id WHERE c.label"},
  };
  const auto found = kColumns.find(column);
  return found == kColumns.end() ? "" : "x.id FROM configuration c CROSS JOIN experiment x ON " + found->second;
}

// The index of sentence_index holds letters three by three, and folds more of them into one than '~' does.
bool is_long_ascii(const Cell& value) {
  const auto& text = std::get<std::string>(value);
  return text.size() >= 3 && std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

void find_in_sentences(Condition& condition, const Predicate& predicate) {
  if (!std::all_of(predicate.values.begin(), predicate.values.end(), is_long_ascii)) {
    return;
  }
  std::vector<std::string> phrases;
  Form matches;
  for (const Cell& value : predicate.values) {
    phrases.emplace_back("'\"' || replace(?, '\"', '\"\"') || '\"'");
    matches.values.push_back(bound(value));
  }
  matches.text = "SELECT rowid FROM sentence_index WHERE sentence_index MATCH " + join(phrases, " || ' OR ' || ");
  condition.probe = matches;
  condition.finds = {"id IN (" + matches.text + ") AND " + condition.tests.text,
                     values_of({&matches.values, &condition.tests.values})};
}

Condition plain_condition(const std::string& column, const Predicate& predicate) {
  // The sign keeps SQLite from the column's index.
  Condition condition{.finds = compared(column, predicate), .tests = compared("+" + column, predicate), .probe = {}};
  const bool contains = predicate.operation == Operator::contains;
  const std::string configurations = of_configuration(column);
  const std::string source = configurations.empty() && !contains ? indexed(column) : configurations;
  if (!source.empty()) {
    const std::size_t last = source.rfind(' ') + 1;
    condition.probe = compared(source.substr(last), predicate);
    condition.probe.text.insert(0, "SELECT " + source.substr(0, last));
  }
  if (!configurations.empty()) {
    condition.finds = {"id IN (" + condition.probe.text + ")", condition.probe.values};
  } else if (column == "sentence") {
    find_in_sentences(condition, predicate);
  }
  return condition;
}

Condition dated_condition(const std::string& column, Operator operation, const Predicate& predicate) {
  Predicate dated = predicate;
  dated.operation = operation;
  Condition condition = plain_condition(column, dated);
  for (Form* form : {&condition.finds, &condition.tests, &condition.probe}) {
    form->values = {bound(predicate.values.front())};  // those so far point into `dated`
  }
  return condition;
}

Condition workload_condition(const Predicate& predicate) {
  const Form of_class = compared("workload_class", predicate);
  const Form one = compared("workload", predicate);
  const std::vector<Value> both = values_of({&of_class.values, &one.values});
  const std::string found = " FROM experiment x WHERE x." + of_class.text;
  const std::string found_one = " FROM experiment_workload WHERE " + one.text;
  return {
      .finds = {"id IN (SELECT x.id" + found + " UNION ALL SELECT experiment" + found_one + ")", both},
      .tests = {"(+" + of_class.text + " OR EXISTS (SELECT 1" + found_one + " AND experiment = experiments.id))", both},
      .probe = {"SELECT 1" + found + " UNION ALL SELECT 1" + found_one, both}};
}

Condition technique_condition(const Predicate& predicate) {
  const Form one = compared("technique", predicate);
  const std::string found = " FROM experiment_technique WHERE " + one.text;
  return {.finds = {"id IN (SELECT experiment" + found + ")", one.values},
          .tests = {"EXISTS (SELECT 1" + found + " AND experiment = experiments.id)", one.values},
          .probe = {"SELECT 1" + found, one.values}};
}

Condition bottleneck_condition(const KeySpec& spec, const Predicate& predicate) {
  const Form one = compared("b." + std::string(spec.of_bottleneck), predicate);
  const std::string found = " FROM iteration_bottlenecks b WHERE " + one.text;
  return {
      .finds = {"iteration IN (SELECT b.iteration" + found + ")", one.values},
      .tests = {"EXISTS (SELECT 1" + found + " AND b.iteration = experiments.iteration)", one.values},
      .probe = {"SELECT 1 FROM iteration_bottlenecks b CROSS JOIN experiment x ON x.iteration = b.iteration WHERE " +
                    one.text,
                one.values}};
}

Condition machine_condition(const Predicate& predicate) {
  const Form model = compared("machine", predicate);
  const Form id = compared("machine_id", predicate);
  const Form either{"(" + model.text + " OR " + id.text + ")", values_of({&model.values, &id.values})};
  return {.finds = either, .tests = either, .probe = {}};
}

// The distinct values of a column that an index orders, one look at the index each.
struct Distinct {
  const char* table;
  const char* column;
};
std::vector<Distinct> distinct_of(const KeySpec& spec) {
  switch (spec.kind) {
    case KeyKind::technique:
      return {{"experiment_technique", "technique"}};
    case KeyKind::workload:
      return {{"experiment_workload", "workload"}, {"experiment", "workload_class"}};
    case KeyKind::bottleneck:
      return {spec.of_bottleneck == "name" ? Distinct{"bottleneck", "name"} : Distinct{"bottleneck_place", "file"}};
    case KeyKind::plain:
      break;
    default:
      return {};
  }
  if (spec.column == "source_hash") {
    return {{"experiment", "candidate_source"}};
  }
  if (spec.column == "object_hash" || spec.column == "code_hash") {
    return {{"build", spec.column.data()}};
  }
  return {};
}

constexpr int kMostDistinct = 20'000;  // some 20 ms
constexpr std::size_t kMostKnown = 500;

}  // namespace

Condition condition_of(const Predicate& predicate, const Cell* metric) {
  if (metric != nullptr) {
    return metric_condition(predicate, *metric);
  }
  const KeySpec& spec = *find_key(predicate.key);
  const std::string column(spec.column);
  switch (spec.kind) {
    case KeyKind::workload:
      return workload_condition(predicate);
    case KeyKind::technique:
      return technique_condition(predicate);
    case KeyKind::bottleneck:
      return bottleneck_condition(spec, predicate);
    case KeyKind::machine:
      return machine_condition(predicate);
    case KeyKind::since:
      return dated_condition(column, Operator::greater_equal, predicate);
    case KeyKind::until:
      return dated_condition(column, Operator::less_equal, predicate);
    case KeyKind::plain:
      break;
  }
  return plain_condition(column, predicate);
}

bool are_few(Database& database, const Condition& condition) {
  if (condition.probe.text.empty()) {
    return false;
  }
  std::vector<Value> values = condition.probe.values;
  values.emplace_back(kFewRows + 1);
  Statement row = database.query("SELECT count(*) FROM (" + condition.probe.text + " LIMIT ?)", values);
  row.step();
  return row.integer() <= kFewRows;
}

std::vector<Predicate> bounds_of_number(Database& database, const Predicate& predicate) {
  const bool is_start = predicate.key == "since" || predicate.key == "until" || predicate.key == "started_at";
  const bool equal = predicate.operation == Operator::equal;
  const bool above = predicate.key == "since" || predicate.operation == Operator::greater ||
                     predicate.operation == Operator::greater_equal;
  const bool below =
      predicate.key == "until" || predicate.operation == Operator::less || predicate.operation == Operator::less_equal;
  if (!is_start || above == below || (predicate.key == "started_at" && equal)) {
    return {};
  }
  Statement row = database.query(above ? "SELECT 4096 * min(block) FROM experiment_span WHERE latest >= ?"
                                       : "SELECT 4096 * max(block) + 4095 FROM experiment_span WHERE earliest <= ?",
                                 {bound(predicate.values.front())});
  row.step();
  const bool none = row.next_is_null();
  return {{.key = "id",
           .operation = none    ? Operator::less
                        : above ? Operator::greater_equal
                                : Operator::less_equal,
           .values = {row.integer()}}};
}

Predicate with_known_values(Database& database, const Predicate& predicate) {
  if (predicate.operation != Operator::contains) {
    return predicate;
  }
  Predicate known{.key = predicate.key, .operation = Operator::equal};
  const std::vector<Distinct> columns = distinct_of(*find_key(predicate.key));
  for (const Distinct& one : columns) {
    const std::string column = one.column;
    const std::string from = std::string(" FROM ") + one.table;
    std::vector<Value> values;
    const std::string contains = comparison("value", predicate, values);
    values.emplace_back(static_cast<std::int64_t>(kMostKnown));
    Statement rows = database.query(
        fmt::format("WITH RECURSIVE every(value, place) AS (SELECT min({0}), 1{1} UNION ALL SELECT (SELECT min({0}){1}"
                    " WHERE {0} > every.value), place + 1 FROM every WHERE every.value IS NOT NULL AND place < {2})"
                    " SELECT value, place FROM every WHERE place = {2} OR {3} LIMIT ?",
                    column, from, kMostDistinct, contains),
        values);
    while (rows.step()) {
      known.values.emplace_back(rows.text());
      if (rows.integer() == kMostDistinct || known.values.size() == kMostKnown) {
        return predicate;
      }
    }
  }
  if (columns.empty()) {
    return predicate;
  }
  return known;
}

}  // namespace apo
