// harness/fleet/serve.cpp - one thread judges, one reads and sends heartbeats.
#include "harness/fleet/serve.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <thread>

#include "harness/core/error.h"
#include "harness/core/observer.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/subprocess.h"
#include "harness/core/text.h"
#include "harness/evaluate/counted_rounds.h"
#include "harness/fleet/task_judge.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

// A driver that is gone, and a batch system that ends a job, wait no longer for a judgement that does not stop.
constexpr auto kLastWords = std::chrono::seconds(5);
constexpr auto kProgressEvery = std::chrono::milliseconds(500);
constexpr auto kBeatEvery = std::chrono::seconds(kHeartbeatEvery_s);
// A batch system asks every process of a job to end, the compiler and the candidate too. What they make of it is seen
// before the signal of this process is.
constexpr auto kSignalsArrive = std::chrono::milliseconds(500);

bool is_of_type(const Message& message, const char* type) {
  return message.is_object() && message.contains("type") && message["type"] == type;
}

// Held by one worker alone: a GPU's UUID; "HOST cpus 0,1" for the CPUs that this process may use.
std::string device_name(const Machine& machine) {
  if (machine.target == Target::cuda) {
    return machine.id;
  }
  utsname names{};
  const std::string host = uname(&names) == 0 ? names.nodename : "host";
  return fmt::format("{} cpus {}", host, fmt::join(usable_cpus(), ","));
}

// The write end of a pipe that the reading thread waits for; a signal's handler can do no more.
std::atomic<int> asked_to_end = -1;

void on_end(int) {
  const int saved = errno;
  [[maybe_unused]] const ssize_t written = write(asked_to_end, "", 1);
  errno = saved;
}

class TaskServer : public Observer {
 public:
  explicit TaskServer(Workspace& workspace) : workspace_(workspace), judge_(workspace, *this) {}

  void run(const ProgramIdentity& program);

  void say(const std::string&) override {}  // a driver shows the progress of its workers alone
  void progress(const Progress& progress) override;

 private:
  void send(const Message& message);
  void beat();
  void read_input(int asked);
  void take_messages(std::string& text);
  void close(bool terminated);
  void leave_in_time();
  std::optional<Message> next_task();
  void stop_unwanted();
  bool closes_within(std::chrono::milliseconds patience);
  void begin_task(std::int64_t task);
  void perform(const Message& message);
  Message judged(const Message& message, bool& passed);
  Message scanned(const Message& message);
  void give_back();

  Workspace& workspace_;
  TaskJudge judge_;
  const std::thread::id judging_ = std::this_thread::get_id();
  std::mutex sending_;
  Clock::time_point last_told_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::deque<Message> inbox_;
  std::set<std::int64_t> cancelled_;
  std::int64_t task_ = 0;  // 0: none
  std::stop_source stop_;  // of the task
  Clock::time_point last_progress_;
  bool closing_ = false;
  bool terminated_ = false;  // by a signal: the driver still listens
  bool finished_ = false;
};

void TaskServer::send(const Message& message) {
  const std::string line = message.dump(-1, ' ', false, Message::error_handler_t::replace) + "\n";
  const std::lock_guard lock(sending_);
  for (std::string_view left = line; !left.empty();) {
    const ssize_t wrote = write_without_sigpipe(STDOUT_FILENO, left);
    if (wrote < 0 && errno != EINTR) {
      return;  // the end of the input tells that the driver is gone
    }
    left.remove_prefix(wrote < 0 ? 0 : static_cast<std::size_t>(wrote));
  }
}

void TaskServer::progress(const Progress& progress) {
  if (std::this_thread::get_id() != judging_) {
    return;
  }
  const Clock::time_point now = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    if (stop_.stop_requested()) {
      throw Cancelled();
    }
    last_progress_ = now;
  }
  if (now - last_told_ >= kProgressEvery) {
    last_told_ = now;
    send({{"type", "progress"}, {"what", progress.what}});
  }
}

// Under the mutex.
void TaskServer::stop_unwanted() {
  if (closing_ || cancelled_.contains(task_)) {
    stop_.request_stop();
  }
}

// Says how long the task has made no progress.
void TaskServer::beat() {
  double quiet_s = 0;
  {
    const std::lock_guard lock(mutex_);
    quiet_s = task_ == 0 ? 0 : seconds_since(last_progress_);
  }
  send({{"type", "heartbeat"}, {"quiet_s", quiet_s}});
}

void TaskServer::close(bool terminated) {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    terminated_ = terminated;
    stop_unwanted();
  }
  changed_.notify_all();
  leave_in_time();
}

// What runs candidates dies with this process, and the next program removes its folders.
void TaskServer::leave_in_time() {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, kLastWords, [&] { return finished_; })) {
    return;
  }
  const bool tell = terminated_;
  lock.unlock();
  if (tell) {
    give_back();
  }
  _exit(0);
}

void TaskServer::read_input(int asked) {
  std::string text;
  std::array<char, 65536> buffer;
  for (Clock::time_point next_beat = Clock::now() + kBeatEvery;;) {
    std::array<pollfd, 2> ready = {pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{asked, POLLIN, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_beat - Clock::now());
    poll(ready.data(), ready.size(), std::max(0, static_cast<int>(left.count())));  // EINTR: the pipe has the signal
    if (Clock::now() >= next_beat) {
      beat();
      next_beat = Clock::now() + kBeatEvery;
    }
    if (ready[1].revents != 0) {
      char why = 0;
      return read(asked, &why, 1) == 1 && why == '\0' ? close(true) : void();
    }
    if (ready[0].revents == 0) {
      continue;
    }
    const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got <= 0 && (got == 0 || errno != EINTR)) {
      return close(false);
    }
    text.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    take_messages(text);
  }
}

void TaskServer::take_messages(std::string& text) {
  for (const std::string& line : take_lines(text)) {
    Message message = Message::parse(line, nullptr, false);
    const std::lock_guard lock(mutex_);
    if (is_of_type(message, "cancel") && message.contains("id") && message["id"].is_number_integer()) {
      cancelled_.insert(message["id"].get<std::int64_t>());
      stop_unwanted();
    } else if (is_of_type(message, "task") || is_of_type(message, "scan")) {
      inbox_.push_back(std::move(message));
    }
  }
  changed_.notify_all();
}

// nullopt when there will be no more.
std::optional<Message> TaskServer::next_task() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return closing_ || !inbox_.empty(); });
  if (closing_) {
    return std::nullopt;
  }
  Message message = std::move(inbox_.front());
  inbox_.pop_front();
  return message;
}

bool TaskServer::closes_within(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return closing_; });
}

void TaskServer::begin_task(std::int64_t task) {
  const std::lock_guard lock(mutex_);
  task_ = task;
  last_progress_ = Clock::now();
  stop_ = std::stop_source();
  stop_unwanted();
  workspace_.stop_builds_by(stop_.get_token());
}

Message TaskServer::judged(const Message& message, bool& passed) {
  const Task task = task_of(message);
  judge_.take_sources(task.policy, {task.incumbent, task.candidate}, message);
  const JudgedTask judged = judge_.judge(task);
  passed = judged.experiment.outcome == Outcome::valid;
  return answer_message(task.id, answer_journal(judged));
}

// What failed is told once a signal that may be the cause would have been seen.
Message TaskServer::scanned(const Message& message) {
  const ScanTask task = scan_task_of(message);
  std::vector<TaskSide> sides = task.candidates;
  sides.push_back(task.reference);
  judge_.take_sources(task.policy, sides, message);
  std::deque<std::pair<Clock::time_point, Message>> failed;
  const auto tell_failed = [&](std::chrono::milliseconds patience) {
    for (; !failed.empty() && Clock::now() >= failed.front().first + kSignalsArrive - patience; failed.pop_front()) {
      send(failed.front().second);
    }
  };
  judge_.scan(task, [&](const ScanMeasurement& measured) {
    Message told = scanned_message(task.id, measured);
    if (measured.row.times.outcome == Outcome::valid) {
      send(told);
    } else {
      failed.emplace_back(Clock::now(), std::move(told));
    }
    tell_failed(kSignalsArrive.zero());
  });
  if (!failed.empty() && !closes_within(kSignalsArrive)) {
    tell_failed(kSignalsArrive);
  }
  return {{"type", "done"}, {"id", task.id}};
}

// Nothing that may be due to the end of this process is held against the candidate or the device.
void TaskServer::perform(const Message& message) {
  const auto failed = [](const char* reason, const std::string& what) {
    return Message{{"type", "failed"}, {"reason", reason}, {"what", one_line(what)}};
  };
  Message answer;
  auto patience = kSignalsArrive;
  try {
    begin_task(message.at("id"));
    bool passed = false;
    const bool is_scan = message.at("type") == "scan";
    answer = is_scan ? scanned(message) : judged(message, passed);
    patience = passed || is_scan ? patience.zero() : patience;
  } catch (const Cancelled&) {
    answer = {{"type", "cancelled"}, {"id", message.at("id")}};
    patience = patience.zero();
  } catch (const SentinelAlarm& error) {
    answer = failed("sentinel", error.what());
  } catch (const EnvironmentError& error) {
    answer = failed("cannot_judge", with_hint(error));
  } catch (const UserError& error) {
    answer = failed("cannot_judge", with_hint(error));
  } catch (const std::exception& error) {
    answer = failed("cannot_judge", error.what());
  }
  if (!closes_within(patience)) {
    send(answer);
  }
  begin_task(0);
}

void TaskServer::give_back() {
  send({{"type", "given_back"}, {"what", "the process was asked to end"}});
}

void TaskServer::run(const ProgramIdentity& program) {
  std::array<int, 2> asked{};
  if (pipe(asked.data()) != 0) {
    throw EnvironmentError("cannot create a pipe");
  }
  asked_to_end = asked[1];
  std::signal(SIGTERM, on_end);
  send(to_message(Hello{.program = program,
                        .machine = workspace_.machine(),
                        .device = device_name(workspace_.machine()),
                        .time_s = std::time(nullptr)}));
  std::thread reading([&] { read_input(asked[0]); });
  while (const std::optional<Message> message = next_task()) {
    perform(*message);
  }
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  changed_.notify_all();
  if (terminated_) {
    give_back();
  }
  reading.join();
}

}  // namespace

void serve(Workspace& workspace, const ProgramIdentity& program) {
  TaskServer(workspace).run(program);
}

}  // namespace apo
