// journal/schema/schema.cpp - the checks of a file's version, and the triggers that make facts append-only.
#include "journal/schema/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "journal_schema.h"

namespace apo {
namespace {

void execute(Database& database, const std::string& sql) {
  database.execute(sql.c_str());
}

}  // namespace

bool has_schema(Database& database) {
  // Another process may be filling the file: while this query is open, what follows reads the same state.
  Statement contents = database.query("SELECT count(*) FROM sqlite_schema");
  contents.step();
  const std::int64_t application = database.number("PRAGMA application_id");
  const std::int64_t version = database.number("PRAGMA user_version");
  const std::string name = "the file '" + database.path().string() + "'";
  if (application == 0 && version == 0 && contents.integer() == 0) {
    return false;
  }
  if (application != kApplicationId || version < 1) {
    throw UserError(name + " is an SQLite file of another program, not a journal", "name another file with --journal");
  }
  if (version != kSchemaVersion) {
    throw UserError(fmt::format("{} has schema version {}; this apo knows version {}", name, version, kSchemaVersion),
                    std::string(version > kSchemaVersion ? "update apo" : "read it with the apo that wrote it") +
                        ", or name another file with --journal");
  }
  return true;
}

void make_append_only(Database& database) {
  for (const std::string& table :
       database.texts("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")) {
    for (const std::string action : {"UPDATE", "DELETE"}) {
      execute(database, "CREATE TRIGGER IF NOT EXISTS " + table + "_no_" + action + " BEFORE " + action + " ON " +
                            table + " BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END");
    }
  }
}

namespace {

// Tables that came after the first journals of this version.
struct Added {
  const char* table;
  const char* sql;
};
constexpr Added kAdded[] = {{"wrong_case", kWrongCase},
                            {"scanned", kScanned},
                            {"scanned_by", kScannedBy},
                            {"profiled_launch", kProfiledLaunch}};

bool has(Database& database, const std::string& table) {
  return database.number("SELECT count(*) FROM sqlite_schema WHERE name = ?", {table}) > 0;
}

}  // namespace

void complete_for_reading(Database& database) {
  for (const auto& [table, sql] : kAdded) {
    if (!has(database, table)) {
      execute(database, "PRAGMA query_only = OFF");  // it means temporary tables too
      execute(database, replace_all(sql, "CREATE TABLE", "CREATE TEMP TABLE"));
      execute(database, "PRAGMA query_only = ON");
    }
  }
}

bool is_complete(Database& database) {
  return has_schema(database) &&
         std::ranges::all_of(kAdded, [&](const Added& one) { return has(database, one.table); });
}

void complete(Database& database) {
  Transaction transaction(database);
  if (!has_schema(database)) {  // another process may have been faster
    database.execute(kSchema);
  }
  for (const Added& one : kAdded) {
    database.execute(one.sql);
  }
  make_append_only(database);
  execute(database,
          fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kSchemaVersion));
  transaction.commit();
}

}  // namespace apo
