// harness/fleet/fleet.h - the workers of a campaign: starts them, hands tasks to them, notices what fails, and
// keeps a row of each in the journal.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/fleet/messages.h"
#include "harness/loop/campaign_progress.h"
#include "journal/facts/workers.h"

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
    joined,     // the worker has named its device, and waits for tasks
    answered,   // `journal` is the answer to `task`
    scanned,    // `measured` is of the scan `task`
    done,       // with the scan `task`; the worker waits for the next
    cancelled,  // the worker has stopped `task`, and waits for the next
    left,       // the worker has ended; `task` is to be judged elsewhere
  };
  Kind kind = Kind::joined;
  std::size_t worker = 0;
  std::int64_t task = 0;  // 0: it had none
  std::string journal;
  ScanMeasurement measured;
  WorkerEnd why = WorkerEnd::dismissed;
  std::string note;
};

// How far a worker's clock is off at least, in seconds: its hello is as old as it has waited to be read, but not older
// than its worker.
std::int64_t clock_error_s(std::int64_t hello, std::int64_t started_at, std::int64_t now);

// Single-threaded: everything happens within next().
class Fleet {
 public:
  // Takes only workers on devices of the workspace's model, with as many cores. The frame outlives this object.
  Fleet(FleetOptions options, const CampaignFrame& frame);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  std::size_t size() const { return workers_.size(); }
  bool is_idle(std::size_t worker) const;
  bool is_out(std::size_t worker) const;         // has ended, and is not started again
  const Hello* hello(std::size_t worker) const;  // nullptr: it has not joined
  std::int64_t row(std::size_t worker) const;    // of the journal, of one that has joined
  std::string name(std::size_t worker) const;    // "worker 2 (GPU-...)"
  std::string doing() const;                     // the progress of one that judges; "" for none

  // The sources of all sides come along, and the family that is a file.
  void give(std::size_t worker, const Task& task);
  void give(std::size_t worker, const ScanTask& task);
  // The worker stops its task at the task's next step, and is not idle before.
  void cancel(std::size_t worker);
  // What happens next, one thing at a time: the workers are then as the event says. nullopt: nothing in that time.
  std::optional<FleetEvent> next(std::chrono::milliseconds longest);
  // Ends a worker whose answer cannot be used. Returns the event, which next() does not return again.
  FleetEvent refuse(std::size_t worker, const std::string& note);
  // The worker's failures in a row were its tasks' fault: they do not count.
  void forgive(std::size_t worker);
  // Throws EnvironmentError with the reason of each worker when none is left.
  void check_any_left() const;
  // Ends all workers, within seconds: their devices are free then.
  void dismiss();

 private:
  using Clock = std::chrono::steady_clock;
  struct Worker;

  void send(Worker& worker, std::int64_t task, Message message, const std::vector<TaskSide>& sides);
  void start(Worker& worker);
  void end_processes();
  void poll_all(std::chrono::milliseconds longest);
  std::optional<FleetEvent> hear(std::size_t index);
  std::optional<FleetEvent> on_message(std::size_t index, const Message& message);
  FleetEvent on_hello(std::size_t index, const Message& message);
  FleetEvent on_end_of_task(std::size_t index, const Message& message);
  std::optional<FleetEvent> look_at_clock(std::size_t index);
  FleetEvent give_up(std::size_t index, WorkerEnd why, const std::string& note);
  std::int64_t add_row(std::size_t index);

  FleetOptions options_;
  const CampaignFrame& frame_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace apo
