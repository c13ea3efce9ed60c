// journal/compact.cpp - the only place that changes facts: what it drops, no other row refers to.
#include "harness/core/error.h"
#include "journal/encode.h"
#include "journal/implementation.h"
#include "journal/schema/schema.h"

namespace apo {
namespace {

std::int64_t changes(Database& database) {
  return database.number("SELECT changes()");
}

// The offset is that of the most frequent instruction: with one max() the other columns are of its row.
constexpr const char* kSumByLine =
    "CREATE TEMP TABLE line_sample AS SELECT profile, row_number() OVER (PARTITION BY profile ORDER BY total DESC,"
    " kernel, file, line, stall) - 1 AS position, kernel, pc_offset, file, line, stall, total FROM"
    " (SELECT profile, kernel, pc_offset, file, line, stall, sum(samples) AS total, max(samples) FROM stall_sample"
    " GROUP BY profile, kernel, file, line, stall)";

// Returns the number of rows that went.
std::int64_t sum_by_line(Database& database) {
  database.execute(kSumByLine);
  database.run("DELETE FROM stall_sample");
  const std::int64_t before = changes(database);
  database.run(
      "INSERT INTO stall_sample (profile, position, kernel, pc_offset, file, line, stall, samples)"
      " SELECT profile, position, kernel, pc_offset, file, line, stall, total FROM line_sample");
  const std::int64_t after = changes(database);
  database.execute("DROP TABLE line_sample");
  return before - after;
}

std::int64_t drop_samples(Database& database) {
  const std::string none = encode_samples({}, {});
  database.run("UPDATE round_workload SET samples = ? WHERE samples <> ?", {Value::blob(none), Value::blob(none)});
  return changes(database);
}

std::int64_t size(Database& database) {
  return database.number("PRAGMA page_count") * database.number("PRAGMA page_size");
}

// A file with a log keeps the size of its pages. Whoever opens it for writing next gives it a log again.
void leave_log(Database& database) {
  Statement mode = database.query("PRAGMA journal_mode = DELETE");
  if (!mode.step() || mode.text() != "delete") {
    throw UserError("another process has the journal '" + database.path().string() + "' open",
                    "try again when it has finished");
  }
}

}  // namespace

Compacted compact(Journal& journal) {
  Database& database = database_of(journal);
  Compacted done{.bytes_before = size(database)};
  leave_log(database);
  Transaction transaction(database);
  database.execute("DROP TRIGGER round_workload_no_UPDATE; DROP TRIGGER stall_sample_no_DELETE");
  done.rounds = drop_samples(database);
  done.sampled_rows = sum_by_line(database);
  make_append_only(database);
  transaction.commit();
  database.execute(
      "PRAGMA page_size = 512; VACUUM");  // most tables of a small journal are empty, and each takes a page
  done.bytes_after = size(database);
  return done;
}

}  // namespace apo
