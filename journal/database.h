// journal/database.h - an open SQLite file: prepared statements, bound values, transactions, errors a person can act
// on.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace apo {

inline constexpr std::chrono::milliseconds kPatience{10'000};  // with another process that writes
inline constexpr int kApplicationId = 0x41504F4A;              // "APOJ": marks an SQLite file as a journal

// A value to bind. NaN becomes NULL; a seed keeps its 64 bits.
class Value {
 public:
  Value(std::nullptr_t) : value_(nullptr) {}
  Value(bool value) : value_(std::int64_t{value}) {}
  Value(int value) : value_(std::int64_t{value}) {}
  Value(std::int64_t value) : value_(value) {}
  Value(std::uint64_t value) : value_(static_cast<std::int64_t>(value)) {}
  Value(double value) : value_(value) {}
  Value(std::string_view text) : value_(text) {}
  Value(const std::string& text) : value_(std::string_view(text)) {}
  Value(const char* text) : value_(std::string_view(text)) {}
  Value(std::optional<double> value) : value_(nullptr) {
    if (value) {
      value_ = *value;
    }
  }
  static Value blob(std::string_view bytes) {
    Value result(bytes);
    result.is_blob_ = true;
    return result;
  }
  // NULL for 0: ids start at 1.
  static Value reference(std::int64_t id) { return id == 0 ? Value(nullptr) : Value(id); }

 private:
  friend class Database;
  std::variant<std::nullptr_t, std::int64_t, double, std::string_view> value_;
  bool is_blob_ = false;
};

class Database;
using Columns = std::vector<std::pair<std::string_view, Value>>;  // by their names

// A running query. The readers take the current row's columns from left to right.
class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(Statement&&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  bool step();  // false when there are no more rows
  std::int64_t integer();
  int small() { return static_cast<int>(integer()); }
  bool boolean() { return integer() != 0; }
  double real();                          // NULL is NaN
  std::optional<double> optional_real();  // NULL is absent
  std::string text();                     // NULL is ""; blobs too
  bool next_is_empty() const;             // NULL or ""; reads nothing
  sqlite3_stmt* handle() { return statement_; }

 private:
  friend class Database;
  Statement(Database& database, sqlite3_stmt* statement) : database_(&database), statement_(statement) {}
  Database* database_;
  sqlite3_stmt* statement_;
  int column_ = 0;
};

enum class Access : std::uint8_t;  // of journal.h

class Database {
 public:
  // Creates the file where it may write one. Throws UserError when it cannot be opened so.
  Database(const std::filesystem::path& path, Access access);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // `sql` is a literal of ours, never text from outside; values are bound.
  Statement query(std::string_view sql, const std::vector<Value>& values = {});
  void run(std::string_view sql, const std::vector<Value>& values = {});
  std::int64_t insert_into(std::string_view table, const Columns& columns);  // the new row's id
  // The first value of the first row; 0 and "" where there is none.
  std::int64_t number(std::string_view sql, const std::vector<Value>& values = {});
  std::string text(std::string_view sql, const std::vector<Value>& values = {});
  // The first column of all rows.
  std::vector<std::string> texts(std::string_view sql, const std::vector<Value>& values = {});
  std::vector<std::int64_t> integers(std::string_view sql, const std::vector<Value>& values = {});
  void execute(const char* script);

  [[noreturn]] void fail();  // throws what the last SQLite error means to a person
  sqlite3* handle() { return handle_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  friend class Statement;
  sqlite3_stmt* prepare(std::string_view sql);
  void bind(sqlite3_stmt* statement, int index, const Value& value);

  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
  std::multimap<std::string, sqlite3_stmt*, std::less<>> idle_;  // prepared statements that nobody runs
};

// A shell command that saves what can be read of a damaged journal in recovered.db.
std::string recovery_command(const std::filesystem::path& path);

// For statements from outside: nothing but reading, no value beyond 64 MiB, and an end at the deadline, which has to
// outlive the statements.
void restrict_to_reading(sqlite3* handle, std::chrono::steady_clock::time_point& deadline);

// All or nothing: rolls back unless committed. Inside another one it is a savepoint.
class Transaction {
 public:
  explicit Transaction(Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  Database& database_;
  bool outermost_;
  bool open_ = true;
};

}  // namespace apo
