// harness/runtime/runtime.h - a candidate's runtime: the family, a way to build, a way to start workers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/core/system/device_turns.h"
#include "harness/runtime/input_store.h"
#include "harness/runtime/tensor_data.h"
#include "harness/runtime/worker_pool.h"
#include "harness/worker/parent/worker.h"
#include "harness/worker/protocol/result.h"
#include "harness/worker/protocol/shared_tensors.h"

namespace apo {

// Hashes the machine code of a cubin; throws when it is no cubin.
using CodeOf = std::function<std::string(std::string_view image)>;

// Checks, before a device variant is loaded, that its file is still the one that the build left. Outcome::faulted
// otherwise.
std::optional<Failure> check_object(const Build& build);

// The clock of a process on this CPU.
struct ClockWatch {
  // Returns the mean MHz since the last call; nullopt when unknown. Empty where `missing` says why.
  std::function<std::optional<double>()> mhz;
  std::string missing;
};

// The loop provides these, so that this stage does not depend on the one that builds.
struct Runtime {
  const Family* family = nullptr;
  std::function<Build(const Configuration&, const Axes&, bool sanitize)> build;
  // Target host: the build whose threads ThreadSanitizer watches; nullopt for a variant that starts none, and
  // not_checkable where it does not know how they wait for each other. Empty where nothing is watched.
  std::function<std::optional<Build>(const Configuration&, const Axes&)> build_for_threads;
  // Returns "" when the configuration supports these axes, else the reason (from its apo:requires).
  std::function<std::string(const Configuration&, const Axes&)> unsupported;
  // Returns the grids of its launches on these axes. Empty where nothing is launched by lines.
  std::function<Grids(const Configuration&, const Axes&)> grids;
  // Returns the bytes of each scratch buffer of the configuration, in order.
  std::function<std::vector<std::int64_t>(const Configuration&, const Axes&)> scratch;
  std::function<std::vector<SourceFile>(const Configuration&)> sources;  // the variant's file and its headers
  // Returns a build with its code in the order that the seed draws, within the folder. Empty where builds have no
  // order.
  std::function<Build(const Build&, std::uint64_t seed, const std::filesystem::path& folder)> relink;
  // Target host: watches the clock of a process and of all threads that it starts. Empty where that is impossible.
  std::function<ClockWatch(int pid)> watch_clock;
  // Hash of the machine code in a cubin's bytes, and of nothing else. Empty where no build makes cubins.
  CodeOf code_of;
  LaunchForm launch = LaunchForm::stream;  // target cuda: of its builds
  WorkerOptions worker;                    // template for every process that is started; its target is the runtime's
  int threads = 1;                         // CPUs for the parent's own arithmetic
  std::int64_t device_bytes = 0;           // memory of the GPU; 0 on a host
  std::shared_ptr<InputStore> inputs = std::make_shared<InputStore>();
  std::shared_ptr<DeviceInputs> device_inputs = std::make_shared<DeviceInputs>();
  std::shared_ptr<WorkerPool> worker_pool = std::make_shared<WorkerPool>();
  std::shared_ptr<DeviceTurns> turns;  // with other processes that time on this device; nullptr: there are none
  std::string sanitizer_runtime;       // for LD_PRELOAD; empty: the sanitizer gate says that it could not run
  std::string thread_sanitizer;        // for LD_PRELOAD with build_for_threads
  // Target cuda: the program compute-sanitizer, empty when it is not installed, and which of its tools the gate runs.
  std::string compute_sanitizer;
  std::vector<std::string> device_sanitizers = {"memcheck", "racecheck"};

  // Taken by every measurement for its duration; taken at once when there are no others.
  DeviceTurns::Turn take_turn(const DeviceTurns::Note& note) const {
    return turns == nullptr ? DeviceTurns::Turn() : turns->take(note);
  }
};

// The byte that an output is filled with before a call: 0xFF, which is NaN in every float and no bool. Every value of
// an integer may be right, so that its byte is drawn; it is neither of the likeliest, 0 and 0xFF.
std::uint8_t poison_byte(DType dtype, std::uint64_t seed);

// The buffers of one call of `family`: `sets` copies of the inputs, the outputs, scratch for slot 0 and slot 1. Aligned
// as the target's allocators do.
SharedTensorsSpec shared_tensors_spec(const Family& family, const Axes& axes, int sets,
                                      const std::vector<std::int64_t>& scratch0,
                                      const std::vector<std::int64_t>& scratch1, std::uint64_t layout_seed,
                                      Target target = Target::host);

// Changes the buffers of a call with the axes `drawn` to those of one with the axes `whole`, whose tensors repeat them
// on the GPU.
void repeat_on_device(SharedTensorsSpec& spec, const Family& family, const Axes& drawn, const Axes& whole);

// Loads a build: its object, and for a device variant its launches, if the file is still what was built.
Result<Done> load_build(Worker& worker, int slot, const Build& build);

// Without a copy for the shared tensors' own comparison: the inputs have to outlive the shared tensors.
void share_inputs(SharedTensors& shared_tensors, int set, const Family& family, const InputSet& inputs,
                  int threads = 1);
// The same on a GPU: without the bytes where it keeps them.
void bring_inputs(const Runtime& runtime, SharedTensors& shared_tensors, int set, const CheckedInputs& checked,
                  int threads);
TensorBytes read_outputs(const SharedTensors& shared_tensors, const Family& family);
// The same in the memory that the worker writes to.
OutputViews view_outputs(const SharedTensors& shared_tensors, const Family& family);

// Returns how many calls a sample on a GPU has: those of `sample_ns`, at least two. They are back to back, so that they
// share the cost of the sample's events, a launch and its start, some us; where the cache is cold they work on copies
// of the tensors in turn, so that each finds its own out of the cache. It is one call behind a flush where a call takes
// 2 ms, or where the cache is cold and copies would be large: more than 256 MiB each. The two forms differ by the cost
// that is shared: which one a workload has is decided by its tensors, not by how fast a candidate is. Where a call
// updates tensors in place, there are at most as many as there can be copies. Throws UserError when `call_ns` is no
// time.
int calls_in_sample(const Family& family, const Axes& axes, double call_ns, CachePolicy cache,
                    double sample_ns = 100e3);

// Returns the bytes of all tensors of a call, inputs and outputs.
std::int64_t tensor_bytes(const Family& family, const Axes& axes);

// Outcome::out_of_memory when a candidate asks for more scratch than this machine has memory, which also holds a mirror
// of a GPU's tensors.
std::optional<Failure> check_scratch(const std::vector<std::int64_t>& bytes);

}  // namespace apo
