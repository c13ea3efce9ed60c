// harness/loop/fleet/fleet.h - the workers of one driver: starts them, hands tasks to them, and notices what fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/loop/fleet/connection.h"
#include "harness/loop/fleet/messages.h"
#include "journal/workers.h"

namespace apo {

struct FleetOptions {
  std::vector<std::string> commands;  // one a worker
  ProgramIdentity program;            // that each of them has to be
  double silence_s = 20;              // without a heartbeat: the worker is given up
  double stuck_s = 1800;              // without progress of its task: the same. A build or a check takes minutes
  double start_s = 86400;             // until its first word: a batch system's queue may be long
  double restart_after_s = 1;         // twice as long after each failure in a row
  int most_failures = 5;              // in a row, after which a command is not started again
};

struct FleetEvent {
  enum class Kind : std::uint8_t {
    joined,     // it has said which device it holds, and waits for tasks
    answered,   // `journal` is the answer to `task`
    cancelled,  // it has stopped `task`, and waits for the next
    left,       // it judges no more; `task` is to be judged elsewhere
  };
  Kind kind = Kind::joined;
  std::size_t worker = 0;
  std::int64_t task = 0;  // 0: it had none
  std::string journal;
  WorkerEnd why = WorkerEnd::dismissed;
  std::string note;
};

// How far a worker's clock is off at least, in seconds: its hello is as old as it has waited to be read, but not older
// than its worker.
std::int64_t clock_error_s(std::int64_t hello, std::int64_t started_at, std::int64_t now);

// Single-threaded: everything happens within next().
class Fleet {
 public:
  // Takes workers on devices of this model, with as many cores, alone.
  Fleet(FleetOptions options, const Machine& model);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  std::size_t size() const { return workers_.size(); }
  const std::string& command(std::size_t worker) const { return options_.commands[worker]; }
  bool is_idle(std::size_t worker) const;
  bool is_out(std::size_t worker) const;         // and is not started again
  std::int64_t task(std::size_t worker) const;   // that it judges; 0: none
  const Hello* hello(std::size_t worker) const;  // nullptr: it has not joined
  pid_t pid(std::size_t worker) const;           // of its command, which runs
  // What is said of the work of those that judge now.
  std::vector<std::string> doing() const;

  // What a worker may ask for: sources by hash, families by name.
  struct Sources {
    std::function<Variant(const std::string& hash)> variant;
    std::function<std::vector<SourceFile>(const std::string& family)> family;
  };
  void give(std::size_t worker, const Task& task, const Sources& sources);
  // It stops its task at the task's next step, and is not idle before.
  void cancel(std::size_t worker);
  // What happens next, one thing at a time: the workers are then as the event says. nullopt: nothing in that time.
  std::optional<FleetEvent> next(std::chrono::milliseconds longest);
  // Ends the worker, which may be started again. Returns the event, which next() does not tell any more.
  FleetEvent give_up(std::size_t worker, WorkerEnd why, const std::string& note);
  // What it failed at was its task's fault: its failures in a row begin anew.
  void forgive(std::size_t worker);
  // Ends all of them, within seconds: their devices are free then.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  struct Worker;

  void start(Worker& worker);
  void poll_all(std::chrono::milliseconds longest);
  std::optional<FleetEvent> look_at(std::size_t index);
  std::optional<FleetEvent> hear(std::size_t index);
  std::optional<FleetEvent> on_message(std::size_t index, const Message& message);
  FleetEvent on_hello(std::size_t index, const Message& message);
  std::optional<FleetEvent> on_heartbeat(std::size_t index, const Message& message);
  FleetEvent on_end_of_task(std::size_t index, const Message& message);
  std::optional<FleetEvent> look_at_clock(std::size_t index);

  FleetOptions options_;
  Machine model_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::size_t first_ = 0;  // to be looked at next: each has its turn
};

}  // namespace apo
