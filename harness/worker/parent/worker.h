// harness/worker/parent/worker.h - the parent's handle on one isolated process that loads and runs candidates.
//
//   Worker worker(options);                       // a fresh process
//   worker.load(0, build.object_path);            // copied to a neutral name first
//   worker.attach(shared_tensors);
//   auto samples = worker.run(request, inspect);  // samples, or the candidate's failure
//
// Everything that a candidate can do wrong comes back as a Failure. After one that ended the process alive() is false
// and a new Worker is needed; `refused` and `wrong_abi` leave it running. A GPU that is lost meanwhile is no failure of
// the candidate: every request may throw DeviceLost.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/core/recording/recorded_call.h"
#include "harness/core/system/files.h"
#include "harness/worker/code/code_watch.h"
#include "harness/worker/protocol/profile_results.h"
#include "harness/worker/protocol/protocol.h"
#include "harness/worker/protocol/result.h"
#include "harness/worker/protocol/shared_tensors.h"
#include "kernels/family.h"

namespace apo {

struct WorkerOptions {
  std::filesystem::path program;  // empty = this program; run as `program worker`
  // A program with its arguments that starts and watches the worker, such as compute-sanitizer. It gets time to write
  // its report when the worker ends. On target cuda every tensor is then an allocation of its own, of its exact size,
  // so that an access past its end leaves its allocation; times are meaningless.
  std::vector<std::string> watcher;
  Target target = Target::host;
  int device = 0;         // target cuda: which GPU
  bool executor = false;  // target host: runs device variants on this CPU, scheduled by layout_seed
  std::vector<int> cpus;  // to pin to; empty = all that this process may use
  std::int64_t memory_limit_bytes = std::int64_t{16}
                                    << 30;     // beyond the tensors, reserved addresses free; 0 = no limit
  std::vector<std::string> environment;        // "NAME=value", added to the worker's short one
  std::string preload;                         // libasan, for candidates built with sanitizers
  std::chrono::milliseconds deadline{9'000};   // of a request that names none: what hangs is gone within ten seconds
  std::chrono::milliseconds start_deadline{};  // of the first answer; 0 = that of the target
  std::uint64_t layout_seed = 0;               // draws 0 to 4 KiB of environment padding
  // On target cuda, asks the driver through CUPTI which machine code it has loaded. Times are meaningless then.
  bool watch_modules = false;
  bool record_calls = false;  // on target cuda, prepares for record()
  bool name_refused = false;  // target host: find out which call the confinement refused last: refused_call()
  std::stop_token stop = {};  // a request that waits for its answer then throws Cancelled
  bool await_start = true;  // false: the constructor returns at once, and await_start() comes before the first request
};

// Returns the whole environment of such a process. It is short on purpose: our environment is no business of a
// candidate.
std::vector<std::string> worker_environment(const WorkerOptions& options);

class ChildProcess;

// Inspects the shared tensors while the worker is stopped right after a sample. A Failure ends the run and the worker.
using Inspect = std::function<std::optional<Failure>(int sample)>;

// The duration of one window of host code.
struct WindowTimes {
  std::int64_t ns = 0;      // by the parent's clock, from before the process could run to when its answer was there
  std::int64_t cpu_ns = 0;  // of all its threads
};

class Worker {
 public:
  // Starts the process and waits until it answers. Throws EnvironmentError on failure: no candidate is loaded yet. The
  // calling thread has to outlive the worker, which dies with it.
  explicit Worker(WorkerOptions options);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Waits until the process of a worker made with await_start = false answers. Throws EnvironmentError.
  void await_start();
  // The same without an error: await_start() reports it.
  void wait_until_started();

  using Deadline = std::optional<std::chrono::milliseconds>;

  // Loads slot 0 or 1, as often as needed. The worker sees a private copy named slot0.so or slot1.so, whatever the name
  // of the object. Throws EnvironmentError when it cannot be copied. `plan` is that of a device variant.
  Result<Done> load(int slot, const std::filesystem::path& object, Deadline deadline = {}) {
    return load(slot, object, LaunchPlan{}, deadline);
  }
  Result<Done> load(int slot, const std::filesystem::path& object, const LaunchPlan& plan, Deadline deadline = {});
  // Changes the launches of the device variant in the slot, which stays loaded, and keeps its variables.
  Result<Done> relaunch(int slot, const LaunchPlan& plan, Deadline deadline = {});
  // Replaces the shared tensors attached before. `shared_tensors` has to outlive its use here. On target cuda this
  // copies them to the GPU, so their inputs have to be written before.
  Result<Done> attach(const SharedTensors& shared_tensors, Deadline deadline = {}) {
    return attach(shared_tensors.layout(), shared_tensors.fd(), deadline);
  }
  Result<Done> attach(const SharedTensorsLayout& layout, int fd, Deadline deadline = {});
  // Copies the memory file to the GPU, where it is kept as long as this process lives. Returns the handle for others.
  Result<std::string> keep(std::int64_t bytes, int fd, Deadline deadline = {});
  // Takes all samples of the request. Calls `inspect` after sample request.verify_after; the deadline restarts after
  // that pause.
  Result<std::vector<RawSample>> run(const RunRequest& request, const Inspect& inspect = {}, Deadline deadline = {});
  // Target host, stopped: calls slot 0 once on each copy of the attached tensors, and stops every thread again. Nothing
  // of the process runs in between windows; a Failure where it did.
  Result<WindowTimes> run_window(Deadline deadline = {});
  // Takes one warm sample of one launch. What earlier calls left in variables of the module stays, as in a program.
  Result<RawSample> call(int slot, int set = 0, Deadline deadline = {});
  // Measures, on target cuda, the nanoseconds of `samples` copies of `bytes` bytes within the GPU's memory.
  Result<std::vector<std::int64_t>> copy(std::int64_t bytes, int samples, Deadline deadline = {});
  // Collects hardware counters, PC samples and executed instructions on target cuda, untimed. The report names problems
  // of the profiler; a Failure is the candidate's. Use a separate worker: its changes to the GPU must not reach timed
  // calls.
  Result<CounterReport> count(const CountRequest& request, Deadline deadline = {});
  Result<SampleReport> sample_stalls(const SampleRequest& request, Deadline deadline = {});
  // Returns the images that the driver has loaded for the slot and its kernels, each once. Needs
  // WorkerOptions::watch_modules.
  Result<std::vector<std::string>> loaded_images(int slot, Deadline deadline = {});
  // Calls the library variant in the slot on the attached tensors until two calls in a row, on different input sets
  // where there are several, launch the same, and returns what the last one put on the GPU. Needs
  // WorkerOptions::record_calls.
  Result<RecordedCall> record(int slot, Deadline deadline = {});
  bool watches_modules() const { return options_.watch_modules; }
  // The reason why there are no images; empty when there are.
  const std::string& watch_missing() const { return watch_missing_; }
  Result<InstructionReport> count_instructions(const InstructionRequest& request, Deadline deadline = {});
  // Target host: checks that the code of the worker and of everything loaded is unchanged. A Failure ends the worker.
  std::optional<Failure> check_code();
  // Stops every thread of the worker, so that outputs do not change while they are read. The next request lets it
  // continue.
  void freeze();

  // Whether the GPU found the inputs of the sample at the last look as they are kept: the shared tensors do not have
  // them then.
  bool inputs_unchanged() const { return inputs_unchanged_; }

  bool alive() const;
  int pid() const;  // of the watcher where there is one; -1 when it has ended
  // Seconds that the starter waited for it.
  double start_seconds() const { return start_seconds_; }
  // "seccomp+landlock", or the confinement that this kernel offers; empty before the first load.
  const std::string& confinement() const { return confinement_; }
  // The last call that the candidate was refused: "open("/etc/passwd")", "socket"; "" for none, or without
  // WorkerOptions::name_refused.
  std::string refused_call() const;
  // The GPU on target cuda, and its state at the end of the last run (absent without NVML).
  const std::optional<DeviceFacts>& device() const { return device_; }
  const std::optional<DeviceState>& state() const { return state_; }
  // The reason why the last run with RunRequest::activity recorded nothing; empty when it did.
  const std::string& activity_missing() const { return activity_missing_; }
  // The end of the candidates' output so far.
  const std::string& printed() const;
  // Kills the worker; under a watching tool only after it had time to end itself.
  void stop();

 private:
  struct Exchange {
    Request request;
    std::string during;
    std::chrono::milliseconds deadline;
    int attached_fd = -1;
  };
  static constexpr std::chrono::milliseconds kWatcherGrace{20'000};  // its report comes after the worker has ended

  std::int64_t cpu_ns() const;  // of all its threads so far; 0 where the system does not tell
  void start();
  void settle();
  void remember_code();
  Result<Done> ask(const Exchange& exchange);
  Result<Reply> exchange(const Exchange& exchange);
  Result<Reply> await(const Exchange& exchange);
  template <class Report>
  Result<Report> exchange_for_file(Exchange exchange, std::optional<Report> (*decode)(std::string_view),
                                   const char* what);
  Failure fail(Failure failure);
  Failure ended(const std::string& during);
  void require_own_gpu(const Failure& failure) const;
  // Returns the failure of an exchange without a message: the process ended `in_time`, or the deadline passed.
  Failure without_message(bool in_time, const Exchange& exchange);
  Failure forged(const std::string& how);
  Exchange prepare(decltype(Request::body) body, std::string during, Deadline deadline);
  std::chrono::milliseconds copying(std::int64_t bytes) const;  // a deadline
  bool has_room() const;
  std::int64_t data_limit() const;
  void limit_memory() const;
  std::filesystem::path neutral_path(int slot);

  WorkerOptions options_;
  TemporaryFolder folder_;
  FileDescriptor status_file_;
  SharedStatus* status_ = nullptr;
  std::unique_ptr<ChildProcess> process_;
  std::uint64_t nonce_seed_ = 0;
  std::uint64_t requests_ = 0;
  std::array<unsigned, 2> loads_{};  // of each slot
  bool frozen_ = false;
  CodeWatch code_;
  std::optional<Exchange> hello_;  // sent, not answered yet
  std::optional<Exchange> watch_;  // likewise
  std::string watch_missing_ = "nobody asked for it";
  std::int64_t started_ns_ = 0;
  double start_seconds_ = 0;
  std::string confinement_;
  std::int64_t own_data_bytes_ = 0;  // of the worker before any candidate
  std::int64_t tensors_bytes_ = 0;
  std::uint64_t tensors_base_ = 0;
  std::optional<DeviceFacts> device_;
  std::optional<DeviceState> state_;
  std::string activity_missing_;
  bool inputs_unchanged_ = false;
};

}  // namespace apo
