// journal/schema/schema.cpp - the checks of a file's version, the triggers that make facts append-only, and the
// upgrade from version 19: columns get today's words, tables that only added columns to another one become columns of
// it, and comparisons of both kinds rows of one table.
#include "journal/schema/schema.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "journal_schema.h"

namespace apo {
namespace {

// A column that version 19 had under another name or in another table; `o` is the old row.
struct Moved {
  const char* column;  // TABLE.COLUMN
  const char* from;
};

constexpr Moved kMoved[] = {
    {"campaign.preset", "judge_profile"},
    {"campaign.layout", "(SELECT nullif(layout, '') FROM old_campaign_layout WHERE campaign = o.id)"},
    {"profile.conditions", "coalesce((SELECT conditions FROM old_profile_condition WHERE profile = o.id), '')"},
    {"bottleneck.kind",
     "(SELECT kind FROM old_bottleneck_place p WHERE p.iteration = o.iteration AND p.position = o.position)"},
    {"bottleneck.file",
     "(SELECT nullif(file, '') FROM old_bottleneck_place p WHERE p.iteration = o.iteration AND p.position = "
     "o.position)"},
    {"bottleneck.line",
     "(SELECT nullif(line, 0) FROM old_bottleneck_place p WHERE p.iteration = o.iteration AND p.position = "
     "o.position)"},
    {"ranking.prediction_source",
     "(SELECT prediction_source FROM old_ranking_kind k WHERE k.iteration = o.iteration AND k.left_out = o.left_out"
     " AND k.position = o.position)"},
    {"ranking.left_out_kind",
     "(SELECT left_out_kind FROM old_ranking_kind k WHERE k.iteration = o.iteration AND k.left_out = o.left_out"
     " AND k.position = o.position)"},
    {"experiment.prediction_source", "(SELECT source FROM old_experiment_prediction WHERE experiment = o.id)"},
    {"certification.incumbent", "champion"},
    {"certification_clock.solo_run_s", "segment_s"},
    {"sentinel.preset", "profile"},
    {"judgement.preset", "profile"},
    {"selftest.preset", "judge_profile"},
    {"selftest_comparison.sentence",
     "coalesce((SELECT sentence FROM old_selftest_evidence WHERE comparison = o.id), '')"},
    {"selftest_comparison.calls", "(SELECT calls FROM old_selftest_evidence WHERE comparison = o.id)"},
    {"selftest_comparison.blocks", "(SELECT blocks FROM old_selftest_evidence WHERE comparison = o.id)"},
    {"selftest_comparison.several_cpus", "(SELECT several_cpus FROM old_selftest_evidence WHERE comparison = o.id)"},
    {"selftest_kernel.preset", "profile"},
    {"round.comparison", "NULL"},
    {"round.runs", "NULL"},
};

std::string old_name(const std::string& table) {
  return "old_" + (table == "certification_solo_run" ? "certification_segment" : table);
}

std::vector<std::string> columns_of(Database& database, const std::string& table) {
  return database.texts("SELECT name FROM pragma_table_info(?)", {table});
}

std::string source_of(const std::string& table, const std::string& column) {
  const auto moved = std::ranges::find_if(kMoved, [&](const Moved& one) { return table + "." + column == one.column; });
  return moved == std::end(kMoved) ? "o." + column : moved->from;
}

void execute(Database& database, const std::string& sql) {
  database.execute(sql.c_str());
}

// What the program itself created, not SQLite: names of one type of sqlite_schema, in the order of their creation.
std::vector<std::string> names_of(Database& database, const std::string& type) {
  return database.texts("SELECT name FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite%' ORDER BY rowid",
                        {type});
}

// In the caller's transaction, with foreign keys off.
void upgrade(Database& database) {
  execute(database, "DROP TABLE sentence_index");  // with the tables that hold it
  for (const std::string type : {"view", "trigger", "index"}) {
    for (const std::string& name : names_of(database, type)) {
      execute(database, "DROP " + type + " " + name);
    }
  }
  const std::vector<std::string> old_tables = names_of(database, "table");
  for (const std::string& table : old_tables) {
    execute(database, "ALTER TABLE " + table + " RENAME TO old_" + table);
  }
  database.execute(kSchema);
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);  // what is over may come first
  for (const std::string& table : names_of(database, "table")) {
    if (table.starts_with("old_") || table.starts_with("comparison")) {
      continue;
    }
    const std::vector<std::string> columns = columns_of(database, table);
    std::vector<std::string> sources;
    std::ranges::transform(columns, std::back_inserter(sources),
                           [&](const std::string& column) { return source_of(table, column); });
    execute(database, "INSERT INTO " + table + " (" + join(columns, ", ") + ") SELECT " + join(sources, ", ") +
                          " FROM " + old_name(table) + " o");
  }
  database.execute(kComparisonsOf19);
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 1, nullptr);
  for (const std::string& table : old_tables) {
    execute(database, "DROP TABLE old_" + table);
  }
}

}  // namespace

int checked_version(Database& database) {
  // Another process may be filling the file: while this query is open, what follows reads the same state.
  Statement contents = database.query("SELECT count(*) FROM sqlite_schema");
  contents.step();
  const std::int64_t application = database.number("PRAGMA application_id");
  const std::int64_t version = database.number("PRAGMA user_version");
  const std::string name = "the file '" + database.path().string() + "'";
  if (application == 0 && version == 0 && contents.integer() == 0) {
    return 0;
  }
  if (application != kApplicationId || version < 1) {
    throw UserError(name + " is an SQLite file of another program, not a journal", "name another file with --journal");
  }
  if (version > kSchemaVersion) {
    throw UserError(
        fmt::format("{} has schema version {}; this apo knows versions up to {}", name, version, kSchemaVersion),
        "update apo, or name another file with --journal");
  }
  if (version < kOldestUpgraded) {
    throw UserError(
        fmt::format("{} has schema version {}; this apo upgrades versions from {} on", name, version, kOldestUpgraded),
        "run a command that writes, such as 'apo try', with the release before this one, which upgrades older "
        "ones; then this apo can");
  }
  return static_cast<int>(version);
}

void make_append_only(Database& database) {
  for (const std::string& table : names_of(database, "table")) {
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
constexpr Added kAdded[] = {{"wrong_case", kWrongCase}, {"scanned", kScanned}, {"profiled_launch", kProfiledLaunch}};

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
  return checked_version(database) == kSchemaVersion &&
         std::ranges::all_of(kAdded, [&](const Added& one) { return has(database, one.table); });
}

void create_or_upgrade(Database& database) {
  database.execute("PRAGMA foreign_keys = OFF");  // while rows move; a transaction can't switch it
  Transaction transaction(database);
  const int version = checked_version(database);  // another process may have been faster
  if (version == 0) {
    database.execute(kSchema);
  } else if (version < kSchemaVersion) {
    upgrade(database);
  }
  for (const Added& one : kAdded) {
    database.execute(one.sql);
  }
  make_append_only(database);
  execute(database,
          fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kSchemaVersion));
  transaction.commit();
  database.execute("PRAGMA foreign_keys = ON");
}

}  // namespace apo
