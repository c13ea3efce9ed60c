// journal/database.cpp - the only calls that prepare, bind, step and close; each checks its return.
#include "journal/database.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <type_traits>

#include "harness/core/error.h"
#include "journal/journal.h"

namespace apo {
namespace {

// Only readers of a file that nobody can change may skip locks: its folder can't be written and it has no log.
std::string immutable_uri(const std::filesystem::path& path) {
  constexpr const char* kHex = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char character : std::filesystem::absolute(path).string()) {
    const auto byte = static_cast<unsigned char>(character);
    if (std::isalnum(byte) != 0 || character == '/' || character == '.' || character == '_' || character == '-') {
      uri += character;
    } else {
      uri += {'%', kHex[byte / 16], kHex[byte % 16]};
    }
  }
  return uri + "?immutable=1";
}

bool can_read_schema(sqlite3* handle) {
  return sqlite3_exec(handle, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr) == SQLITE_OK;
}

sqlite3* open_handle(const std::string& name, int flags) {
  sqlite3* handle = nullptr;
  if (sqlite3_open_v2(name.c_str(), &handle, flags | SQLITE_OPEN_EXRESCODE, nullptr) == SQLITE_OK) {
    sqlite3_busy_timeout(handle, static_cast<int>(kPatience.count()));
    return handle;
  }
  sqlite3_close(handle);
  return nullptr;
}

// Even a file in a folder where nobody can write.
sqlite3* open_read_only(const std::filesystem::path& path) {
  sqlite3* handle = open_handle(path.string(), SQLITE_OPEN_READONLY);
  if (handle == nullptr || can_read_schema(handle) || std::filesystem::exists(path.string() + "-wal")) {
    return handle;
  }
  sqlite3_close(handle);
  return open_handle(immutable_uri(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

// Readers open for writing where they may and then forbid it to themselves: only so does the last one to leave tidy up
// the files beside the journal, and only so can it replay the log of a killed writer.
sqlite3* open_for_reading(const std::filesystem::path& path) {
  sqlite3* handle = open_handle(path.string(), SQLITE_OPEN_READWRITE);
  if (handle != nullptr && sqlite3_db_readonly(handle, "main") == 0 && can_read_schema(handle)) {
    return handle;
  }
  const int why = handle == nullptr ? SQLITE_CANTOPEN : sqlite3_errcode(handle);
  if (why == SQLITE_CORRUPT || why == SQLITE_NOTADB) {
    return handle;
  }
  sqlite3_close(handle);
  return open_read_only(path);
}

// A temporary file dies with its process, and waits for the disk at no commit.
const char* safety_of(Access access) {
  return access == Access::read_only    ? "PRAGMA query_only = ON;"
         : access == Access::read_write ? "PRAGMA synchronous = FULL;"
                                        : "PRAGMA synchronous = OFF;";
}

constexpr int kStepsBetweenLooks = 10'000;
constexpr int kLargestValue = 64 << 20;

int only_reading(void*, int action, const char* first, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return second != nullptr && std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_UPDATE:  // what SQLite asks when it sets up json_each() or pragma_table_info(); a real one fails later
      return first != nullptr && std::string_view(first) == "sqlite_master" ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA: {  // those that describe the schema; the table-valued forms come here too
      const std::string_view name = first == nullptr ? "" : first;
      const bool describes = name == "table_info" || name == "table_xinfo" || name == "table_list" ||
                             name == "index_list" || name == "index_info" || name == "foreign_key_list";
      return describes || ((name == "user_version" || name == "data_version") && second == nullptr) ? SQLITE_OK
                                                                                                    : SQLITE_DENY;
    }
    default:
      return SQLITE_DENY;
  }
}

int past_deadline(void* deadline) {
  return std::chrono::steady_clock::now() > *static_cast<const std::chrono::steady_clock::time_point*>(deadline) ? 1
                                                                                                                 : 0;
}

}  // namespace

void restrict_to_reading(sqlite3* handle, std::chrono::steady_clock::time_point& deadline) {
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLargestValue);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_set_authorizer(handle, only_reading, nullptr);
  sqlite3_progress_handler(handle, kStepsBetweenLooks, past_deadline, &deadline);
}

// .recover would do more, but Debian's sqlite3 is built without what it needs. A dump goes on behind a damaged page,
// ends with ROLLBACK when it met one, and leaves out the two numbers that make the file a journal.
std::string recovery_command(const std::filesystem::path& path) {
  return "J=" + shell_word(path.string()) +
         "; { sqlite3 \"$J\" .dump | sed 's/^ROLLBACK.*/COMMIT;/'; echo \"PRAGMA application_id = " +
         std::to_string(kApplicationId) +
         "; PRAGMA user_version = $(sqlite3 \"$J\" 'PRAGMA user_version');\"; } | sqlite3 recovered.db";
}

Database::Database(const std::filesystem::path& path, Access access) : path_(path) {
  const bool reads = access == Access::read_only;
  handle_ = reads ? open_for_reading(path) : open_handle(path.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (handle_ == nullptr) {
    throw UserError("cannot open the journal '" + path.string() + "': " + std::strerror(errno),
                    "check the path and its permissions, or name another file with --journal");
  }
  if (!reads && sqlite3_db_readonly(handle_, "main") == 1) {
    sqlite3_close(handle_);
    throw UserError("the journal '" + path.string() + "' is read-only",
                    "make it writable with 'chmod u+w', or name another file with --journal");
  }
  try {
    // A journal may come from anywhere: its schema gets no power over this program.
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    execute("PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON; PRAGMA temp_store = MEMORY;");
    execute(safety_of(access));
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

Database::~Database() {
  for (const auto& [sql, statement] : idle_) {
    sqlite3_finalize(statement);
  }
  sqlite3_close(handle_);
}

sqlite3_stmt* Database::prepare(std::string_view sql) {
  if (const auto found = idle_.find(sql); found != idle_.end()) {
    sqlite3_stmt* statement = found->second;
    idle_.erase(found);
    return statement;
  }
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &statement,
                         nullptr) != SQLITE_OK) {
    fail();
  }
  return statement;
}

void Database::bind(sqlite3_stmt* statement, int index, const Value& value) {
  const int status = std::visit(
      [&](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::nullptr_t>) {
          return sqlite3_bind_null(statement, index);
        } else if constexpr (std::is_same_v<Held, std::int64_t>) {
          return sqlite3_bind_int64(statement, index, held);
        } else if constexpr (std::is_same_v<Held, double>) {
          return sqlite3_bind_double(statement, index, held);
        } else {
          const char* data = held.data() == nullptr ? "" : held.data();  // a null pointer would bind NULL
          return value.is_blob_
                     ? sqlite3_bind_blob64(statement, index, data, held.size(), SQLITE_TRANSIENT)
                     : sqlite3_bind_text64(statement, index, data, held.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
        }
      },
      value.value_);
  if (status != SQLITE_OK) {
    fail();
  }
}

Statement Database::query(std::string_view sql, const std::vector<Value>& values) {
  Statement result(*this, prepare(sql));
  APO_CHECK(static_cast<std::size_t>(sqlite3_bind_parameter_count(result.statement_)) == values.size());
  int index = 0;
  for (const Value& value : values) {
    bind(result.statement_, ++index, value);
  }
  return result;
}

void Database::run(std::string_view sql, const std::vector<Value>& values) {
  Statement statement = query(sql, values);
  while (statement.step()) {
  }
}

std::int64_t Database::insert_into(std::string_view table, const Columns& columns) {
  std::string names;
  std::string marks;
  std::vector<Value> values;
  for (const auto& [name, value] : columns) {
    names.append(names.empty() ? "" : ", ").append(name);
    marks += marks.empty() ? "?" : ", ?";
    values.push_back(value);
  }
  query("INSERT INTO " + std::string(table) + " (" + names + ") VALUES (" + marks + ")", values).step();
  return sqlite3_last_insert_rowid(handle_);
}

std::vector<std::string> Database::texts(std::string_view sql, const std::vector<Value>& values) {
  std::vector<std::string> result;
  for (Statement rows = query(sql, values); rows.step();) {
    result.push_back(rows.text());
  }
  return result;
}

std::vector<std::int64_t> Database::integers(std::string_view sql, const std::vector<Value>& values) {
  std::vector<std::int64_t> result;
  for (Statement rows = query(sql, values); rows.step();) {
    result.push_back(rows.integer());
  }
  return result;
}

std::int64_t Database::number(std::string_view sql, const std::vector<Value>& values) {
  Statement row = query(sql, values);
  return row.step() ? row.integer() : 0;
}

std::string Database::text(std::string_view sql, const std::vector<Value>& values) {
  Statement row = query(sql, values);
  return row.step() ? row.text() : "";
}

void Database::execute(const char* script) {
  if (sqlite3_exec(handle_, script, nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail();
  }
}

void Database::fail() {
  const int last_errno = errno;
  const int code = sqlite3_errcode(handle_) & 0xff;
  const int known_errno = sqlite3_system_errno(handle_);
  const int system_error = known_errno != 0 ? known_errno : last_errno;  // a failed COMMIT leaves it in errno only
  const std::string name = "the journal '" + path_.string() + "'";
  const std::string message = sqlite3_errmsg(handle_);
  const bool no_room = system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG;
  if (code == SQLITE_FULL || (code == SQLITE_IOERR && no_room)) {
    throw EnvironmentError(
        "no room left to write " + name,
        "free space on its disk, or name a journal on another one with --journal; every finished row is kept");
  }
  switch (code) {
    case SQLITE_NOTADB:
      throw UserError(name + " is not an SQLite file", "name another file with --journal, or move this one away");
    case SQLITE_CORRUPT:
      throw EnvironmentError(name + " is damaged: " + message,
                             "restore a copy, or save what can be read with:\n" + recovery_command(path_));
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      throw UserError("cannot write " + name + ": " + message,
                      "make the file and its folder writable, or name another file with --journal");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw UserError(name + " is being written by another program", "try again when it has finished");
    case SQLITE_IOERR:
      throw EnvironmentError("reading or writing " + name + " failed: " + std::strerror(system_error),
                             "check the disk that holds it");
    default:
      // A statement of ours that SQLite refuses: a broken constraint or our own bug.
      throw std::logic_error(name + ": " + message);
  }
}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)), column_(other.column_) {}

Statement::~Statement() {
  if (statement_ == nullptr) {
    return;
  }
  sqlite3_reset(statement_);  // repeats the error that step() has thrown already
  sqlite3_clear_bindings(statement_);
  database_->idle_.emplace(sqlite3_sql(statement_), statement_);
}

bool Statement::step() {
  column_ = 0;
  const int status = sqlite3_step(statement_);
  if (status != SQLITE_ROW && status != SQLITE_DONE) {
    database_->fail();
  }
  return status == SQLITE_ROW;
}

std::int64_t Statement::integer() {
  return sqlite3_column_int64(statement_, column_++);
}

double Statement::real() {
  return optional_real().value_or(std::numeric_limits<double>::quiet_NaN());
}

std::optional<double> Statement::optional_real() {
  const int column = column_++;
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) {
    return std::nullopt;
  }
  return sqlite3_column_double(statement_, column);
}

bool Statement::next_is_empty() const {
  const int type = sqlite3_column_type(statement_, column_);
  return type == SQLITE_NULL || (type == SQLITE_TEXT && sqlite3_column_bytes(statement_, column_) == 0);
}

std::string Statement::text() {
  const int column = column_++;
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr ? std::string()
                          : std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

Transaction::Transaction(Database& database)
    : database_(database), outermost_(sqlite3_get_autocommit(database.handle()) != 0) {
  database_.execute(outermost_ ? "BEGIN IMMEDIATE" : "SAVEPOINT step");
}

Transaction::~Transaction() {
  if (open_) {
    // A failed write may have rolled back by itself; then there is nothing left to undo.
    sqlite3_exec(database_.handle(), outermost_ ? "ROLLBACK" : "ROLLBACK TO step; RELEASE step", nullptr, nullptr,
                 nullptr);
  }
}

void Transaction::commit() {
  database_.execute(outermost_ ? "COMMIT" : "RELEASE step");
  open_ = false;
}

}  // namespace apo
