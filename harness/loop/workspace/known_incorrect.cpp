// harness/loop/workspace/known_incorrect.cpp - looks for the newest experiment that found wrong results.
#include "harness/loop/workspace/known_incorrect.h"

#include <fmt/format.h>

#include "journal/query/queries.h"

namespace apo {

std::string known_incorrect(Journal& journal, const Variant& variant, const Configuration& configuration) {
  const Table found =
      run_query(journal, {.where = {{.key = "source_hash", .values = {variant.source_hash}},
                                    {.key = "candidate", .values = {configuration.label()}},
                                    {.key = "outcome", .values = {std::string(to_string(Outcome::incorrect))}},
                                    // An undecided one may have failed by its incumbent.
                                    {.key = "verdict", .values = {std::string(to_string(Verdict::reverted))}}},
                          .sort = {},
                          .columns = {"id"},
                          .limit = 1});
  return found.rows.empty() ? ""
                            : fmt::format("{} gave wrong results in experiment {}: 'apo show {}' has the evidence",
                                          configuration.label(), std::get<std::int64_t>(found.rows.front().front()),
                                          std::get<std::int64_t>(found.rows.front().front()));
}

}  // namespace apo
