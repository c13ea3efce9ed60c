// journal/query/sql.cpp - runs a person's SQL: one SELECT on a connection that can only read.
#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <memory>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "journal/implementation.h"
#include "journal/query/query_keys.h"

namespace apo {
namespace {

using Prepared = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

[[noreturn]] void refuse(sqlite3* handle, int status) {
  switch (status & 0xff) {
    case SQLITE_AUTH:
      throw UserError("that SQL may do more than read", "give one SELECT; a journal is never changed by hand");
    case SQLITE_INTERRUPT:
      throw UserError("the SQL took too long and was stopped", "add a LIMIT, or filter on an indexed column");
    case SQLITE_TOOBIG:
    case SQLITE_NOMEM:
      throw UserError("the SQL makes a value that is too large", "select less of it, for instance with substr()");
    default:
      throw UserError(std::string("SQL error: ") + sqlite3_errmsg(handle),
                      "'apo query --sql \"SELECT name FROM pragma_table_list\"' shows tables and views");
  }
}

Prepared prepare(sqlite3* handle, const char* sql, const char** tail) {
  sqlite3_stmt* statement = nullptr;
  const int status = sqlite3_prepare_v2(handle, sql, -1, &statement, tail);
  if (status != SQLITE_OK) {
    refuse(handle, status);
  }
  return Prepared(statement, &sqlite3_finalize);
}

Prepared prepare_only_one(sqlite3* handle, const std::string& sql) {
  if (sql.find('\0') != std::string::npos) {
    throw UserError("the SQL holds a zero byte", "give one SELECT");
  }
  const char* tail = sql.c_str();
  Prepared statement(nullptr, &sqlite3_finalize);
  while (*tail != '\0' && statement == nullptr) {  // skips leading comments and semicolons
    statement = prepare(handle, tail, &tail);
  }
  if (statement == nullptr) {
    throw UserError("there is no SQL in '" + sql + "'", "give one SELECT");
  }
  while (*tail != '\0') {
    if (prepare(handle, tail, &tail) != nullptr) {
      throw UserError("that is more than one SQL statement", "give one SELECT at a time");
    }
  }
  if (sqlite3_stmt_readonly(statement.get()) == 0) {
    refuse(handle, SQLITE_AUTH);
  }
  return statement;
}

Cell cell(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      return std::monostate();
    case SQLITE_INTEGER:
      return static_cast<std::int64_t>(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_BLOB:
      return fmt::format("blob of {} bytes", sqlite3_column_bytes(statement, column));
    default: {
      const auto* text = static_cast<const char*>(sqlite3_column_blob(statement, column));
      const int size = sqlite3_column_bytes(statement, column);
      return text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(size));
    }
  }
}

}  // namespace

void add_rows(Table& table, sqlite3_stmt* statement, std::size_t limit, const std::function<bool()>& step) {
  while (step()) {
    if (table.rows.size() == limit) {
      table.more = true;
      break;
    }
    std::vector<Cell>& row = table.rows.emplace_back();
    for (int column = 0; column < sqlite3_column_count(statement); ++column) {
      row.push_back(cell(statement, column));
    }
  }
}

Table run_sql(const std::filesystem::path& path, const std::string& sql, const SqlLimits& limits) {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                         std::chrono::duration<double>(limits.seconds));
  Journal journal = Journal::open(path, Access::read_only);
  sqlite3* const handle = database_of(journal).handle();
  restrict_to_reading(handle, deadline);
  const Prepared statement = prepare_only_one(handle, sql);
  Table table;
  for (int column = 0; column < sqlite3_column_count(statement.get()); ++column) {
    table.columns.emplace_back(sqlite3_column_name(statement.get(), column));
  }
  add_rows(table, statement.get(), limits.rows, [&] {
    const int status = sqlite3_step(statement.get());
    if (status != SQLITE_DONE && status != SQLITE_ROW) {
      refuse(handle, status);
    }
    return status == SQLITE_ROW;
  });
  return table;
}

}  // namespace apo
