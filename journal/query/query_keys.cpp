// journal/query/query_keys.cpp - the tables of query keys.
#include "journal/query/query_keys.h"

#include <algorithm>
#include <utility>

#include "harness/core/records/records.h"

namespace apo {
namespace {

using Type = ColumnType;

KeySpec text(std::string_view name, std::string_view meaning, std::string_view column = "") {
  return {.key = {name, Type::text, meaning}, .column = column.empty() ? name : column};
}
KeySpec integer(std::string_view name, std::string_view meaning, std::string_view column = "") {
  return {.key = {name, Type::integer, meaning}, .column = column.empty() ? name : column};
}
KeySpec real(std::string_view name, std::string_view meaning) {
  return {.key = {name, Type::real, meaning}, .column = name};
}
KeySpec one_of(std::string_view name, std::string_view meaning, std::vector<std::string> words) {
  return {.key = {name, Type::text, meaning}, .column = name, .words = std::move(words)};
}
KeySpec member(std::string_view name, std::string_view meaning, std::string_view column,
               std::vector<std::string_view> selects, std::vector<std::string> words = {}) {
  return {
      .key = {name, Type::text, meaning}, .column = column, .words = std::move(words), .members = std::move(selects)};
}
KeySpec machine(std::string_view meaning) {
  return {.key = {"machine", Type::text, meaning}, .column = "machine", .also = "machine_id"};
}
KeySpec since(std::string_view column) {
  return text("since", "started at or after this date, 2026-01-31 or 2026-01-31T12:00:00Z", column);
}
KeySpec until(std::string_view column) {
  return text("until", "started before or at this date", column);
}
KeySpec metric(std::vector<std::string_view> selects) {
  return {.key = {"metric:NAME", Type::real, "a build resource or a profiled metric of the candidate"},
          .column = "",
          .members = std::move(selects)};
}

}  // namespace

const std::vector<KeySpec>& key_specs() {
  static const std::vector<KeySpec> keys = {
      integer("id", "the experiment's number"),
      integer("campaign", "its campaign"),
      integer("iteration", "its iteration's number in the journal"),
      integer("index", "its place among the campaign's candidates", "idx"),
      text("family", "the kernel family"),
      member("workload", "one of its workloads, or their class", "workloads",
             {"SELECT experiment FROM experiment_workload WHERE workload",
              "SELECT id FROM experiment WHERE workload_class"}),
      text("class", "the workload class", "workload_class"),
      text("variant", "the candidate's variant, family/name"),
      text("settings", "its parameters, as JSON"),
      text("candidate", "its variant with parameters"),
      member("technique", "one of its techniques", "techniques",
             {"SELECT experiment FROM experiment_technique WHERE technique"}),
      text("incumbent", "what it was judged against"),
      member("bottleneck", "one of the bottlenecks that its iteration found", "bottlenecks",
             {"SELECT e.id FROM bottleneck b JOIN experiment e ON e.iteration = b.iteration WHERE b.name"}),
      member("bottleneck_kind", "how one of them is to be read", "bottleneck_kinds",
             {"SELECT e.id FROM bottleneck b JOIN experiment e ON e.iteration = b.iteration WHERE b.kind"},
             words_of<BottleneckKind>()),
      member("bottleneck_file", "the source file that one of them is sampled at", "bottleneck_file",
             {"SELECT e.id FROM bottleneck b JOIN experiment e ON e.iteration = b.iteration WHERE b.file"}),
      {.key = {"bottleneck_line", Type::integer, "the line that one of them is sampled at"},
       .column = "bottleneck_line",
       .members = {"SELECT e.id FROM bottleneck b JOIN experiment e ON e.iteration = b.iteration WHERE b.line"}},
      one_of("outcome", "what happened to the candidate", words_of<Outcome>()),
      one_of("verdict", "the judge's decision", words_of<Verdict>()),
      one_of("reason", "why, as a word", words_of<Reason>()),
      real("speedup", "time of the incumbent / time of the candidate"),
      real("lower", "lower end of the speed-up's interval"),
      real("upper", "upper end of the speed-up's interval"),
      real("predicted_low", "lower end of the predicted speed-up"),
      real("predicted_high", "upper end of the predicted speed-up"),
      integer("rounds", "valid rounds of the stage that counts"),
      integer("samples", "timed samples over all stages"),
      real("seconds", "what the judgement took"),
      real("incumbent_ns", "median time of one call of the incumbent"),
      real("candidate_ns", "median time of one call of the candidate"),
      text("preset", "the judge's preset"),
      text("cache_policy", "cold or warm"),
      text("judge", "version of the judge's rule"),
      machine("its model or its id"),
      text("source_hash", "sha256 of the candidate's source"),
      text("object_hash", "sha256 of the candidate's object file"),
      text("code_hash", "sha256 of the candidate's machine code"),
      since("started_at"),
      until("started_at"),
      text("started_at", "start, ISO 8601 UTC"),
      text("finished_at", "end, ISO 8601 UTC"),
      one_of("state", "how far it came", {"finished", "running", "abandoned"}),
      text("sentence", "the verdict in words"),
      metric({"SELECT experiment FROM build_resource WHERE role = 'candidate' AND name = ? AND value",
              "SELECT x.id FROM metric m JOIN profile p ON p.id = m.profile"
              " JOIN experiment x ON x.candidate = p.configuration AND x.machine = p.machine"
              " AND (p.source IS NULL OR p.source = x.candidate_source) WHERE m.name = ? AND m.value"}),
  };
  return keys;
}

const KeySpec* find_key(std::string_view name) {
  const bool is_metric = name.starts_with(kMetricPrefix) && name.size() > kMetricPrefix.size();
  const auto found = std::ranges::find_if(key_specs(), [&](const KeySpec& spec) {
    return spec.key.name == (is_metric ? std::string_view("metric:NAME") : name);
  });
  return found == key_specs().end() ? nullptr : &*found;
}

const std::vector<QueryKey>& query_keys() {
  static const std::vector<QueryKey> keys = [] {
    std::vector<QueryKey> result;
    for (const KeySpec& spec : key_specs()) {
      result.push_back(spec.key);
    }
    return result;
  }();
  return keys;
}

}  // namespace apo
