// harness/worker/parent/child_process.h - owns a started worker: its socket, its output, its exit status.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/core/system/files.h"

namespace apo {

// Owns a process in a group of its own. Its fd 3 is our socket, and we collect its stdout and stderr. It is killed,
// with its whole group, when this object is destroyed. It also dies with the *thread* that started it, so that thread
// has to live on.
class ChildProcess {
 public:
  // Throws EnvironmentError when the program cannot be started. The environment is exactly the given one.
  ChildProcess(const std::vector<std::string>& argv, const std::vector<std::string>& environment);
  ~ChildProcess() { end(); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  enum class Event : std::uint8_t { message, exited, hung_up, deadline };
  // Waits for a message on the socket or for the end of the process, and collects its output meanwhile. Throws
  // Cancelled after a stop.
  Event wait(std::chrono::steady_clock::time_point deadline, const std::stop_token& stop = {});

  // Collects output until the process has ended. Returns false when it has not within `patience`.
  bool wait_for_exit(std::chrono::milliseconds patience);

  // Closes our end of the socket, which asks a worker in good order to end itself.
  void hang_up() { socket_.reset(); }

  // Stops all threads, so that shared memory does not change, and lets them continue.
  void freeze();
  void thaw() const;
  // False when it could not be stopped, or has continued or ended since, even if it stopped again.
  bool stayed_frozen() const;

  // Kills the group if it still exists. Returns the wait status, and the same one when called again. A process that a
  // driver holds is left behind after 30 s.
  int end();
  bool alive() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  int socket() const { return socket_.get(); }
  // The last kilobytes of its output.
  const std::string& printed() const { return printed_; }

 private:
  bool collect_output();  // false when nothing is there

  pid_t pid_ = -1;
  bool stopped_ = false;  // by the last freeze()
  int wait_status_ = 0;
  FileDescriptor pid_file_;  // readable when the process has ended
  FileDescriptor socket_;
  FileDescriptor output_;
  std::string printed_;
};

}  // namespace apo
