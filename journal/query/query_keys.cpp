// journal/query/query_keys.cpp - the table of query keys.
#include "journal/query/query_keys.h"

#include <algorithm>

#include "harness/core/records/records.h"

namespace apo {
namespace {

using Type = ColumnType;

template <class Enum>
std::vector<std::string_view> words_of(Enum last) {
  std::vector<std::string_view> words;
  for (int value = 0; value <= static_cast<int>(last); ++value) {
    words.push_back(to_string(static_cast<Enum>(value)));
  }
  return words;
}

std::vector<KeySpec> make_key_specs() {
  const auto text = [](std::string_view name, std::string_view meaning, std::string_view column = "") {
    return KeySpec{{name, Type::text, meaning}, KeyKind::plain, column.empty() ? name : column, {}};
  };
  const auto integer = [](std::string_view name, std::string_view meaning, std::string_view column = "") {
    return KeySpec{{name, Type::integer, meaning}, KeyKind::plain, column.empty() ? name : column, {}};
  };
  const auto real = [](std::string_view name, std::string_view meaning) {
    return KeySpec{{name, Type::real, meaning}, KeyKind::plain, name, {}};
  };
  const auto one_of = [](std::string_view name, std::string_view meaning, std::vector<std::string_view> words) {
    return KeySpec{{name, Type::text, meaning}, KeyKind::plain, name, std::move(words)};
  };
  const auto of_bottleneck = [](std::string_view name, Type type, std::string_view meaning, std::string_view stored,
                                std::string_view column, std::vector<std::string_view> words = {}) {
    return KeySpec{{name, type, meaning}, KeyKind::bottleneck, column, std::move(words), stored};
  };
  const auto special = [](std::string_view name, std::string_view meaning, KeyKind kind, std::string_view column) {
    return KeySpec{{name, Type::text, meaning}, kind, column, {}};
  };
  return {
      integer("id", "the experiment's number"),
      integer("campaign", "its campaign"),
      integer("iteration", "its iteration's number in the journal"),
      integer("index", "its place among the campaign's candidates", "idx"),
      text("family", "the kernel family"),
      special("workload", "one of its workloads, or their class", KeyKind::workload,
              "(SELECT group_concat(workload, ',') FROM (SELECT workload FROM experiment_workload w"
              " WHERE w.experiment = experiments.id ORDER BY position))"),
      text("class", "the workload class", "workload_class"),
      text("variant", "the candidate's variant, family/name"),
      text("settings", "its parameters, as JSON"),
      text("candidate", "its variant with parameters"),
      special("technique", "one of its techniques", KeyKind::technique, "techniques"),
      text("incumbent", "what it was judged against"),
      of_bottleneck("bottleneck", Type::text, "one of the bottlenecks that its iteration found", "name",
                    "(SELECT group_concat(name, ',') FROM (SELECT name FROM bottleneck b"
                    " WHERE b.iteration = experiments.iteration ORDER BY position))"),
      of_bottleneck("bottleneck_kind", Type::text, "how one of them is to be read", "kind",
                    "(SELECT group_concat(kind, ',') FROM (SELECT kind FROM iteration_bottlenecks b"
                    " WHERE b.iteration = experiments.iteration ORDER BY position))",
                    words_of(BottleneckKind::remainder)),
      of_bottleneck("bottleneck_file", Type::text, "the source file that one of them is sampled at", "file",
                    "(SELECT file FROM iteration_bottlenecks b WHERE b.iteration = experiments.iteration"
                    " AND file IS NOT NULL ORDER BY position LIMIT 1)"),
      of_bottleneck("bottleneck_line", Type::integer, "the line that one of them is sampled at", "line",
                    "(SELECT line FROM iteration_bottlenecks b WHERE b.iteration = experiments.iteration"
                    " AND line IS NOT NULL ORDER BY position LIMIT 1)"),
      one_of("outcome", "what happened to the candidate", words_of(Outcome::unstable_clock)),
      one_of("verdict", "the judge's decision", words_of(Verdict::inconclusive)),
      one_of("reason", "why, as a word", words_of(Reason::interrupted)),
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
      text("preset", "the judge's preset", "profile"),
      text("profile", "the same, as it was called before"),
      text("cache_policy", "cold or warm"),
      text("judge", "version of the judge's rule"),
      special("machine", "its model or its id", KeyKind::machine, "machine"),
      text("source_hash", "sha256 of the candidate's source"),
      text("object_hash", "sha256 of the candidate's object file"),
      text("code_hash", "sha256 of the candidate's machine code"),
      special("since", "started at or after this date, 2026-01-31 or 2026-01-31T12:00:00Z", KeyKind::since,
              "started_at"),
      special("until", "started before or at this date", KeyKind::until, "started_at"),
      text("started_at", "start, ISO 8601 UTC"),
      text("finished_at", "end, ISO 8601 UTC"),
      one_of("state", "how far it came", {"finished", "running", "abandoned"}),
      text("sentence", "the verdict in words"),
  };
}

}  // namespace

const std::vector<KeySpec>& key_specs() {
  static const std::vector<KeySpec> specs = make_key_specs();
  return specs;
}

const KeySpec* find_key(std::string_view name) {
  const auto& specs = key_specs();
  const auto found =
      std::find_if(specs.begin(), specs.end(), [&](const KeySpec& spec) { return spec.key.name == name; });
  return found == specs.end() ? nullptr : &*found;
}

const std::vector<QueryKey>& query_keys() {
  static const std::vector<QueryKey> keys = [] {
    std::vector<QueryKey> result;
    for (const KeySpec& spec : key_specs()) {
      result.push_back(spec.key);
    }
    result.push_back({"metric:NAME", Type::real, "a build resource or a profiled metric of the candidate"});
    return result;
  }();
  return keys;
}

}  // namespace apo
