// harness/core/system/spawn.h - starts a program in a process group of its own, with pipes to its three streams.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/system/files.h"

namespace apo {

struct SpawnOptions {
  std::string working_folder;            // empty = ours
  std::vector<std::string> environment;  // "NAME=value", added to ours
  // A guard ends it, and all that it started, when we die. Without one it learns of our death from the end of its input
  // alone, and ends as it sees fit.
  bool guarded = true;
};

// Our environment, with the additions in place of what has the same name.
std::vector<std::string> merged_environment(const std::vector<std::string>& additions);

// Leads a group of processes and kills it when this process dies.
class GroupGuard {
 public:
  GroupGuard();
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;
  ~GroupGuard();
  pid_t pid() const { return process_; }  // of the group too

 private:
  FileDescriptor lifeline_;  // its end tells of our death
  pid_t process_ = -1;
};

class SpawnedProcess {
 public:
  // `program` is an absolute path. Throws EnvironmentError when it cannot be started.
  SpawnedProcess(const std::string& program, const std::vector<std::string>& argv, const SpawnOptions& options);
  SpawnedProcess(const SpawnedProcess&) = delete;
  SpawnedProcess& operator=(const SpawnedProcess&) = delete;
  ~SpawnedProcess();

  // Ours, and not blocking.
  FileDescriptor& in() { return in_; }
  FileDescriptor& out() { return out_; }
  FileDescriptor& err() { return err_; }

  pid_t pid() const { return pid_; }
  // It and its guard, where there is one: the children of ours that it is known by.
  std::vector<pid_t> pids() const;
  // Of it and what it started.
  pid_t group() const { return guard_ ? guard_->pid() : pid_; }

  // Waits for its end, and ends what it left behind. Returns the status of waitpid(). With `now` it is killed first.
  int end(bool now);
  // The same, and kills it where it takes longer than that.
  int end_within(std::chrono::milliseconds patience);

 private:
  std::optional<GroupGuard> guard_;  // before its process: that has no moment without one
  pid_t pid_ = -1;
  FileDescriptor in_;
  FileDescriptor out_;
  FileDescriptor err_;
};

// Appends what a pipe that does not block has now, a few megabytes at most, so that others have their turn. False at
// its end.
bool drain(const FileDescriptor& pipe, std::string& text);

// Writes as much as fits and returns how much, or -1. A reader that is gone does not end us by SIGPIPE.
ssize_t write_without_sigpipe(int fd, std::string_view bytes);

}  // namespace apo
