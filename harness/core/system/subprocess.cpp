// harness/core/system/subprocess.cpp - posix_spawn without orphans. A fork would copy the page tables of gigabytes of
// inputs.
#include "harness/core/system/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/posix_spawn.h"

extern char** environ;

namespace apo {
namespace {

// What ignores a signal hands that on.
sigset_t ignored_by_us() {
  sigset_t ignored;
  sigemptyset(&ignored);
  sigaddset(&ignored, SIGXFSZ);
  return ignored;
}

// Appends what a pipe that does not block has now, and closes it at its end.
void drain(FileDescriptor& pipe, std::string& text, int most_reads) {
  std::array<char, 65536> buffer;
  for (int i = 0; i < most_reads && pipe; ++i) {
    const ssize_t got = read(pipe.get(), buffer.data(), buffer.size());
    if (got > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      return;
    } else {
      pipe.reset();
    }
  }
}

}  // namespace

std::vector<std::string> merged_environment(const std::vector<std::string>& additions) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto name = text.substr(0, text.find('=') + 1);
    const bool replaced = std::any_of(additions.begin(), additions.end(),
                                      [&](const std::string& addition) { return addition.starts_with(name); });
    if (!replaced) {
      merged.emplace_back(text);
    }
  }
  merged.insert(merged.end(), additions.begin(), additions.end());
  return merged;
}

// The shell waits for the end of its input, which is our death, and then ends its own group.
GroupGuard::GroupGuard() {
  Pipe lifeline = make_pipe();
  const Pipe nothing = make_pipe();
  PosixSpawn spawn("'sh'", 0);
  spawn.redirect(lifeline.read.get(), 0);
  spawn.redirect(nothing.write.get(), 1);  // else it would hold ours open
  spawn.redirect(nothing.write.get(), 2);
  sigset_t all;
  sigfillset(&all);
  spawn.set_signal_mask(all);
  process_ = spawn.start("/bin/sh", {"sh", "-c", "read -r nothing; kill -KILL 0"}, {});
  lifeline_ = std::move(lifeline.write);
}

GroupGuard::~GroupGuard() {
  kill(process_, SIGKILL);
  reap(process_);
}

Subprocess::Subprocess(const std::string& program, const std::vector<std::string>& argv, const SpawnOptions& options) {
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  if (options.guarded && !options.supervised) {
    guard_.emplace();
  }
  PosixSpawn spawn("'" + argv.front() + "'", guard_ ? guard_->pid() : 0);
  spawn.redirect(in.read.get(), 0);
  spawn.redirect(out.write.get(), 1);
  spawn.redirect(err.write.get(), 2);
  spawn.set_default_signals(ignored_by_us());
  if (!options.working_folder.empty()) {
    spawn.change_folder(options.working_folder);
  }
  in_ = std::move(in.write);
  fcntl(in_.get(), F_SETFL, O_NONBLOCK);
  if (options.input) {
    send(*options.input);
    close_input();
  }
  const std::vector<std::string> environment = merged_environment(options.environment);
  if (options.supervised) {
    orphans_.emplace();
    Supervised supervised = start_supervised(spawn, program, argv, environment);
    pid_ = supervised.supervisor;
    lifeline_ = std::move(supervised.lifeline);
    end_ = std::move(supervised.report);
  } else {
    pid_ = spawn.start(program, argv, environment);
    end_ = FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  }
  out_ = std::move(out.read);
  err_ = std::move(err.read);
  for (const int fd : {out_.get(), err_.get()}) {
    fcntl(fd, F_SETFL, O_NONBLOCK);
  }
}

Subprocess::~Subprocess() {
  if (pid_ > 0) {
    end(true);
  }
}

int Subprocess::end(bool now) {
  if (orphans_) {
    if (now) {
      lifeline_.reset();
    }
    const int of_supervisor = reap(pid_);
    pid_ = -1;
    read_report();
    orphans_->end_all({});
    return report_.empty() ? of_supervisor : static_cast<int>(report_[kStatus]);
  }
  if (now) {
    kill(-group(), SIGKILL);
  }
  const int status = reap(pid_);
  kill(-group(), SIGKILL);  // whatever it left behind, and the guard
  guard_.reset();
  pid_ = -1;
  return status;
}

int Subprocess::end_within(std::chrono::milliseconds patience) {
  pollfd ended{end_.get(), POLLIN, 0};
  return end(poll(&ended, 1, static_cast<int>(patience.count())) != 1);
}

ProcessResult Subprocess::finish(bool now) {
  ProcessResult result = ended_with(end(now));
  result.output = std::move(output);
  result.error = std::move(errors);
  result.seconds = report_.size() == kAllTold ? 1e-9 * static_cast<double>(report_[kNanoseconds]) : seconds();
  result.left_behind = left_behind();
  return result;
}

ProcessResult ended_with(int wait_status) {
  ProcessResult result;
  result.exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
  result.signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
  return result;
}

void Subprocess::read_report() {
  while (end_) {
    std::int64_t told = 0;
    const ssize_t got = read(end_.get(), &told, sizeof told);
    if (got == sizeof told) {
      report_.push_back(told);
    } else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      return;
    } else {
      end_.reset();
    }
  }
}

bool Subprocess::has_ended() {
  if (orphans_) {
    read_report();
    return !report_.empty() || !end_;
  }
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
}

bool Subprocess::all_ended_within(std::chrono::milliseconds patience) {
  const bool ended = has_ended();
  if (!orphans_ || !ended) {
    return ended;
  }
  pollfd all_ended{end_.get(), POLLIN, 0};
  poll(&all_ended, 1, end_ ? static_cast<int>(patience.count()) : 0);
  read_report();
  return !end_ || report_.size() == kAllTold;
}

double Subprocess::seconds() const {
  return seconds_since(start_);
}

void Subprocess::send(std::string_view text) {
  unsent_ += text;
  feed();
}

void Subprocess::close_input() {
  closes_ = true;
  feed();
}

void Subprocess::feed() {
  while (in_ && sent_ < unsent_.size()) {
    const ssize_t wrote = write_without_sigpipe(in_.get(), std::string_view(unsent_).substr(sent_));
    if (wrote >= 0) {
      sent_ += static_cast<std::size_t>(wrote);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      in_.reset();  // it does not want the rest
    }
  }
  unsent_.clear();
  sent_ = 0;
  if (closes_) {
    in_.reset();
  }
}

void Subprocess::watch(std::vector<pollfd>& descriptors) const {
  for (const FileDescriptor* pipe : {&out_, &err_}) {
    if (*pipe) {
      descriptors.push_back({pipe->get(), POLLIN, 0});
    }
  }
  if (in_ && !unsent_.empty()) {
    descriptors.push_back({in_.get(), POLLOUT, 0});
  }
}

void Subprocess::move(int most_reads) {
  feed();
  drain(out_, output, most_reads);
  drain(err_, errors, most_reads);
}

void Subprocess::move_within(double longest_s, bool or_end, int most_reads) {
  std::vector<pollfd> descriptors;
  watch(descriptors);
  if (or_end) {
    descriptors.push_back({end_.get(), POLLIN, 0});
  }
  poll(descriptors.data(), descriptors.size(), static_cast<int>(std::ceil(1000 * longest_s)));  // EINTR: the next look
  move(most_reads);
}

std::vector<std::string> take_lines(std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  text.erase(0, begin);
  return lines;
}

void keep_end(std::string& text, std::size_t most) {
  text.erase(0, text.size() - std::min(text.size(), most));
}

}  // namespace apo
