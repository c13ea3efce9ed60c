// harness/core/system/temporary_folder.cpp - removes temporary folders with their owner, and those of killed programs.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <system_error>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

// The sticky bit means nothing on a folder that only its owner can enter, so it can say: one of ours, with a lock. It
// is set while the lock is held, so that a folder that bears it and is not locked has lost its owner, however young it
// is. Folders of other programs, and of people, do not have it, whatever they are called.
constexpr mode_t kLockable = S_ISVTX | S_IRWXU;
// A start must not become slow in a temporary folder that is very full; the next one goes on.
constexpr int kMostEntries = 100'000;
constexpr int kMostRemoved = 64;

FileDescriptor open_folder(const fs::path& path) {
  return FileDescriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// "apo.x0Y1z2" or "apo-worker.x0Y1z2".
bool is_ours_by_name(std::string_view name) {
  constexpr std::size_t kSuffix = 7;
  if (!name.starts_with("apo") || name.size() < 3 + kSuffix || name[name.size() - kSuffix] != '.') {
    return false;
  }
  const std::string_view word = name.substr(3, name.size() - kSuffix - 3);
  const std::string_view drawn = name.substr(name.size() - kSuffix + 1);
  return (word.empty() || word.front() == '-') &&
         std::all_of(drawn.begin(), drawn.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
}

bool is_lockable_and_mine(const struct stat& status) {
  return S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 07777) == kLockable;
}

// Whoever holds the lock is the only one who may remove the folder. It may have been removed while this one waited to
// open it, and its name may be another's by now.
bool is_still(const fs::path& path, const struct stat& opened) {
  struct stat now {};
  return lstat(path.c_str(), &now) == 0 && now.st_dev == opened.st_dev && now.st_ino == opened.st_ino;
}

bool removed_if_abandoned(const fs::path& path) {
  const FileDescriptor folder = open_folder(path);
  struct stat status {};
  if (!folder || fstat(folder.get(), &status) != 0 || !is_lockable_and_mine(status) ||
      flock(folder.get(), LOCK_EX | LOCK_NB) != 0 || !is_still(path, status)) {
    return false;
  }
  std::error_code error;
  fs::remove_all(path, error);  // follows no symbolic links; what cannot be removed harms nobody
  return true;
}

fs::path place_of_temporary_folders() {
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  if (error) {
    const char* given = nullptr;
    for (const char* name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {  // as temp_directory_path() asks
      given = given == nullptr ? std::getenv(name) : given;
    }
    throw EnvironmentError("the folder for temporary files, '" + std::string(given == nullptr ? "/tmp" : given) +
                               "', cannot be used: " + error.message(),
                           "set TMPDIR to a folder that can be written");
  }
  // Workers are told paths as JSON, and what they have loaded is looked up in lists of one path a line.
  const std::string path = fs::absolute(place).string();
  if (!is_utf8(path) || path.find('\n') != std::string::npos) {
    throw EnvironmentError("the folder for temporary files, '" + path + "', has a name with a line break or no UTF-8",
                           "set TMPDIR to a folder with another name");
  }
  return path;
}

}  // namespace

TemporaryFolder::TemporaryFolder(std::string_view prefix) {
  const fs::path place = place_of_temporary_folders();
  static std::once_flag first;
  std::call_once(first, [&place] { remove_abandoned_folders(place); });

  std::string name = (place / (std::string(prefix) + ".XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) {
    throw EnvironmentError("cannot create a temporary folder '" + name + "': " + std::strerror(errno),
                           "set TMPDIR to a folder that can be written");
  }
  path_ = name;
  lock_ = open_folder(path_);
  // Where folders cannot be locked (NFS) nobody may conclude anything from that: this one is never collected.
  if (lock_ && flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) {
    static_cast<void>(fchmod(lock_.get(), kLockable));  // where it fails the folder outlives a killed program
  }
}

TemporaryFolder::~TemporaryFolder() {
  if (!path_.empty()) {
    std::error_code error;
    fs::remove_all(path_, error);  // best effort: a leftover in the temporary folder harms nobody
  }
}

// Programs that a killed one started are no owners: they inherit no lock (O_CLOEXEC). Workers and compilers die with
// it, and what a profiled application leaves running records for nobody.
void remove_abandoned_folders(const fs::path& place) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(place.c_str()), closedir);
  int removed = 0;
  for (int seen = 0; entries && seen < kMostEntries && removed < kMostRemoved; ++seen) {
    const dirent* entry = readdir(entries.get());
    if (entry == nullptr) {
      break;
    }
    if (is_ours_by_name(entry->d_name) && removed_if_abandoned(place / entry->d_name)) {
      ++removed;
    }
  }
}

}  // namespace apo
