// harness/evaluate/lab.h - what every gate needs: the family, a way to build, a way to start workers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/device_turns.h"
#include "harness/core/records.h"
#include "harness/evaluate/compare.h"
#include "harness/evaluate/data.h"
#include "harness/evaluate/input_store.h"
#include "harness/evaluate/loaded_code.h"
#include "harness/evaluate/worker_yard.h"
#include "harness/worker/arena.h"
#include "harness/worker/worker.h"

namespace apo {

// The clock at which a process on this CPU runs.
struct ClockWatch {
  // Mean MHz since this was asked last; nullopt when it cannot be told. Empty where `missing` says why.
  std::function<std::optional<double>()> mhz;
  std::string missing;
};

// Given by the loop, so that this stage does not depend on the one that builds.
struct Lab {
  const Family* family = nullptr;
  std::function<Build(const Configuration&, const Axes&, bool sanitize)> build;
  // "" when the configuration supports these axes, else the reason (from its apo:requires).
  std::function<std::string(const Configuration&, const Axes&)> unsupported;
  // Bytes of each scratch buffer of the configuration, in order.
  std::function<std::vector<std::int64_t>(const Configuration&, const Axes&)> scratch;
  std::function<std::string(const Configuration&)> source;  // the variant's whole file
  // A build with its code in the order that the seed draws, within the folder. Empty where no build has an order.
  std::function<Build(const Build&, std::uint64_t seed, const std::filesystem::path& folder)> relink;
  // Target host: watches the clock of a process and of all threads that it starts. Empty: nobody can.
  std::function<ClockWatch(int pid)> watch_clock;
  // Of a cubin's bytes: the hash of its machine code, blind to the rest. Empty where no build makes cubins.
  CodeOf code_of;
  WorkerOptions worker;  // template for every process that is started; its target is the lab's
  int threads = 1;       // CPUs for the parent's own arithmetic
  std::shared_ptr<InputStore> inputs = std::make_shared<InputStore>();
  std::shared_ptr<WorkerYard> yard = std::make_shared<WorkerYard>();
  std::shared_ptr<DeviceTurns> turns;  // with other processes that time on this device; nullptr: there are none
  std::string sanitizer_runtime;       // for LD_PRELOAD; empty: the sanitizer gate says that it could not run
  // Target cuda: the program compute-sanitizer, empty when it is not installed, and which of its tools the gate runs.
  std::string compute_sanitizer;
  std::vector<std::string> device_sanitizers = {"memcheck", "racecheck"};

  // For whatever is timed until it goes; at once where there are no others.
  DeviceTurns::Turn take_turn(const DeviceTurns::Note& note) const {
    return turns == nullptr ? DeviceTurns::Turn() : turns->take(note);
  }
};

// The buffers of one call of `family`: `sets` copies of the inputs, the outputs, scratch for slot 0 and slot 1. Aligned
// as the target's allocators do.
ArenaSpec arena_spec(const Family& family, const Axes& axes, int sets, const std::vector<std::int64_t>& scratch0,
                     const std::vector<std::int64_t>& scratch1, std::uint64_t layout_seed,
                     Target target = Target::host);

// Loads what was built: its object, and for a device variant how it is launched, if the file is still what was built.
Result<Done> load_build(Worker& worker, int slot, const Build& build);

void write_inputs(Arena& arena, int set, const InputSet& inputs);
// The same without a copy for the arena's own comparison: the inputs have to outlive the arena.
void share_inputs(Arena& arena, int set, const Family& family, const InputSet& inputs, int threads = 1);
TensorBytes read_outputs(const Arena& arena, const Family& family);
// In the memory that the worker writes to.
OutputViews view_outputs(const Arena& arena, const Family& family);

// Guards whole, inputs (of one set, or all) unchanged, outputs right: nullopt, else Outcome::incorrect with the first
// thing found. Tensors are compared on up to `threads` threads.
std::optional<Failure> inspect_call(const Arena& arena, const Family& family, const Axes& axes,
                                    const Expected& expected, std::optional<int> set = {}, int threads = 1);

// Of all tensors of a call, inputs and outputs.
std::int64_t tensor_bytes(const Family& family, const Axes& axes);

// Outcome::out_of_memory when a candidate asks for more scratch than this machine has memory, which also holds a
// mirror of what a GPU gets.
std::optional<Failure> check_scratch(const std::vector<std::int64_t>& bytes);

}  // namespace apo
