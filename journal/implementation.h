// journal/implementation.h - the members of a Journal, and the steps that several of its files share.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/records/records.h"
#include "harness/core/system/lock_file.h"
#include "journal/database.h"
#include "journal/journal.h"

namespace apo {

// Work that only one process may do at a time, with all that belongs to it. An experiment is one outside campaigns.
enum class Task : std::uint8_t { campaign, experiment, job, comparison };

LockFile writer_lock(const std::filesystem::path& journal);  // throws UserError

struct Journal::Implementation {
  Implementation(const std::filesystem::path& file, Access access);

  std::filesystem::path path;
  std::optional<LockFile> lock;  // of a writer; before the database: freed after it is closed
  Database database;
  std::int64_t job = 0;                                       // whose command this process is; 0: of none
  std::map<std::string, std::int64_t, std::less<>> machines;  // the state that this process added, by Machine::id
};

inline Database& database_of(Journal& journal) {
  return journal.implementation().database;
}

std::int64_t machine_row(Journal& journal, const std::string& id);  // throws std::logic_error for an unknown machine
std::int64_t configuration_row(Journal& journal, const Configuration& configuration);
Configuration load_configuration(Journal& journal, std::int64_t row);
std::int64_t toolchain_row(Journal& journal, const Toolchain& toolchain);
std::string add_blob(Journal& journal, std::string_view kind, std::string_view bytes);  // its sha256
std::string load_blob(Journal& journal, const std::string& sha256);
// Of that owner: "experiment", "certification", "sentinel" or "comparison".
void add_round_of(Journal& journal, std::string_view owner, std::int64_t id, const Round& round);
std::vector<Round> rounds_of(Journal& journal, std::string_view owner, std::int64_t id);
// Until this journal is closed. False when another process has it.
bool try_take(Journal& journal, Task what, std::int64_t id);
void take(Journal& journal, Task what, std::int64_t id);  // what this process has just begun
// "process 4711" that has taken it and lives; nullopt when nobody has.
std::optional<std::string> holder_of(Journal& journal, Task what, std::int64_t id);
// JSON list of the keys of the machine and of those that have judged for one campaign together with it: they are of
// one model, and share incumbents and memory.
std::string peers_of(Journal& journal, const std::string& machine);
std::vector<std::string> workloads_of(Journal& journal, std::int64_t experiment);

// The value of a word that a column holds. Throws UserError for one that only a newer apo writes.
template <class Enum>
Enum known(std::optional<Enum> value, const std::string& word) {
  if (!value) {
    throw UserError("the journal holds the word '" + word + "', which this apo does not know", "update apo");
  }
  return *value;
}

std::string time_or_now(const std::string& time);
// Hashes all facts of a machine's state.
std::string machine_fingerprint(const Machine& machine);

}  // namespace apo
