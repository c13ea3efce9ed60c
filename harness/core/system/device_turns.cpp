// harness/core/system/device_turns.cpp - two lock bytes a CPU: one for the next waiter, one for the holder.
#include "harness/core/system/device_turns.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "harness/core/stopwatch.h"
#include "harness/core/text.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

// Where a CPU's byte for waiting stands, and that for measuring. Who measures wants its next turn from behind whoever
// waits. Nobody waits for a byte below one that it has, so that no circle of waiting is possible.
constexpr std::int64_t kWaiting = 0;
constexpr std::int64_t kMeasuring = std::int64_t{1} << 20;

std::chrono::milliseconds since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
}

bool is_mine(const fs::path& folder) {
  struct stat facts {};
  return lstat(folder.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == geteuid();
}

// "" or why there is no folder that belongs to this user.
std::string make_folder(const fs::path& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return "'" + folder.string() + "': " + std::strerror(errno);
  }
  return is_mine(folder) ? "" : "'" + folder.string() + "' is no folder of this user";
}

std::vector<LockedBytes> ranges_of(std::vector<int> cpus) {
  std::ranges::sort(cpus);
  std::vector<LockedBytes> ranges;
  for (const int cpu : cpus) {
    if (!ranges.empty() && ranges.back().first + ranges.back().count >= cpu) {
      ranges.back().count = cpu - ranges.back().first + 1;
    } else {
      ranges.push_back({.first = cpu});
    }
  }
  return ranges;
}

}  // namespace

fs::path runtime_folder() {
  const char* named = std::getenv("XDG_RUNTIME_DIR");
  const std::string user = std::to_string(geteuid());
  for (const fs::path& base : {fs::path(named == nullptr ? "" : named), fs::path("/run/user") / user}) {
    if (is_mine(base)) {
      return base / "apo";
    }
  }
  return fs::path("/tmp") / ("apo-" + user);  // not $TMPDIR, which a batch system makes another for each job
}

struct DeviceTurns::Wait {
  const Note& note;
  Clock::time_point start = Clock::now();
  bool noted = false;
};

DeviceTurns::DeviceTurns(fs::path folder, std::string device, const std::vector<int>& cpus, Patience patience)
    : folder_(std::move(folder)), device_(std::move(device)), ranges_(ranges_of(cpus)), patience_(patience) {}

void DeviceTurns::open() {
  if (!opened_) {
    opened_ = true;
    no_folder_ = make_folder(folder_);
    file_ = no_folder_.empty() ? LockFile(folder_ / ("turn-" + device_ + ".lock")) : LockFile();
  }
}

std::string DeviceTurns::trouble() const {
  return no_folder_.empty() ? file_.trouble() : no_folder_;
}

std::string DeviceTurns::who_has(LockedBytes bytes) const {
  const std::int64_t holder = file_.holder_of(bytes);
  return holder < 0 ? "another process" : file_.name_at(holder % kMeasuring * LockFile::kPlace);
}

bool DeviceTurns::lock(LockedBytes bytes, Wait& wait) {
  const auto left = [&](std::chrono::milliseconds until) {
    return std::max(until - since(wait.start), std::chrono::milliseconds(0));
  };
  if (impatient_) {
    return file_.try_lock(bytes);
  }
  if (!wait.noted && file_.lock_within(bytes, left(patience_.before_note))) {
    return true;
  }
  if (!wait.noted && file_.trouble().empty()) {
    wait.noted = true;
    wait.note("waiting for " + who_has(bytes) + ", which measures on " +
              (device_ == "host" ? "the same CPUs" : device_));
  }
  return file_.lock_within(bytes, left(patience_.most));
}

bool DeviceTurns::lock_all(std::int64_t offset, Wait& wait) {
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const LockedBytes bytes{.first = offset + ranges_[i].first, .count = ranges_[i].count};
    if (!lock(bytes, wait)) {
      while (i-- > 0) {
        file_.unlock({.first = offset + ranges_[i].first, .count = ranges_[i].count});
      }
      return false;
    }
  }
  return true;
}

void DeviceTurns::unlock_all(std::int64_t offset) {
  for (const LockedBytes& range : ranges_) {
    file_.unlock({.first = offset + range.first, .count = range.count});
  }
}

DeviceTurns::Turn DeviceTurns::take(const Note& listener) {
  const Note note = listener ? listener : [](const std::string&) {};
  open();
  Wait wait{.note = note};
  const bool next = lock_all(kWaiting, wait);
  const bool held = next && lock_all(kMeasuring, wait);
  if (next) {
    unlock_all(kWaiting);
  }
  const double waited_s = seconds_since(wait.start);
  if (held) {
    for (const LockedBytes& range : ranges_) {
      file_.leave_name(range.first * LockFile::kPlace);
    }
  } else if (!trouble().empty() && !told_trouble_) {
    told_trouble_ = static_cast<bool>(listener);
    note("other processes that measure here are not waited for, which makes the numbers of both noisier: " + trouble());
  } else if (trouble().empty() && !impatient_) {
    note("waited for " + format_seconds(waited_s) +
         " in vain: goes on beside the other process, whose numbers and ours get noisier");
  }
  impatient_ = !held && trouble().empty();
  return {held ? this : nullptr, waited_s};
}

DeviceTurns::Turn::~Turn() {
  if (turns_ != nullptr) {
    turns_->unlock_all(kMeasuring);
  }
}

}  // namespace apo
