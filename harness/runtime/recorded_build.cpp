// harness/runtime/recorded_build.cpp - a worker loads the library, calls it, and hands over what reached the GPU; a
// Python file does so in a process of its own.
#include "harness/runtime/recorded_build.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/recording/recorded_call.h"
#include "harness/core/system/files.h"
#include "harness/core/system/secret.h"
#include "harness/runtime/python_call.h"
#include "harness/runtime/tensor_data.h"
#include "kernels/random.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{60};

// Of one library for some sizes on a model of GPU; another library lies elsewhere.
fs::path file_of(const Build& library, const Axes& axes, const std::string& device) {
  return fs::path(library.object_path).parent_path() /
         ("recorded-" + sha256(device + " " + describe_axes(axes)).substr(0, 16));
}

// Throws EnvironmentError where it does not start.
std::unique_ptr<Worker> process_for_calls(const Runtime& runtime) {
  WorkerOptions options = runtime.worker;
  options.record_calls = true;
  options.deadline = std::max<std::chrono::milliseconds>(options.deadline, kPatience);
  return std::make_unique<Worker>(options);
}

// Large tensors are zeros: the host has one element of each, and the GPU repeats it. Filling and copying whole ones
// beyond 2^31 elements takes seconds.
void share_one_element(SharedTensorsSpec& spec) {
  for (BufferSpec& buffer : spec.buffers) {
    if (buffer.role != BufferRole::scratch && buffer.bytes > 0) {
      buffer.repeats.count = buffer.bytes / buffer.element_bytes;
      buffer.bytes = buffer.element_bytes;
    }
  }
}

Result<RecordedCall> record_in(Worker& worker, const SharedTensors& tensors) {
  const auto attached = worker.attach(tensors);
  return attached ? worker.record(0, kPatience) : attached.failure();
}

Result<RecordedCall> record(const Runtime& runtime, const Configuration& configuration, const Axes& axes,
                            const Build& library) {
  const Family& family = *runtime.family;
  const std::uint64_t seed = secret_seed();
  const bool is_drawn = tensor_bytes(family, axes) <= kMostDrawn;
  SharedTensorsSpec spec = shared_tensors_spec(family, axes, is_drawn ? kRecordedSets : 1,
                                               runtime.scratch(configuration, axes), {}, seed, runtime.worker.target);
  if (!is_drawn) {
    share_one_element(spec);
  }
  SharedTensors tensors(spec);
  std::vector<InputSet> sets;
  sets.reserve(kRecordedSets);
  for (int set = 0; is_drawn && set < kRecordedSets; ++set) {
    sets.push_back(make_inputs(family, axes, derive_seed(seed, "recorded", static_cast<std::uint64_t>(set)),
                               family.regimes.front(), runtime.threads));
    share_inputs(tensors, set, family, sets.back(), runtime.threads);
  }
  // One that has called it for other sizes, since a start takes longer than a call. Where that one fails, a new one
  // tells whether what it did before is to blame.
  std::unique_ptr<Worker> worker = runtime.worker_pool->take_called(library.object_path);
  std::optional<Result<RecordedCall>> recorded;
  if (worker) {
    recorded = record_in(*worker, tensors);
  }
  if (!recorded || !*recorded) {
    worker = process_for_calls(runtime);
    const auto loaded = load_build(*worker, 0, library);
    recorded = loaded ? record_in(*worker, tensors) : loaded.failure();
  }
  if (*recorded && is_drawn) {  // large tensors are not kept
    runtime.worker_pool->keep_called(library.object_path, std::move(worker));
  }
  return *recorded;
}

Build recorded_build(const Runtime& runtime, const Configuration& configuration, const Axes& axes, const Build& library,
                     const std::string& device) {
  Build build = library;
  const fs::path file = file_of(library, axes, device);
  std::optional<RecordedCall> call = is_absent(file) ? std::nullopt : decode_recorded_call(read_file(file));
  if (!call) {
    const auto recorded = is_python_build(library) ? record_python(runtime, axes, library, build.log)
                                                   : record(runtime, configuration, axes, library);
    if (!recorded) {
      build.outcome = recorded.failure().outcome;
      build.evidence = recorded.failure().evidence;
      return build;
    }
    call = *recorded;
    write_file_atomically(file, encode(*call));
  }
  build.object_path = file.string();
  build.object_hash = sha256(read_file(file));
  build.plan = plan_of(*call);
  if (call->unsettled > 0) {
    build.resources[kInvertedBytes] = call->unsettled;
  }
  return build;
}

}  // namespace

void record_libraries(Runtime& runtime, const std::string& device) {
  runtime.build = [recording = runtime, device](const Configuration& configuration, const Axes& axes, bool sanitize) {
    const Build built = recording.build(configuration, axes, sanitize);
    const bool is_library = built.outcome == Outcome::valid && built.plan.library;
    return is_library ? recorded_build(recording, configuration, axes, built, device) : built;
  };
}

void launch_as_graph(Runtime& runtime) {
  if (runtime.worker.target != Target::cuda) {
    throw UserError("--launch graph is of what a GPU is given, and nothing runs on one here",
                    "leave it out, or choose variants of target cuda");
  }
  runtime.launch = LaunchForm::graph;
  runtime.build = [build = runtime.build](const Configuration& configuration, const Axes& axes, bool sanitize) {
    Build built = build(configuration, axes, sanitize);
    built.plan.graph = built.plan.has_device_code_only();
    return built;
  };
}

}  // namespace apo
