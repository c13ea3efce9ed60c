// harness/fleet/connection.h - the process of one worker's command, and the lines to and from it.
#pragma once

#include <poll.h>

#include <chrono>
#include <string>
#include <vector>

#include "harness/core/system/subprocess.h"

namespace apo {

// Only end() waits. The process, and what it started here, ends with this object. When this program is killed its input
// ends, at which a worker ends: a command of a batch system then has the time to end its job as well.
class Connection {
 public:
  // `command` is for the shell. Throws EnvironmentError when there is no process to be had.
  explicit Connection(const std::string& command);

  // Waits until one of them can move something, at most so long.
  static void wait(const std::vector<Connection*>& connections, std::chrono::milliseconds longest);
  void send(const std::string& line);
  // Moves what can be moved now. Returns the lines that came in.
  std::vector<std::string> move();
  // The end of input, at which a worker ends.
  void hang_up() { process_.in().reset(); }
  pid_t pid() const { return process_.pid(); }
  bool is_over() const { return over_; }  // its output has ended
  // The last line of stderr, how it ended, or both. Ends the process, which may take half a second.
  std::string end();

 private:
  Subprocess process_;
  bool over_ = false;
};

}  // namespace apo
