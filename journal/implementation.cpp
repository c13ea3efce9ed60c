// journal/implementation.cpp - opens and checks a journal.
#include "journal/implementation.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/hash.h"
#include "harness/core/text.h"
#include "journal/schema/schema.h"

namespace apo {
namespace {

constexpr std::int64_t kOpening = std::int64_t{1} << 43;  // a byte of the lock file, beyond those of journal/lock.cpp
constexpr const char* kNameAnother = "name another file with --journal";

bool holds_something(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return !error && size > 0;
}

// SQLite itself finds out only later, and then speaks of the file as if it were damaged.
void check_header(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  char magic[16] = {};
  if (!file.is_open()) {
    throw UserError("cannot read the journal '" + path.string() + "'",
                    std::string("check its permissions, or ") + kNameAnother);
  }
  if (!file.read(magic, sizeof magic) ||
      std::string_view(magic, sizeof magic) != std::string_view("SQLite format 3\0", 16)) {
    throw UserError("'" + path.string() + "' is not a journal: it is not an SQLite file", kNameAnother);
  }
}

void check_path(const std::filesystem::path& path, Access access) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) {
    throw UserError("the journal '" + path.string() + "' is a folder",
                    "name a file, such as '" + (path / "journal.db").string() + "'");
  }
  if (!std::filesystem::exists(status)) {
    if (access == Access::read_only) {
      throw UserError("there is no journal '" + path.string() + "'",
                      "'apo run' writes one; --journal or APO_JOURNAL names another");
    }
    return;
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw UserError("the journal '" + path.string() + "' is not a regular file", kNameAnother);
  }
  if (!holds_something(path)) {  // what a kill leaves that came before the first write
    if (access == Access::read_only) {
      throw UserError("the journal '" + path.string() + "' is empty", "'apo run' fills it");
    }
    return;
  }
  check_header(path);
  if (access == Access::read_write) {
    // Looked at as a reader first, so that a file that is not ours is left as it is.
    Database database(path, Access::read_only);
    has_schema(database);
  }
}

void check_filled(Database& database, const std::filesystem::path& path) {
  if (!has_schema(database)) {
    throw UserError("the journal '" + path.string() + "' was never filled",
                    "run a command that writes to it once, such as 'apo run --journal " + path.string() + "'");
  }
  complete_for_reading(database);
}

std::filesystem::path prepared(const std::filesystem::path& path, Access access) {
  if (path.empty()) {
    throw UserError("the journal has no path", "name a file with --journal");
  }
  std::error_code error;
  std::filesystem::path whole = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  if (error) {
    throw UserError("the journal's path '" + path.string() + "' leads nowhere: " + error.message(), kNameAnother);
  }
  check_path(whole, access);
  if (access == Access::read_write) {
    std::filesystem::create_directories(whole.parent_path(), error);
    if (error) {
      throw UserError("cannot create the folder '" + whole.parent_path().string() + "': " + error.message(),
                      std::string("make it writable, or ") + kNameAnother);
    }
  }
  return whole;
}

std::int64_t job_of_this_process() {
  const char* job = std::getenv("APO_JOB");
  return job == nullptr ? 0 : parse_int(job).value_or(0);
}

std::optional<LockFile> lock_for(const std::filesystem::path& path, Access access) {
  return access == Access::read_only ? std::nullopt : std::optional(writer_lock(path));
}

// A new file is whole before its mode changes: whoever looks at it sees nothing or a journal. One process at a time:
// SQLite refuses a second one that changes the mode at once, without patience.
void fill(Database& database, LockFile& lock, const std::string& mode) {
  if (is_complete(database) && database.text("PRAGMA journal_mode") == mode) {
    return;
  }
  const bool alone = lock.lock_within({.first = kOpening}, kPatience);
  complete(database);
  database.text("PRAGMA journal_mode = " + mode);
  if (alone) {
    lock.unlock({.first = kOpening});
  }
}

}  // namespace

int newest_journal_schema() {
  return kSchemaVersion;
}

std::string time_or_now(const std::string& time) {
  return time.empty() ? utc_now() : time;
}

Journal::Implementation::Implementation(const std::filesystem::path& file, Access access)
    : path(prepared(file, access)), lock(lock_for(path, access)), database(path, access), job(job_of_this_process()) {
  if (access == Access::read_only) {
    check_filled(database, path);
  } else {
    fill(database, *lock, access == Access::read_write ? "wal" : "memory");
  }
}

Journal::Journal(std::unique_ptr<Implementation> self) : self_(std::move(self)) {}
Journal::Journal(Journal&& other) noexcept = default;
Journal& Journal::operator=(Journal&& other) noexcept = default;
Journal::~Journal() = default;

Journal Journal::open(const std::filesystem::path& path, Access access) {
  if (access != Access::read_only && !guards_off().empty()) {
    throw UserError("a journal takes nothing from a program with guards switched off",
                    "leave --ablate away, or give 'apo compare' --no-journal");
  }
  return Journal(std::make_unique<Implementation>(path, access));
}

const std::filesystem::path& Journal::path() const {
  return self_->path;
}

Journal::Batch::Batch(Journal& journal) : transaction_(std::make_unique<Transaction>(journal.self_->database)) {}
Journal::Batch::~Batch() = default;
void Journal::Batch::commit() {
  transaction_->commit();
}

void Journal::write_compact_copy(const std::filesystem::path& path) {
  // Most tables of a small journal are empty, and each takes a page.
  self_->database.execute("PRAGMA page_size = 512");
  self_->database.run("VACUUM INTO ?", {path.string()});
}

std::vector<std::string> Journal::check_integrity() {
  std::vector<std::string> findings;
  Statement check = self_->database.query("PRAGMA quick_check");
  while (check.step()) {
    if (std::string finding = check.text(); finding != "ok") {
      findings.push_back(std::move(finding));
    }
  }
  if (!findings.empty()) {
    return findings;  // what follows could stumble over the same damage
  }
  Statement orphans = self_->database.query("SELECT \"table\", rowid, parent FROM pragma_foreign_key_check");
  while (orphans.step()) {
    const std::string table = orphans.text();
    const std::int64_t row = orphans.integer();
    findings.push_back(fmt::format("{} row {} refers to a missing row of {}", table, row, orphans.text()));
  }
  Statement blobs = self_->database.query("SELECT sha256, bytes FROM blob");
  while (blobs.step()) {
    const std::string hash = blobs.text();
    if (sha256(blobs.text()) != hash) {
      findings.push_back("blob " + hash + " holds other bytes than its address says");
    }
  }
  return findings;
}

}  // namespace apo
