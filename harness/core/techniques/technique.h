// harness/core/techniques/technique.h - a technique: the bottlenecks that it attacks, its cost, its effect elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/json/fields.h"
#include "kernels/family.h"

namespace apo {

struct Technique {
  std::string name;
  std::optional<Target> target;       // nullopt: both
  std::vector<std::string> attacks;   // names of bottlenecks (rules.h)
  std::vector<std::string> families;  // that it is known of, whose axes `requires` may name; empty: any
  std::string
      requires_expression;    // over axes and the facts of requirement_facts(); empty: nothing that can be computed
  std::string precondition;   // the rest of it, for people
  int cost = 1;               // effort to write it: 1 hours, 2 a day, 3 days
  bool tensor_cores = false;  // products run on tensor cores, and no longer on vectors
  std::vector<std::string> excludes;   // techniques that it can't be combined with
  std::vector<std::string> builds_on;  // techniques that it changes, and is nothing without
  // The speed-up that adding it gave or is expected to give, and the source of that: "E88 journal: ..." for a number of
  // a document in docs/sources.md, "derived: ..." for one that follows from the work counts.
  double low = 1.0;
  double high = 1.0;
  std::string source;
  bool operator==(const Technique&) const = default;
};
// By the keys of techniques.json.
template <RecordOf<Technique> Whole, class Visitor>
void visit_fields(Whole& one, const Visitor& visitor) {
  visit_members(
      "name, target, attacks, families, requires, precondition, cost, tensor_cores, excludes, builds_on, low, high,"
      " source",
      visitor, one.name, one.target, one.attacks, one.families, one.requires_expression, one.precondition, one.cost,
      one.tensor_cores, one.excludes, one.builds_on, one.low, one.high, one.source);
}

}  // namespace apo
