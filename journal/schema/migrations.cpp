// journal/schema/migrations.cpp - the numbered steps, and the triggers that make facts append-only.
#include "journal/schema/migrations.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "journal_schema.h"

namespace apo {
namespace {

std::int64_t number(Database& database, std::string_view sql) {
  Statement statement = database.query(sql);
  return statement.step() ? statement.integer() : 0;
}

// After these words a step changes tables that an older file has, which stand-ins cannot do.
constexpr const char* kNotForStandIns = "not for stand-ins";

// All but what repeats facts for queries (schema_6.sql), with the tables in which SQLite keeps an index of text.
void make_append_only(Database& database) {
  std::vector<std::string> tables;
  Statement names = database.query(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
      " AND name NOT IN ('facet', 'facet_member', 'experiment_span') AND name NOT LIKE 'sentence_index%'");
  while (names.step()) {
    tables.push_back(names.text());
  }
  for (const std::string& table : tables) {
    for (const std::string action : {"UPDATE", "DELETE"}) {
      database.execute(("CREATE TRIGGER IF NOT EXISTS " + table + "_no_" + action + " BEFORE " + action + " ON " +
                        table + " BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END")
                           .c_str());
    }
  }
}

}  // namespace

std::span<const std::string> migrations() {
  static const std::string steps[] = {kSchema,   kSchema2,  kSchema3,  kSchema4,  kSchema5,  kSchema6,  kSchema7,
                                      kSchema8,  kSchema9,  kSchema10, kSchema11, kSchema12, kSchema13, kSchema14,
                                      kSchema15, kSchema16, kSchema17, kSchema18, kSchema19};
  return steps;
}

int checked_version(Database& database, int newest) {
  const std::int64_t application = number(database, "PRAGMA application_id");
  const std::int64_t version = number(database, "PRAGMA user_version");
  const std::string name = "the file '" + database.path().string() + "'";
  if (application == 0 && version == 0 && number(database, "SELECT count(*) FROM sqlite_schema") == 0) {
    return 0;
  }
  if (application != kApplicationId || version < 1) {
    throw UserError(name + " is an SQLite file of another program, not a journal", "name another file with --journal");
  }
  if (version > newest) {
    throw UserError(fmt::format("{} has schema version {}; this apo knows versions up to {}", name, version, newest),
                    "update apo, or name another file with --journal");
  }
  return static_cast<int>(version);
}

void stand_in_for(Database& database, std::span<const std::string> steps) {
  for (int version = checked_version(database, static_cast<int>(steps.size()));
       version < static_cast<int>(steps.size()); ++version) {
    std::string step = steps[static_cast<std::size_t>(version)];
    step.erase(std::min(step.find(kNotForStandIns), step.size()));
    step = replace_all(std::move(step), "CREATE TABLE ", "CREATE TEMP TABLE ");
    step = replace_all(std::move(step), "CREATE VIEW ", "CREATE TEMP VIEW ");
    step = replace_all(std::move(step), "CREATE VIRTUAL TABLE ", "CREATE VIRTUAL TABLE temp.");
    // References of a stand-in would lead to other stand-ins alone.
    database.execute(
        ("PRAGMA query_only = OFF; PRAGMA foreign_keys = OFF; " + step + "\n; PRAGMA query_only = ON;").c_str());
  }
}

void migrate(Database& database, std::span<const std::string> steps) {
  const int newest = static_cast<int>(steps.size());
  if (checked_version(database, newest) == newest) {
    return;
  }
  Transaction transaction(database);
  for (int version = checked_version(database, newest); version < newest; ++version) {
    database.execute(steps[static_cast<std::size_t>(version)].c_str());
  }
  make_append_only(database);
  database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, newest).c_str());
  transaction.commit();
}

}  // namespace apo
