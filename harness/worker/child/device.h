// harness/worker/child/device.h - the target on which a worker runs candidates, as an interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/recording/recorded_call.h"
#include "harness/core/system/files.h"
#include "harness/worker/protocol/profile_results.h"
#include "harness/worker/protocol/protocol.h"
#include "harness/worker/protocol/shared_tensors.h"

namespace apo {

class Device {
 public:
  virtual ~Device() = default;
  // Loads a candidate into slot 0 or 1. The plan says how a device variant is launched. Without a path what is loaded
  // stays, with its variables, and only the plan changes.
  virtual std::optional<Failure> load(int slot, const std::string& path, const LaunchPlan& plan) = 0;
  // Maps the tensors in place of those attached before. Returns their addresses.
  virtual Result<std::uint64_t> attach(const SharedTensorsLayout& layout, const FileDescriptor& file) = 0;
  // Takes sample `index` of the request, untimed preparation included.
  virtual Result<RawSample> run(const RunRequest& request, std::size_t index) = 0;
  // Target host: calls slot 0 once on each copy of the attached tensors.
  virtual std::optional<Failure> run_window() { return Failure{Outcome::refused, "only host code runs in windows"}; }

  // Operations of a device with memory of its own. Copies the outputs, the inputs of `set` and the guards, as the last
  // sample left them, back into the shared tensors; without the inputs where it returns true: they are kept, and
  // unchanged.
  virtual Result<bool> read_back(int /*set*/) { return false; }
  // Copies the file to the device and keeps it there. Returns a handle of it for other processes.
  virtual Result<std::string> keep(std::int64_t /*bytes*/, const FileDescriptor& /*file*/) {
    return Failure{Outcome::refused, "only a GPU has a memory of its own"};
  }
  virtual Result<std::vector<std::int64_t>> copy(const CopyRequest&) {
    return Failure{Outcome::refused, "only a GPU has a memory of its own"};
  }
  virtual Result<CounterReport> count(const CountRequest&) {
    return CounterReport{.missing = "only a GPU has these counters"};
  }
  virtual Result<SampleReport> sample_stalls(const SampleRequest&) {
    return SampleReport{.missing = "only a GPU has PC samples"};
  }
  // Starts to watch the driver's modules. Returns the reason why that is impossible, or "".
  virtual std::string watch_modules() { return "only a GPU loads modules"; }
  // Returns the images that the driver has loaded for the slot since the last load(); needs watch_modules().
  virtual std::vector<std::string> loaded_images(int /*slot*/) { return {}; }
  // Starts to write down what calls put on the GPU, before anything is loaded. Returns the reason why that is
  // impossible, or "".
  virtual std::string watch_calls() { return "only a GPU has calls that are recorded"; }
  // Calls the library in the slot, until two calls in a row, on different inputs, launch the same. Returns the last
  // one.
  virtual Result<RecordedCall> record(int /*slot*/) { return Failure{Outcome::refused, "only a GPU has such calls"}; }
  virtual Result<InstructionReport> count_instructions(const InstructionRequest&) {
    return InstructionReport{.missing = "only a GPU's instructions are counted"};
  }
  virtual std::optional<DeviceFacts> facts() const { return std::nullopt; }
  virtual std::optional<DeviceState> state() const { return std::nullopt; }
  // Returns why samples with RunRequest::activity are not recorded; "" when they are.
  virtual std::string activity_missing() const { return "only a GPU's work is recorded"; }
};

// `status` outlives the device and names the running slot for an inspection after a crash. `seed` draws the order in
// which threads run.
std::unique_ptr<Device> make_executor_device(int threads, std::uint64_t seed, SharedStatus& status);

// `status` outlives the device and names the running slot for an inspection after a crash.
std::unique_ptr<Device> make_host_device(int threads, SharedStatus& status);

// Returns nullptr when there is no usable GPU `index`, with the reason in `missing`. `status` outlives the device.
// `watched` means that a tool checks memory accesses: each tensor is then an allocation of its own, outputs and scratch
// are not poisoned, since a write would hide that they are read uninitialised, and launches are not gated, since the
// tool may wait for each.
std::unique_ptr<Device> make_cuda_device(int index, bool watched, SharedStatus& status, std::string& missing);

}  // namespace apo
