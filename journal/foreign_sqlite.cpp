// journal/foreign_sqlite.cpp - opens a read-only connection, with a deadline, to a file that may hold anything.
#include "journal/foreign_sqlite.h"

#include <sqlite3.h>

#include <chrono>
#include <map>
#include <memory>

#include "harness/core/error.h"
#include "journal/database.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::minutes(5);
constexpr std::int64_t kMostNs = 10'000'000'000'000'000;  // as in a recording: sums cannot overflow

// Another program's database.
class Foreign {
 public:
  explicit Foreign(const std::filesystem::path& path)
      : path_(path), handle_(open_read_only(path), &sqlite3_close), deadline_(Clock::now() + kPatience) {
    if (handle_ == nullptr) {
      throw UserError("cannot read '" + path.string() + "'", "check the path and its permissions");
    }
    sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    restrict_to_reading(handle_.get(), deadline_);
  }

  // Calls row(statement) for every row. `sql` is ours, whatever the file holds.
  template <class Action>
  void each(const std::string& sql, const Action& row) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &made, nullptr) != SQLITE_OK) {
      fail();
    }
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(made, &sqlite3_finalize);
    int status = sqlite3_step(made);
    for (; status == SQLITE_ROW; status = sqlite3_step(made)) {
      row(made);
    }
    if (status != SQLITE_DONE) {
      fail();
    }
  }

  // A real table: a view could do anything.
  bool has_table(const std::string& name) {
    bool found = false;
    each("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '" + name + "'", [&](auto*) { found = true; });
    return found;
  }
  bool has_column(const std::string& table, const std::string& column) {
    bool found = false;
    each("SELECT instr(lower(sql), lower('" + column + "')) FROM sqlite_schema WHERE name = '" + table + "'",
         [&](sqlite3_stmt* row) { found = found || sqlite3_column_int64(row, 0) > 0; });
    return found;
  }

  [[noreturn]] void fail(const std::string& what = "") {
    const int code = sqlite3_errcode(handle_.get()) & 0xff;
    const std::string name = "'" + path_.string() + "'";
    if (what.empty() && code == SQLITE_INTERRUPT) {
      throw UserError("reading " + name + " took more than five minutes", "export a shorter capture");
    }
    throw UserError(name + " is no SQLite export of Nsight Systems: " +
                        (what.empty() ? std::string(sqlite3_errmsg(handle_.get())) : what),
                    "make one with 'nsys export --type sqlite REPORT.nsys-rep'");
  }

 private:
  std::filesystem::path path_;
  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> handle_;
  Clock::time_point deadline_;
};

std::string text_of(sqlite3_stmt* row, int column) {
  const void* bytes = sqlite3_column_blob(row, column);
  const int size = sqlite3_column_bytes(row, column);
  return bytes == nullptr ? std::string()
                          : std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

// Name, calls, total, shortest, longest, bytes: what one statement's rows have in common.
void add_work(Foreign& file, ProcessTimes& process, WorkKind kind, const std::string& sql) {
  std::int64_t sum_ns = 0;
  file.each(sql, [&](sqlite3_stmt* row) {
    GpuWork work{.kind = kind,
                 .name = kind == WorkKind::copy   ? copy_name(sqlite3_column_int64(row, 0))
                         : kind == WorkKind::fill ? "memset"
                                                  : text_of(row, 0),
                 .calls = sqlite3_column_int64(row, 1),
                 .total_ns = sqlite3_column_int64(row, 2),
                 .min_ns = sqlite3_column_int64(row, 3),
                 .max_ns = sqlite3_column_int64(row, 4),
                 .bytes = sqlite3_column_int64(row, 5)};
    if (work.total_ns < 0 || work.total_ns > kMostNs - sum_ns || work.bytes < 0) {
      file.fail("its times and sizes are beyond reason");
    }
    sum_ns += work.total_ns;
    work.name = work.name.empty() ? "(no name)" : work.name;
    process.work.push_back(std::move(work));
  });
}

constexpr const char* kSums = ", count(*), sum(\"end\" - start), min(\"end\" - start), max(\"end\" - start), ";
constexpr const char* kTimed =
    " WHERE typeof(start) = 'integer' AND typeof(\"end\") = 'integer' AND start >= 0"
    " AND \"end\" >= start";

struct Source {
  WorkKind kind;
  const char* table;
};
constexpr Source kSources[] = {{WorkKind::kernel, "CUPTI_ACTIVITY_KIND_KERNEL"},
                               {WorkKind::copy, "CUPTI_ACTIVITY_KIND_MEMCPY"},
                               {WorkKind::fill, "CUPTI_ACTIVITY_KIND_MEMSET"}};

std::string sums_of(Foreign& file, const Source& source) {
  const std::string from = std::string(" FROM ") + source.table;
  if (source.kind == WorkKind::copy) {
    return std::string("SELECT copyKind") + kSums + "sum(bytes)" + from + kTimed + " GROUP BY copyKind";
  }
  if (source.kind == WorkKind::fill) {
    return std::string("SELECT ''") + kSums + "sum(bytes)" + from + kTimed + " HAVING count(*) > 0";
  }
  const std::string name = file.has_column(source.table, "demangledName") ? "demangledName" : "shortName";
  return "SELECT (SELECT value FROM StringIds WHERE id = " + name + ")" + kSums + "0" + from + kTimed + " GROUP BY " +
         name;
}

void add_devices(Foreign& file, ProcessTimes& process, const std::string& intervals) {
  std::map<std::int64_t, GpuTimeline> devices;
  file.each("SELECT * FROM (" + intervals + ") ORDER BY 2", [&](sqlite3_stmt* row) {
    const std::int64_t start = sqlite3_column_int64(row, 1);
    const std::int64_t end = sqlite3_column_int64(row, 2);
    if (end > kMostNs * 500) {
      file.fail("its times are beyond reason");
    }
    devices[sqlite3_column_int64(row, 0) & 0xff].add(start, end);
  });
  for (const auto& [device, timeline] : devices) {
    process.devices.push_back(timeline.busy());
    process.devices.back().device = static_cast<int>(device);
  }
}

}  // namespace

bool is_sqlite(std::string_view beginning) {
  using namespace std::string_view_literals;
  return beginning.starts_with("SQLite format 3\0"sv);
}

ApplicationProfile read_nsys(const std::filesystem::path& path) {
  Foreign file(path);
  if (!file.has_table("StringIds")) {
    file.fail("it has no table StringIds");
  }
  ApplicationProfile profile{.source = "nsys", .command = path.string()};
  ProcessTimes process{.complete = true};
  std::string intervals;
  for (const Source& source : kSources) {
    if (!file.has_table(source.table)) {
      continue;  // Nsight Systems makes a table only when it has rows for it
    }
    add_work(file, process, source.kind, sums_of(file, source));
    file.each(std::string("SELECT count(*) FROM ") + source.table,
              [&](sqlite3_stmt* row) { process.untimed += sqlite3_column_int64(row, 0); });
    intervals += (intervals.empty() ? "" : " UNION ALL ") + std::string("SELECT deviceId, start, \"end\" FROM ") +
                 source.table + kTimed;
  }
  if (intervals.empty()) {
    file.fail("it has no table of kernels, copies or fills; was CUDA traced ('nsys profile --trace cuda')?");
  }
  for (const GpuWork& work : process.work) {
    process.untimed -= work.calls;
  }
  add_devices(file, process, intervals);
  if (file.has_table("TARGET_INFO_GPU") && file.has_column("TARGET_INFO_GPU", "name")) {
    file.each("SELECT name FROM TARGET_INFO_GPU LIMIT 1", [&](sqlite3_stmt* row) { profile.device = text_of(row, 0); });
  }
  profile.processes.push_back(std::move(process));
  return profile;
}

}  // namespace apo
