// harness/core/system/subprocess.h - a program in a process group of its own, with pipes to its three streams that
// never block, and how it ended.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/core/system/orphans.h"
#include "harness/core/system/supervisor.h"

namespace apo {

struct ProcessResult {
  int exit_code = -1;      // when it exited
  int signal = 0;          // when a signal ended it
  bool timed_out = false;  // we ended it at its deadline
  std::string output;      // stdout
  std::string error;       // stderr
  double seconds = 0;      // from the start until it had ended
  bool cut = false;        // it printed more than is kept
  bool stopped = false;    // we ended it because of what it printed
  int left_behind = 0;     // processes that outlived it and were ended
  bool ok() const { return exit_code == 0 && signal == 0 && !timed_out; }
  // What it has to say about its end.
  const std::string& printed() const { return error.empty() ? output : error; }
};
// The exit code and the signal of what waitpid() says.
ProcessResult ended_with(int wait_status);

struct SpawnOptions {
  std::string working_folder;            // empty = ours
  std::vector<std::string> environment;  // "NAME=value", added to ours
  // A guard ends it, and all that it started, when we die. Without one it learns of our death from the end of its input
  // alone, and ends as it sees fit.
  bool guarded = true;
  // It belongs with all that it starts, in whatever session, and has ended when the last of them has: a supervisor
  // takes the place of the guard. No other thread may start processes meanwhile.
  bool supervised = false;
  std::optional<std::string> input = {};  // all of it: it lies there when the program starts, as far as a pipe holds it
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

class Subprocess {
 public:
  // `program` is an absolute path. Throws EnvironmentError when it cannot be started.
  Subprocess(const std::string& program, const std::vector<std::string>& argv, const SpawnOptions& options);
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;
  ~Subprocess();

  // Queues text for its input, and the end of it. in() is closed where nobody reads it any more.
  void send(std::string_view text);
  void close_input();
  // Adds what move() can do something about.
  void watch(std::vector<pollfd>& descriptors) const;
  // Moves what can be moved now, with so many reads of each output at most, so that others have their turn. What came
  // in is appended to `output` and `errors`, from which the caller takes it.
  void move(int most_reads = 64);
  // The same after a wait for something to move, or with `or_end` for its end; at most so long.
  void move_within(double longest_s, bool or_end = false, int most_reads = 64);
  bool has_ended();  // it itself, whatever holds its outputs open
  // All that belongs with it, too. Waits at most so long for that.
  bool all_ended_within(std::chrono::milliseconds patience);
  bool is_silent() const { return !out_ && !err_; }  // its outputs have ended
  double seconds() const;                            // since its start
  std::string output;
  std::string errors;

  // Ours, and not blocking.
  FileDescriptor& in() { return in_; }
  FileDescriptor& out() { return out_; }
  FileDescriptor& err() { return err_; }

  pid_t pid() const { return pid_; }
  // Of it and what it started.
  pid_t group() const { return guard_ ? guard_->pid() : pid_; }

  // Waits for its end, and ends what it left behind. Returns the status of waitpid(). With `now` it is killed first,
  // with all that belongs with it.
  int end(bool now);
  // How many of those were killed when it itself had ended.
  int left_behind() const { return report_.size() == kAllTold ? static_cast<int>(report_[kLeftBehind]) : 0; }
  // The same, and kills it where it takes longer than that.
  int end_within(std::chrono::milliseconds patience);
  // The same as end(), with what was printed.
  ProcessResult finish(bool now);

 private:
  void feed();
  void read_report();

  std::optional<GroupGuard> guard_;   // before its process: that has no moment without one
  std::optional<Orphans> orphans_;    // where it is supervised: what outlives a supervisor that is killed
  FileDescriptor lifeline_;           // of the supervisor
  std::vector<std::int64_t> report_;  // of it, in the order of Told
  pid_t pid_ = -1;                    // of the supervisor, where there is one
  FileDescriptor in_;
  FileDescriptor out_;
  FileDescriptor err_;
  // Readable when it has ended; none on old systems, where that is seen a little later. Of a supervisor its report.
  FileDescriptor end_;
  std::string unsent_;
  std::size_t sent_ = 0;  // of it
  bool closes_ = false;   // its input, behind what is unsent
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Removes and returns the whole lines of a text that grows.
std::vector<std::string> take_lines(std::string& text);
// Keeps the last bytes of a text that grows.
void keep_end(std::string& text, std::size_t most);

}  // namespace apo
