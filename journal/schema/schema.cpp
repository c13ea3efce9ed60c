// journal/schema/schema.cpp - the checks of a file's version, the triggers that make facts append-only, and the
// upgrade.
#include "journal/schema/schema.h"

#include <fmt/format.h>

#include "harness/core/error.h"
#include "journal/schema/upgrade.h"
#include "journal_schema.h"

namespace apo {

int checked_version(Database& database) {
  const std::int64_t application = database.number("PRAGMA application_id");
  const std::int64_t version = database.number("PRAGMA user_version");
  const std::string name = "the file '" + database.path().string() + "'";
  if (application == 0 && version == 0 && database.number("SELECT count(*) FROM sqlite_schema") == 0) {
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
      database.execute(("CREATE TRIGGER IF NOT EXISTS " + table + "_no_" + action + " BEFORE " + action + " ON " +
                        table + " BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END")
                           .c_str());
    }
  }
}

void create_or_upgrade(Database& database) {
  if (checked_version(database) == kSchemaVersion) {
    return;
  }
  database.execute("PRAGMA foreign_keys = OFF");  // while rows move; a transaction can't switch it
  Transaction transaction(database);
  const int version = checked_version(database);  // another process may have been faster
  if (version == 0) {
    database.execute(kSchema);
  } else if (version < kSchemaVersion) {
    upgrade(database, kSchema);
  }
  make_append_only(database);
  database.execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kSchemaVersion).c_str());
  transaction.commit();
  database.execute("PRAGMA foreign_keys = ON");
}

}  // namespace apo
