// journal/query/query_keys.h - the storage of each query key, for parsing and running.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "journal/query/queries.h"

namespace apo {

enum class KeyKind : std::uint8_t {
  plain,       // a column of the view
  workload,    // the class or one of the workloads
  technique,   // one of the techniques
  bottleneck,  // one of those of its iteration
  machine,     // model or id
  since,       // a bound on started_at
  until,
};

struct KeySpec {
  QueryKey key;
  KeyKind kind = KeyKind::plain;
  std::string_view column;                   // of the view `experiments`; also what sort= and columns= take
  std::vector<std::string_view> words = {};  // the only values, where there are only some
  std::string_view of_bottleneck = {};       // the column of the view `iteration_bottlenecks`
};

const std::vector<KeySpec>& key_specs();
const KeySpec* find_key(std::string_view name);

constexpr std::string_view kMetricPrefix = "metric:";

}  // namespace apo
