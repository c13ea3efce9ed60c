// harness/evaluate/correctness/check_case.h - checks one workload in several input regimes in a worker, which cases may
// share.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/core/stopwatch.h"
#include "harness/evaluate/correctness/draws.h"
#include "harness/runtime/runtime.h"
#include "harness/runtime/worker_pool.h"
#include "harness/worker/parent/worker.h"

namespace apo {

class GateSteps {
 public:
  // Records a part of the gate for its lifetime.
  class Step {
   public:
    Step(GateSteps& steps, std::string what) : steps_(steps), what_(std::move(what)), begin_s_(steps.seconds()) {}
    ~Step() { steps_.add({.what = std::move(what_), .begin_s = begin_s_, .end_s = steps_.seconds()}); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    GateSteps& steps_;
    std::string what_;
    double begin_s_;
  };

  // Seconds since construction.
  double seconds() const { return seconds_since(start_); }
  // Returns the steps, the earliest first.
  std::vector<GateStep> list() const {
    const std::lock_guard lock(mutex_);
    std::vector<GateStep> steps = steps_;
    std::ranges::stable_sort(steps, {}, &GateStep::begin_s);
    return steps;
  }

 private:
  using Clock = std::chrono::steady_clock;
  void add(GateStep step) {
    const std::lock_guard lock(mutex_);
    steps_.push_back(std::move(step));
  }

  Clock::time_point start_ = Clock::now();
  mutable std::mutex mutex_;
  std::vector<GateStep> steps_;
};

// One worker makes a call for every regime, so that an output left over from the previous call is detected.
struct CheckCase {
  std::string workload;
  Axes axes;
  std::vector<std::string> regimes;
  std::uint64_t seed = 0;          // of its inputs; 0: from the seed of the check
  std::string repeated_axis = {};  // as of a Workload, whose name it does not have
  std::int64_t distinct = 0;
  // Target cuda: the GPU repeats the inputs, and only finds whether the outputs repeat too. Memory of the host has to
  // hold what was drawn alone.
  bool repeats_on_device = false;
  // That of a gate where it is to be held against an earlier call and no call is kept with the inputs any more.
  Purpose purpose = Purpose::gate;
  bool is_held = false;
  // The axes of the inputs that the host holds.
  Axes held_axes() const {
    Axes held = axes;
    if (repeats_on_device) {
      held.at(repeated_axis) = distinct;
    }
    return held;
  }
  // "experiment 7", which was wrong there: such a case comes before all others, in a process of its own, and where
  // `known_seed` is not 0, on the same inputs. It has one regime.
  std::string known_from = {};
  std::uint64_t known_seed = 0;
};

using CheckProgress = std::function<void(int done, int all, const std::string& what)>;

struct CheckResult {
  Outcome outcome = Outcome::valid;
  std::string evidence;
  std::int64_t elements = 0;      // compared
  std::int64_t undecided = 0;     // units in doubt beyond those that the reference computed
  std::int64_t not_computed = 0;  // drawn units for which it takes too long
  int calls = 0;
  OutputErrors errors = {};  // over all calls that were compared
  std::optional<WrongElement> wrong = {};
  std::optional<WrongCase> wrong_case = {};
  std::string confinement;                 // the means that held the candidate
  std::vector<std::string> left_out = {};  // regimes in which nothing can be compared
  DrawsBySeed draws = {};                  // of random outputs, over all calls
  double seconds = 0;
  double reference_s = 0;   // of these, what computing references took
  bool is_witness = false;  // all elements of the last call were held against another one, or others are against it
};

// Runs one case in a fresh process, with fresh inputs from the seed.
CheckResult check_case(const Runtime& runtime, const Configuration& configuration, const CheckCase& one,
                       std::uint64_t seed, bool sanitize = false);

// Runs one case with an existing build, in a worker that `options` describe.
CheckResult check_build(const Runtime& runtime, const Configuration& configuration, const Build& build,
                        const CheckCase& one, std::uint64_t seed, const WorkerOptions& options);

// The parts of these functions.
// What a worker has of the build: nothing yet, or all of it from a case before, which had other sizes perhaps.
enum class Loaded : std::uint8_t { no, yes };
// Returns the inputs of every regime of a case, with the outputs of a correct call; null for a regime that is left out.
std::vector<CheckedPointer> case_inputs(const Runtime& runtime, const CheckCase& one, std::uint64_t seed);
// Describes the start of a case's process. Its layout is drawn from the seed.
WorkerOptions case_worker(WorkerOptions options, std::uint64_t seed);
// Loads the build into a running worker, whatever it served before, and makes the calls. With Loaded::yes the code and
// what it keeps stay, as in a program that calls it with several sizes. The tensors lie in `memory`, which may have
// served the same process before.
CheckResult check_in(Worker& worker, const Runtime& runtime, const Configuration& configuration, const Build& build,
                     const CheckCase& one, const std::vector<CheckedPointer>& inputs, std::uint64_t seed,
                     GateSteps& steps, Loaded loaded = Loaded::no,
                     const std::shared_ptr<MemoryFile>& memory = std::make_shared<MemoryFile>());
// The same in a process of its own; a failure names the call that the confinement refused last.
CheckResult check_alone(const WorkerOptions& options, const Runtime& runtime, const Configuration& configuration,
                        const Build& build, const CheckCase& one, const std::vector<CheckedPointer>& inputs,
                        std::uint64_t seed, GateSteps& steps);
// Adds the call that the confinement refused last to a failure that it may have caused, by a run in another process.
void name_refused_call(CheckResult& result, WorkerOptions options, const Runtime& runtime,
                       const Configuration& configuration, const Build& build, const CheckCase& one,
                       const std::vector<CheckedPointer>& inputs, std::uint64_t seed);

// A pool of workers of a GPU. Code of a variant does not run in the worker's process, so that a chain of cases leaves
// nothing behind for the next: its module is unloaded, its tensors are freed, and new ones are poisoned before every
// call. They watch which machine code the driver loads.
class CheckWorkers {
 public:
  // Starts `count` workers without waiting, the first from the worker pool if it has one. The calling thread has to
  // outlive this.
  CheckWorkers(const WorkerOptions& options, int count, std::uint64_t seed, WorkerPool& worker_pool);
  ~CheckWorkers();
  CheckWorkers(const CheckWorkers&) = delete;
  CheckWorkers& operator=(const CheckWorkers&) = delete;

  // Lends a worker for one chain. Empty when none is left.
  class Lease {
   public:
    Lease(CheckWorkers& from, std::unique_ptr<Worker> worker) : from_(from), worker_(std::move(worker)) {}
    ~Lease() { from_.give_back(std::move(worker_), keep_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    explicit operator bool() const { return worker_ != nullptr; }
    Worker& operator*() const { return *worker_; }
    // Returns a worker: it serves the next chain if it still lives, else it ends.
    void keep() { keep_ = true; }

   private:
    CheckWorkers& from_;
    std::unique_ptr<Worker> worker_;
    bool keep_ = false;
  };
  Lease take();

 private:
  void give_back(std::unique_ptr<Worker> worker, bool keep);

  WorkerPool& worker_pool_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Worker>> idle_;  // those that have served first, then those that still start
  int left_;                                  // idle or taken
};

}  // namespace apo
