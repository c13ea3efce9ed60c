// harness/core/system/posix_spawn.h - posix_spawn with its file actions and attributes, in a process group, strings as
// exec and its relatives take them, pipes, and the end of a child.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/system/files.h"

namespace apo {

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};
Pipe make_pipe();  // neither end stays open in a program that is started
// Waits for the end of a child, and returns the status of waitpid().
int reap(pid_t process);

// Writes as much as fits and returns how much, or -1. A reader that is gone does not end us by SIGPIPE.
ssize_t write_without_sigpipe(int fd, std::string_view bytes);

// Into the strings, with the null that ends the list.
inline std::vector<char*> c_strings(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

// Errors are EnvironmentError: "cannot start WHAT: ...".
class PosixSpawn {
 public:
  // `group` is the one to join; 0: a new one.
  PosixSpawn(std::string what, pid_t group);
  PosixSpawn(const PosixSpawn&) = delete;
  PosixSpawn& operator=(const PosixSpawn&) = delete;
  ~PosixSpawn();

  // What the process does before the program begins, in this order.
  void redirect(int from, int to);
  void close_from(int first);
  void change_folder(const std::string& folder);

  void set_signal_mask(const sigset_t& mask);          // else as in this thread
  void set_default_signals(const sigset_t& defaults);  // what ignores a signal hands that on
  // `program` is a path. Returns once it runs.
  pid_t start(const std::string& program, std::vector<std::string> argv, std::vector<std::string> environment);
  // The same; returns the error, 0 of none.
  int try_start(const std::string& program, std::vector<std::string> argv, std::vector<std::string> environment,
                pid_t& pid);

 private:
  void require(int error) const;

  std::string what_;
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  int flags_ = POSIX_SPAWN_SETPGROUP;
};

}  // namespace apo
