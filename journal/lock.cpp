// journal/lock.cpp - who works on what: locked bytes of <journal>.lock, which the system frees when their holder dies.
#include "harness/core/error.h"
#include "journal/implementation.h"

namespace apo {
namespace {

// A campaign is locked at its place in the file, where the process id of who took it stands.
constexpr std::int64_t kExperiments = std::int64_t{1} << 40;  // locked beyond the file's end: nothing stands there
constexpr std::int64_t kJobs = std::int64_t{1} << 41;         // the same
constexpr std::int64_t kComparisons = std::int64_t{1} << 42;  // the same

std::int64_t byte_of(Task what, std::int64_t id) {
  switch (what) {
    case Task::campaign:
      return LockFile::kPlace * id;
    case Task::experiment:
      return kExperiments + id;
    case Task::job:
      return kJobs + id;
    case Task::comparison:
      return kComparisons + id;
  }
  return 0;
}

std::string path_of(const std::filesystem::path& journal) {
  return journal.string() + ".lock";
}

}  // namespace

LockFile writer_lock(const std::filesystem::path& journal) {
  LockFile lock(path_of(journal));
  if (!lock.trouble().empty()) {
    throw UserError("cannot write the journal '" + journal.string() + "': " + lock.trouble(),
                    "make its folder writable, or name another file with --journal");
  }
  return lock;
}

// Two journals open in one process are told apart too.
bool try_take(Journal& journal, Task what, std::int64_t id) {
  std::optional<LockFile>& lock = journal.implementation().lock;
  if (!lock->try_lock({.first = byte_of(what, id)})) {
    if (!lock->trouble().empty()) {
      throw EnvironmentError("cannot lock a part of the journal's lock file: " + lock->trouble(),
                             "put the journal on a file system with locks, such as a local disk");
    }
    return false;
  }
  if (what == Task::campaign) {
    lock->leave_name(byte_of(what, id));
  }
  return true;
}

void take(Journal& journal, Task what, std::int64_t id) {
  if (!try_take(journal, what, id)) {
    throw std::logic_error("what was just begun is taken");
  }
}

std::optional<std::string> holder_of(Journal& journal, Task what, std::int64_t id) {
  const LockFile file(path_of(journal.path()), LockFile::Opening::existing);
  const std::int64_t byte = byte_of(what, id);
  if (file.holder_of({.first = byte}) < 0) {
    return std::nullopt;
  }
  return what == Task::campaign ? file.name_at(byte) : "another process";
}

}  // namespace apo
