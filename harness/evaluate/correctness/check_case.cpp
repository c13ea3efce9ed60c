// harness/evaluate/correctness/check_case.cpp - builds, prepares, calls, and inspects all memory a call may touch.
#include "harness/evaluate/correctness/check_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/compare.h"
#include "harness/evaluate/correctness/inspect_call.h"
#include "harness/runtime/timed_workload.h"
#include "kernels/random.h"

namespace apo {
namespace {

CheckResult failed(const Failure& failure, const std::string& where) {
  return {.outcome = failure.outcome, .evidence = where + ": " + failure.evidence};
}

// Whether the same inputs promise the same bits of this output.
bool is_repeatable(const Family& family, const TensorSpec& output) {
  return output.random ? !output.drawn_by.empty() : family.repeatable;
}

bool repeats_any(const Family& family) {
  return std::ranges::any_of(family.tensors, [&](const TensorSpec& tensor) {
    return tensor.role == Role::output && is_repeatable(family, tensor);
  });
}

// Repeats the last call on the first set: the outputs that promise it must have the same bits.
std::optional<Failure> call_again(const Runtime& runtime, Worker& worker, SharedTensors& shared_tensors,
                                  std::chrono::milliseconds deadline) {
  const TensorBytes before = read_outputs(shared_tensors, *runtime.family);
  shared_tensors.poison_outputs();
  if (const auto sample = worker.call(0, 0, deadline); !sample) {
    return sample.failure();
  }
  worker.freeze();
  for (const auto& [name, bytes] : read_outputs(shared_tensors, *runtime.family)) {
    const auto& first = before.at(name);
    if (!is_repeatable(*runtime.family, *find_output(*runtime.family, name))) {
      continue;
    }
    if (const auto differs = std::ranges::mismatch(bytes, first).in1; differs != bytes.end()) {
      const auto width = dtype_bytes(find_tensor(*runtime.family, name)->dtype);
      return Failure{.outcome = Outcome::incorrect,
                     .evidence = fmt::format("the same call again gave other bits: '{}' differs at element {}", name,
                                             (differs - bytes.begin()) / width)};
    }
  }
  return std::nullopt;
}

// Leaves out a regime in which nothing can be compared. Throws UserError where the author of the family named it.
void leave_out(const Family& family, const CheckCase& one, std::size_t regime, const NothingToCompare& error,
               std::vector<std::string>& left_out) {
  const std::string& name = one.regimes[regime];
  if (!may_leave_out(family, name)) {
    throw UserError(fmt::format("{}, workload {}, regime {}", error.what(), one.workload, name),
                    replace_all(error.hint(), "NAME", name));
  }
  left_out.push_back(name);
}

// Makes one call on inputs of a regime, in `set`, and inspects all memory that it may have touched.
std::optional<Failure> call_and_look(const Runtime& runtime, Worker& worker, SharedTensors& shared_tensors,
                                     const std::string& whose, const CheckCase& one, std::size_t regime, int set,
                                     std::chrono::milliseconds deadline, const CheckedInputs& inputs,
                                     RepeatedCalls& repeated, CheckResult& result) {
  std::future<void> expecting = std::async(std::launch::async, [&] {  // beside the call
    const auto begin = std::chrono::steady_clock::now();
    inputs.compute_whole();
    static_cast<void>(inputs.expected());
    result.reference_s += seconds_since(begin);
  });
  shared_tensors.poison_outputs(set);
  const auto called = worker.call(0, set, deadline);
  if (!called) {
    return called.failure();
  }
  worker.freeze();
  CallFindings findings;
  std::optional<Failure> failure;
  try {
    expecting.get();
    failure = inspect_call(shared_tensors, *runtime.family, inputs, whose, set, runtime.threads, &findings);
  } catch (const NothingToCompare& error) {
    leave_out(*runtime.family, one, regime, error, result.left_out);
    return std::nullopt;
  }
  merge(result.errors, findings.errors);
  if (failure && findings.wrong_call_of.empty()) {  // else a call of another candidate, which was checked earlier
    const std::uint64_t seed = one.seed != 0 ? 0 : inputs.inputs.seed;  // other experiments get the same inputs
    explain(*failure, one.workload, seed);
    result.wrong = failure->wrong;
    if (one.repeated_axis.empty()) {
      result.wrong_case = {.workload = one.workload, .axes = one.axes, .regime = one.regimes[regime], .seed = seed};
    }
    return failure;
  }
  if (const std::string problem = guard_is_on(Guard::reference) ? repeated.add(inputs.inputs, findings.draws) : "";
      !problem.empty()) {
    return Failure{.outcome = Outcome::incorrect, .evidence = problem};
  }
  ++result.calls;
  result.is_witness = inputs.witness() != nullptr;
  result.elements += findings.elements;
  result.undecided += findings.undecided;
  result.not_computed += inputs.expected().left_out;
  return worker.check_code();
}

// Whether the inputs of all regimes have one place in turn: on a host, where the tensors of a call are large. A program
// keeps its buffers and fills them anew: a result that is kept for an address is wrong then.
bool share_a_place(const Runtime& runtime, const CheckCase& one) {
  constexpr std::int64_t kLarge = std::int64_t{16} << 20;  // bytes
  return runtime.worker.target == Target::host && tensor_bytes(*runtime.family, one.held_axes()) >= kLarge;
}

CheckResult run_calls(const Runtime& runtime, Worker& worker, SharedTensors& shared_tensors, const std::string& whose,
                      const CheckCase& one, const std::vector<CheckedPointer>& prepared) {
  const bool shares = share_a_place(runtime, one);
  const std::chrono::milliseconds deadline = deadline_of(runtime, one.axes);
  CheckResult result{.errors = {.workload = one.workload}};
  RepeatedCalls repeated(*runtime.family);
  const auto failed_call = [&](const Failure& failure, const std::string& regimes) {
    CheckResult bad = failed(failure, one.workload + " (" + regimes + ")");
    bad.evidence += one.known_from.empty() ? "" : "; checked first, as " + one.known_from + " was wrong there";
    bad.errors = result.errors;
    bad.wrong = result.wrong;
    bad.wrong_case = result.wrong_case;
    return bad;
  };
  for (std::size_t i = 0; i < one.regimes.size(); ++i) {
    if (prepared[i] == nullptr) {
      result.left_out.push_back(one.regimes[i]);
      continue;
    }
    if (shares) {
      share_inputs(shared_tensors, 0, *runtime.family, prepared[i]->inputs, runtime.threads);
    }
    auto failure = call_and_look(runtime, worker, shared_tensors, whose, one, i, shares ? 0 : static_cast<int>(i),
                                 deadline, *prepared[i], repeated, result);
    if (!failure && i == 0 && repeats_any(*runtime.family) && guard_is_on(Guard::repeat)) {
      failure = call_again(runtime, worker, shared_tensors, deadline);
    }
    if (failure) {
      return failed_call(*failure, one.regimes[i]);
    }
  }
  if (runtime.worker.target == Target::host && !shares && prepared.size() > 1 && prepared.back() != nullptr) {
    share_inputs(shared_tensors, 0, *runtime.family, prepared.back()->inputs);
    if (const auto failure = call_and_look(runtime, worker, shared_tensors, whose, one, prepared.size() - 1, 0,
                                           deadline, *prepared.back(), repeated, result)) {
      return failed_call(*failure, one.regimes.back() + " where " + one.regimes.front() + " stood");
    }
  }
  result.draws = repeated.draws();
  return result;
}

// Whether a failure may come from a call that the confinement refused.
bool may_be_refused(const CheckResult& result, const WorkerOptions& options) {
  return (result.outcome == Outcome::refused || result.outcome == Outcome::faulted ||
          result.outcome == Outcome::incorrect) &&
         options.target == Target::host && !options.executor && options.preload.empty();
}

// Loads the build, or sets its launches for the sizes of another case.
Result<Done> load_for(Worker& worker, const Build& build, Loaded loaded) {
  if (loaded == Loaded::no) {
    return load_build(worker, 0, build);
  }
  return build.plan.has_device_code_only() ? worker.relaunch(0, build.plan) : Result<Done>(Done{});
}

}  // namespace

std::vector<CheckedPointer> case_inputs(const Runtime& runtime, const CheckCase& one, std::uint64_t seed) {
  Workload workload{.name = one.workload, .axes = one.held_axes()};
  if (!one.repeats_on_device) {
    workload.repeated_axis = one.repeated_axis;
    workload.distinct = one.distinct;
  }
  const Workload* known = find_workload(*runtime.family, one.workload);
  if (known != nullptr && known->axes == one.axes) {
    workload = *known;
  }
  std::vector<CheckedPointer> prepared;
  for (std::size_t i = 0; i < one.regimes.size(); ++i) {
    const std::uint64_t own =
        one.known_seed != 0 ? one.known_seed : derive_seed(one.seed != 0 ? one.seed : seed, one.workload, i);
    try {
      const auto get = [&](Purpose purpose) {
        return runtime.inputs->get(*runtime.family, workload, own, one.regimes[i], runtime.threads, purpose);
      };
      CheckedPointer inputs = get(one.purpose);
      prepared.push_back(one.is_held && inputs->witness() == nullptr ? get(Purpose::gate) : inputs);
    } catch (const NothingToCompare& error) {
      std::vector<std::string> left_out;  // said by run_calls
      leave_out(*runtime.family, one, i, error, left_out);
      prepared.push_back(nullptr);
    }
  }
  return prepared;
}

WorkerOptions case_worker(WorkerOptions options, std::uint64_t seed) {
  options.layout_seed = derive_seed(seed, "environment");
  return options;
}

namespace {

// Lays the tensors out as the seed draws, and makes all calls of the case.
CheckResult attach_and_call(Worker& worker, const Runtime& runtime, const std::string& whose, const CheckCase& one,
                            const std::vector<std::int64_t>& scratch, const std::vector<CheckedPointer>& inputs,
                            std::uint64_t seed, GateSteps& steps, const std::shared_ptr<MemoryFile>& memory) {
  std::optional<GateSteps::Step> step(std::in_place, steps, "tensors of " + one.workload);
  const bool shares = share_a_place(runtime, one);
  SharedTensorsSpec spec =
      shared_tensors_spec(*runtime.family, one.held_axes(), shares ? 1 : static_cast<int>(one.regimes.size()), scratch,
                          {}, seed, runtime.worker.target);
  if (one.repeats_on_device) {
    repeat_on_device(spec, *runtime.family, one.held_axes(), one.axes);
  }
  spec.fenced = runtime.worker.target == Target::host && guard_is_on(Guard::fences);
  spec.prepared_calls = runtime.worker.target == Target::host && !runtime.worker.executor;
  spec.threads = runtime.threads;
  SharedTensors shared_tensors(spec, memory);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != nullptr && !shares) {
      share_inputs(shared_tensors, static_cast<int>(i), *runtime.family, inputs[i]->inputs);
    }
  }
  if (const auto attached = worker.attach(shared_tensors); !attached) {
    return failed(attached.failure(), one.workload);
  }
  step.emplace(steps, "calls on " + one.workload);
  return run_calls(runtime, worker, shared_tensors, whose, one, inputs);
}

// Whether an element may hold what filled its output, and be right: the same calls with another filling tell.
bool is_poison_legal(const Family& family, const std::vector<CheckedPointer>& inputs) {
  const bool any_integer = std::ranges::any_of(family.tensors, [](const TensorSpec& tensor) {
    return tensor.role == Role::output && !is_float(tensor.dtype) && tensor.dtype != DType::boolean;
  });
  return any_integer && std::ranges::any_of(inputs, [](const CheckedPointer& checked) {
           const auto witness = checked == nullptr ? nullptr : checked->witness();
           return witness != nullptr && !witness->is_confirmed();
         });
}

}  // namespace

CheckResult check_in(Worker& worker, const Runtime& runtime, const Configuration& configuration, const Build& build,
                     const CheckCase& one, const std::vector<CheckedPointer>& inputs, std::uint64_t seed,
                     GateSteps& steps, Loaded loaded, const std::shared_ptr<MemoryFile>& memory) {
  const std::vector<std::int64_t> scratch = runtime.scratch(configuration, one.axes);
  if (const auto failure = check_scratch(scratch)) {
    return failed(*failure, one.workload);
  }
  std::optional<GateSteps::Step> step(std::in_place, steps, "load " + one.workload);
  if (const auto ready = load_for(worker, build, loaded); !ready) {
    return failed(ready.failure(), one.workload);
  }
  step.reset();
  const std::string whose = configuration.label() + " " + build.code_hash;
  const auto call = [&](const char* tensors) {
    return attach_and_call(worker, runtime, whose, one, scratch, inputs, derive_seed(seed, tensors), steps, memory);
  };
  CheckResult result = call("tensors");
  if (result.outcome == Outcome::valid && is_poison_legal(*runtime.family, inputs)) {
    result = call("other tensors");
  }
  result.confinement = worker.confinement();
  const auto inverted = build.resources.find(kInvertedBytes);
  if (inverted != build.resources.end() &&
      (result.outcome == Outcome::incorrect || result.outcome == Outcome::faulted)) {
    result.evidence += fmt::format(
        "; {} bytes of its kernels' parameters or memory were taken for stale and are inverted in its recording: "
        "it may read them",
        inverted->second);
  }
  return result;
}

CheckResult check_alone(const WorkerOptions& options, const Runtime& runtime, const Configuration& configuration,
                        const Build& build, const CheckCase& one, const std::vector<CheckedPointer>& inputs,
                        std::uint64_t seed, GateSteps& steps) {
  std::optional<Worker> worker(std::in_place, case_worker(options, seed));
  CheckResult result = check_in(*worker, runtime, configuration, build, one, inputs, seed, steps);
  worker.reset();
  name_refused_call(result, options, runtime, configuration, build, one, inputs, seed);
  return result;
}

void name_refused_call(CheckResult& result, WorkerOptions options, const Runtime& runtime,
                       const Configuration& configuration, const Build& build, const CheckCase& one,
                       const std::vector<CheckedPointer>& inputs, std::uint64_t seed) {
  if (!may_be_refused(result, options)) {
    return;
  }
  options.name_refused = true;
  GateSteps steps;
  Worker worker(case_worker(options, seed));
  check_in(worker, runtime, configuration, build, one, inputs, seed, steps);
  const std::string call = worker.refused_call();
  result.evidence += call.empty() ? "" : "; it had called " + call + ", which is refused";
}

CheckResult check_case(const Runtime& runtime, const Configuration& configuration, const CheckCase& one,
                       std::uint64_t seed, bool sanitize) {
  const GateSteps steps;
  const Build build = runtime.build(configuration, one.axes, sanitize);
  if (build.outcome != Outcome::valid) {
    return {.outcome = build.outcome, .evidence = one.workload + ": " + build.evidence, .seconds = steps.seconds()};
  }
  WorkerOptions options = runtime.worker;
  if (sanitize) {
    options.preload = runtime.sanitizer_runtime;
  }
  CheckResult result = check_build(runtime, configuration, build, one, seed, options);
  result.seconds = steps.seconds();
  return result;
}

CheckResult check_build(const Runtime& runtime, const Configuration& configuration, const Build& build,
                        const CheckCase& one, std::uint64_t seed, const WorkerOptions& options) {
  GateSteps steps;
  if (const auto failure = check_scratch(runtime.scratch(configuration, one.axes))) {
    return failed(*failure, one.workload);
  }
  const std::vector<CheckedPointer> inputs = case_inputs(runtime, one, seed);
  CheckResult result = check_alone(options, runtime, configuration, build, one, inputs, seed, steps);
  result.seconds = steps.seconds();
  return result;
}

CheckWorkers::CheckWorkers(const WorkerOptions& options, int count, std::uint64_t seed, WorkerPool& worker_pool)
    : worker_pool_(worker_pool), left_(count) {
  if (auto kept = count > 0 ? worker_pool_.take_kept() : nullptr) {
    idle_.push_back(std::move(kept));
  }
  while (static_cast<int>(idle_.size()) < count) {
    WorkerOptions own = options;
    own.await_start = false;
    own.layout_seed = derive_seed(seed, "environment", idle_.size());
    idle_.push_back(std::make_unique<Worker>(std::move(own)));
  }
}

CheckWorkers::~CheckWorkers() {
  for (std::unique_ptr<Worker>& worker : idle_) {
    worker_pool_.end(std::move(worker));
  }
}

CheckWorkers::Lease CheckWorkers::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !idle_.empty() || left_ == 0; });
  std::unique_ptr<Worker> worker;
  if (!idle_.empty()) {
    worker = std::move(idle_.front());
    idle_.pop_front();
  }
  return {*this, std::move(worker)};
}

void CheckWorkers::give_back(std::unique_ptr<Worker> worker, bool keep) {
  if (worker == nullptr) {
    return;
  }
  const std::lock_guard lock(mutex_);
  if (keep && worker->alive()) {
    idle_.push_front(std::move(worker));
  } else {
    --left_;
    worker_pool_.end(std::move(worker));
  }
  changed_.notify_all();
}

}  // namespace apo
