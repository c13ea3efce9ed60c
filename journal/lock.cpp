// journal/lock.cpp - takes the writer's lock and leaves our process id in it for the next one to name.
#include "journal/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace apo {
namespace {

std::string holder(int file) {
  char buffer[32] = {};
  const ssize_t size = pread(file, buffer, sizeof buffer - 1, 0);
  const auto pid = parse_int(trim(std::string_view(buffer, size > 0 ? static_cast<std::size_t>(size) : 0)));
  return pid ? "process " + std::to_string(*pid) : "another process";
}

}  // namespace

WriterLock::WriterLock(const std::filesystem::path& journal) {
  const std::string path = journal.string() + ".lock";
  file_ = FileDescriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file_) {
    throw UserError("cannot write the journal '" + journal.string() + "': '" + path + "': " + std::strerror(errno),
                    "make its folder writable, or name another file with --journal");
  }
  if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw UserError("the journal '" + journal.string() + "' is being written by " + holder(file_.get()),
                    "wait for it to end, stop it, or name another file with --journal");
  }
  const std::string pid = std::to_string(getpid()) + "\n";
  // The id only serves the message above: without room for it the lock still holds.
  [[maybe_unused]] const bool named =
      ftruncate(file_.get(), 0) == 0 && pwrite(file_.get(), pid.data(), pid.size(), 0) > 0;
}

}  // namespace apo
