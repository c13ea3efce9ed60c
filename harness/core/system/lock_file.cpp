// harness/core/system/lock_file.cpp - locks byte ranges with open-file-description locks.
#include "harness/core/system/lock_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "harness/core/text.h"

namespace apo {
namespace {

// A process that waits disturbs whom it waits for this often.
constexpr std::chrono::milliseconds kBetweenTries{20};

struct flock range_of(LockedBytes bytes, short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = bytes.first;
  range.l_len = bytes.count;
  return range;
}

}  // namespace

LockFile::LockFile(const std::string& path, Opening opening)
    : file_(open(path.c_str(), O_CLOEXEC | O_NOFOLLOW | (opening == Opening::existing ? O_RDONLY : O_RDWR | O_CREAT),
                 0666)),
      path_(path) {
  trouble_ = file_ ? "" : "'" + path + "': " + std::strerror(errno);
}

bool LockFile::try_lock(LockedBytes bytes) {
  struct flock range = range_of(bytes, F_WRLCK);
  if (!file_ || fcntl(file_.get(), F_OFD_SETLK, &range) == 0) {
    return static_cast<bool>(file_);
  }
  if (errno != EAGAIN && errno != EACCES) {
    trouble_ = "'" + path_ + "' is on a file system without locks: " + std::strerror(errno);
  }
  return false;
}

bool LockFile::lock_within(LockedBytes bytes, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!try_lock(bytes)) {
    if (!trouble_.empty() || std::chrono::steady_clock::now() >= until) {
      return false;
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
  return true;
}

void LockFile::unlock(LockedBytes bytes) {
  struct flock range = range_of(bytes, F_UNLCK);
  if (file_ && fcntl(file_.get(), F_OFD_SETLK, &range) != 0) {
    file_.reset();  // closing frees all of them
    trouble_ = "'" + path_ + "' cannot be unlocked: " + std::strerror(errno);
  }
}

std::int64_t LockFile::holder_of(LockedBytes bytes) const {
  struct flock range = range_of(bytes, F_WRLCK);
  const bool held = file_ && fcntl(file_.get(), F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
  return held ? range.l_start : -1;
}

void LockFile::leave_name(std::int64_t place) const {
  std::string pid = std::to_string(getpid());
  pid.resize(kPlace - 1, ' ');
  pid += '\n';
  [[maybe_unused]] const ssize_t written = pwrite(file_.get(), pid.data(), pid.size(), place);
}

std::string LockFile::name_at(std::int64_t place) const {
  std::array<char, kPlace + 1> text{};
  const bool any = pread(file_.get(), text.data(), kPlace, place) > 0;
  const auto pid = parse_int(trim(any ? text.data() : ""));
  return pid ? fmt::format("process {}", *pid) : "another process";
}

}  // namespace apo
