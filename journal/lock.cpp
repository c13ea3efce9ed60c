// journal/lock.cpp - locks bytes of <journal>.lock.
#include "journal/lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace apo {
namespace {

// The process id of who took a campaign stands at its place in the file.
constexpr off_t kPlace = 16;
constexpr off_t kExperiments = off_t{1} << 40;  // locked beyond the file's end: nothing stands there
constexpr off_t kJobs = off_t{1} << 41;         // the same

off_t place_of(Task what, std::int64_t id) {
  switch (what) {
    case Task::campaign:
      return kPlace * id;
    case Task::experiment:
      return kExperiments + id;
    case Task::job:
      return kJobs + id;
  }
  return 0;
}

std::string path_of(const std::filesystem::path& journal) {
  return journal.string() + ".lock";
}

std::string holder(int file, off_t place) {
  char buffer[kPlace + 1] = {};
  const ssize_t size = pread(file, buffer, kPlace, place);
  const auto pid = parse_int(trim(std::string_view(buffer, size > 0 ? std::strlen(buffer) : 0)));
  return pid ? fmt::format("process {}", *pid) : "another process";
}

// The id only serves messages: without room for it the locks still hold.
void leave_name(int file, off_t place) {
  std::string pid = std::to_string(getpid());
  pid.resize(kPlace - 1, ' ');
  pid += '\n';
  [[maybe_unused]] const ssize_t written = pwrite(file, pid.data(), pid.size(), place);
}

struct flock range_of(Task what, std::int64_t id) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = place_of(what, id);
  range.l_len = 1;
  return range;
}

}  // namespace

WriterLock::WriterLock(const std::filesystem::path& journal) {
  const std::string path = path_of(journal);
  file_ = FileDescriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file_) {
    throw UserError("cannot write the journal '" + journal.string() + "': '" + path + "': " + std::strerror(errno),
                    "make its folder writable, or name another file with --journal");
  }
}

bool WriterLock::take(Task what, std::int64_t id) {
  struct flock range = range_of(what, id);
  // Of the open file, not of the process: two journals open in one process are told apart too.
  if (fcntl(file_.get(), F_OFD_SETLK, &range) != 0) {
    if (errno == EAGAIN || errno == EACCES) {
      return false;
    }
    throw EnvironmentError(std::string("cannot lock a part of the journal's lock file: ") + std::strerror(errno),
                           "put the journal on a file system with locks, such as a local disk");
  }
  if (what == Task::campaign) {
    leave_name(file_.get(), place_of(what, id));
  }
  return true;
}

std::optional<std::string> who_works_on(const std::filesystem::path& journal, Task what, std::int64_t id) {
  const FileDescriptor file(open(path_of(journal).c_str(), O_RDONLY | O_CLOEXEC));
  struct flock range = range_of(what, id);
  if (!file || fcntl(file.get(), F_OFD_GETLK, &range) != 0 || range.l_type == F_UNLCK) {
    return std::nullopt;
  }
  return what == Task::campaign ? holder(file.get(), place_of(what, id)) : "another process";
}

}  // namespace apo
