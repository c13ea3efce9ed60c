// harness/evaluate/correctness.cpp - runs a configuration on checked calls in a worker and compares from outside.
#include "harness/evaluate/correctness.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>

#include "harness/core/guards.h"
#include "harness/core/text.h"
#include "harness/evaluate/device_sanitizers.h"
#include "kernels/parallel.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The inputs of every regime of a case.
std::vector<CheckedPointer> prepare(const Lab& lab, const CheckCase& one, std::uint64_t seed) {
  Workload workload{.name = one.workload, .axes = one.axes};
  const Workload* known = find_workload(*lab.family, one.workload);
  if (known != nullptr && known->axes == one.axes) {
    workload = *known;
  }
  std::vector<CheckedPointer> prepared;
  for (std::size_t i = 0; i < one.regimes.size(); ++i) {
    const std::uint64_t own = derive_seed(one.seed != 0 ? one.seed : seed, one.workload, i);
    prepared.push_back(lab.inputs->get(*lab.family, workload, own, one.regimes[i], lab.threads));
  }
  return prepared;
}

std::int64_t compared_elements(const Family& family, const Axes& axes, const std::vector<std::int64_t>& units) {
  std::int64_t elements = 0;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::output && units.empty()) {
      elements += element_count(tensor, axes);
    } else if (tensor.role == Role::output) {
      for (const std::int64_t unit : units) {
        for (const ElementRun& run : family.unit_elements(axes, tensor.name, unit)) {
          elements += run.count;
        }
      }
    }
  }
  return elements;
}

CheckResult failed(const Failure& failure, const std::string& where) {
  return {.outcome = failure.outcome, .evidence = where + ": " + failure.evidence};
}

// The last call on the first set once more: its outputs have to have the same bits.
std::optional<Failure> call_again(const Lab& lab, Worker& worker, Arena& arena) {
  const TensorBytes before = read_outputs(arena, *lab.family);
  arena.poison_outputs();
  if (const auto sample = worker.call(0, 0); !sample) {
    return sample.failure();
  }
  worker.freeze();
  for (const auto& [name, bytes] : read_outputs(arena, *lab.family)) {
    const auto& first = before.at(name);
    if (const auto differs = std::ranges::mismatch(bytes, first).in1; differs != bytes.end()) {
      const auto width = dtype_bytes(find_tensor(*lab.family, name)->dtype);
      return Failure{.outcome = Outcome::incorrect,
                     .evidence = "the same call again gave other bits: '" + name + "' differs at element " +
                                 std::to_string((differs - bytes.begin()) / width)};
    }
  }
  return std::nullopt;
}

CheckResult run_calls(const Lab& lab, Worker& worker, Arena& arena, const CheckCase& one,
                      const std::vector<CheckedPointer>& prepared) {
  CheckResult result;
  for (std::size_t i = 0; i < one.regimes.size(); ++i) {
    const std::string where = one.workload + " (" + one.regimes[i] + ")";
    arena.poison_outputs();
    const auto called = worker.call(0, static_cast<int>(i));
    if (!called) {
      return failed(called.failure(), where);
    }
    worker.freeze();
    if (const auto late = worker.check_outputs(*called)) {
      return failed(*late, where);
    }
    const Expected& expected = prepared[i]->expected;
    if (const auto failure = inspect_call(arena, *lab.family, one.axes, expected, static_cast<int>(i))) {
      return failed(*failure, where);
    }
    if (const auto failure = worker.check_code()) {
      return failed(*failure, where);
    }
    if (i == 0 && lab.family->repeatable && guard_is_on(Guard::repeat)) {
      if (const auto failure = call_again(lab, worker, arena)) {
        return failed(*failure, where);
      }
    }
    ++result.calls;
    result.elements += compared_elements(*lab.family, one.axes, expected.units);
  }
  return result;
}

bool supported(const Lab& lab, const Configuration& configuration, const CheckCase& one) {
  return lab.unsupported(configuration, one.axes).empty();
}

// Sanitizers make a call ten times as long and more. nullptr when no ragged case is supported.
const CheckCase* smallest_ragged(const Lab& lab, const Configuration& configuration,
                                 const std::vector<CheckCase>& plan) {
  const CheckCase* smallest = nullptr;
  for (const CheckCase& one : plan) {
    const bool ragged = find_workload(*lab.family, one.workload)->kind == WorkloadKind::ragged;
    const bool smaller =
        smallest == nullptr || tensor_bytes(*lab.family, one.axes) < tensor_bytes(*lab.family, smallest->axes);
    if (ragged && smaller && supported(lab, configuration, one)) {
      smallest = &one;
    }
  }
  return smallest;
}

}  // namespace

std::vector<CheckCase> correctness_plan(const Family& family, const std::vector<std::string>& campaign_workloads,
                                        std::uint64_t seed, std::uint64_t shared_seed) {
  std::vector<CheckCase> plan;
  const std::size_t regimes = guard_is_on(Guard::regimes) ? family.regimes.size() : 1;
  const std::vector<std::string> all(family.regimes.begin(),
                                     family.regimes.begin() + static_cast<std::ptrdiff_t>(regimes));
  std::size_t turn = derive_seed(seed, "regimes") % regimes;
  const auto pair = [&](std::size_t first) {
    std::vector<std::string> two = {family.regimes[first % regimes]};
    if (regimes > 1) {
      two.push_back(family.regimes[(first + 1) % regimes]);
    }
    return two;
  };
  for (const Workload& workload : family.workloads) {
    const bool wanted = guard_is_on(Guard::shapes) || campaign_workloads.empty();
    if (wanted && (workload.kind == WorkloadKind::small || workload.kind == WorkloadKind::ragged)) {
      plan.push_back({.workload = workload.name, .axes = workload.axes, .regimes = plan.empty() ? all : pair(turn)});
      turn += 2;
    }
  }
  for (const std::string& name : campaign_workloads) {
    const Axes& axes = find_workload(family, name)->axes;
    const std::uint64_t own = shared_seed != 0 && shares_inputs(family, axes) ? shared_seed : 0;
    std::vector<std::string> chosen = {family.regimes.front()};
    if (regimes > 1) {
      chosen.push_back(family.regimes[1 + derive_seed(own != 0 ? own : seed, name) % (regimes - 1)]);
    }
    plan.push_back({.workload = name, .axes = axes, .regimes = chosen, .seed = own});
  }
  return plan;
}

CheckResult check_case(const Lab& lab, const Configuration& configuration, const CheckCase& one, std::uint64_t seed,
                       bool sanitize) {
  const auto start = Clock::now();
  const Build build = lab.build(configuration, one.axes, sanitize);
  if (build.outcome != Outcome::valid) {
    return {
        .outcome = build.outcome, .evidence = one.workload + ": " + build.evidence, .seconds = seconds_since(start)};
  }
  WorkerOptions options = lab.worker;
  if (sanitize) {
    options.preload = lab.sanitizer_runtime;
  }
  CheckResult result = check_build(lab, configuration, build, one, seed, options);
  result.seconds = seconds_since(start);
  return result;
}

CheckResult check_build(const Lab& lab, const Configuration& configuration, const Build& build, const CheckCase& one,
                        std::uint64_t seed, const WorkerOptions& options) {
  const auto start = Clock::now();
  const std::vector<std::int64_t> scratch = lab.scratch(configuration, one.axes);
  if (const auto failure = check_scratch(scratch)) {
    return failed(*failure, one.workload);
  }
  const std::vector<CheckedPointer> prepared = prepare(lab, one, seed);
  Arena arena(arena_spec(*lab.family, one.axes, static_cast<int>(one.regimes.size()), scratch, {},
                         derive_seed(seed, "arena"), lab.worker.target));
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    share_inputs(arena, static_cast<int>(i), *lab.family, prepared[i]->inputs);
  }
  WorkerOptions in_this_layout = options;
  in_this_layout.layout_seed = derive_seed(seed, "environment");
  Worker worker(in_this_layout);
  CheckResult result;
  if (const auto loaded = load_build(worker, 0, build); !loaded) {
    result = failed(loaded.failure(), one.workload);
  } else if (const auto attached = worker.attach(arena); !attached) {
    result = failed(attached.failure(), one.workload);
  } else {
    result = run_calls(lab, worker, arena, one, prepared);
    result.confinement = worker.confinement();
  }
  result.seconds = seconds_since(start);
  return result;
}

namespace {

// The result of every case that is supported; nothing behind the first that fails. For a device variant several cases
// at once, each in its own process: nothing is timed here, and most of a case is the start of a process and of a
// compiler.
std::vector<std::optional<CheckResult>> check_cases(const Lab& lab, const Configuration& configuration,
                                                    const std::vector<CheckCase>& plan, std::uint64_t seed,
                                                    const CheckProgress& progress) {
  constexpr int kAtOnce = 6;
  std::vector<std::optional<CheckResult>> results(plan.size());
  std::vector<std::int64_t> indices(plan.size());
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  std::mutex mutex;
  int done = 0;
  auto first_bad = std::ssize(plan);
  std::exception_ptr error;
  const auto check = [&](std::int64_t index) {
    const CheckCase& one = plan[static_cast<std::size_t>(index)];
    {
      const std::lock_guard lock(mutex);
      if (index > first_bad || error) {
        return;
      }
      if (progress) {
        progress(done++, static_cast<int>(plan.size()), one.workload);
      }
    }
    try {
      if (supported(lab, configuration, one)) {
        CheckResult result =
            check_case(lab, configuration, one, derive_seed(seed, "check", static_cast<std::uint64_t>(index)));
        const std::lock_guard lock(mutex);
        first_bad = result.outcome == Outcome::valid ? first_bad : std::min(first_bad, index);
        results[static_cast<std::size_t>(index)] = std::move(result);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      error = error ? error : std::current_exception();
    }
  };
  const bool untimed = lab.worker.target == Target::cuda || lab.worker.executor;
  for_each_unit(indices, untimed ? std::min(kAtOnce, lab.threads) : 1, check);
  if (error) {
    std::rethrow_exception(error);
  }
  return results;
}

}  // namespace

GateResult correctness_gate(const Lab& lab, const Configuration& configuration, const std::vector<CheckCase>& plan,
                            std::uint64_t seed, const CheckProgress& progress) {
  const auto start = Clock::now();
  GateResult gate{.gate = "correctness"};
  const std::vector<std::optional<CheckResult>> results = check_cases(lab, configuration, plan, seed, progress);
  int cases = 0;
  int calls = 0;
  int left_out = 0;
  std::int64_t elements = 0;
  std::string confinement;
  for (const std::optional<CheckResult>& result : results) {
    if (!result) {
      ++left_out;
      continue;
    }
    if (result->outcome != Outcome::valid) {
      gate.outcome = result->outcome;
      gate.evidence = result->evidence;
      gate.seconds = seconds_since(start);
      return gate;
    }
    ++cases;
    calls += result->calls;
    elements += result->elements;
    confinement = result->confinement;
  }
  gate.seconds = seconds_since(start);
  gate.evidence = std::to_string(calls) + " calls on " + std::to_string(cases) + " workloads right, " +
                  std::to_string(elements) + " elements";
  if (left_out > 0) {
    gate.evidence += "; " + std::to_string(left_out) + " workloads not supported";
  }
  // The trust level belongs to the verdict: host code shares a process with the clock that times it.
  gate.evidence += confinement.empty() ? "" : "; candidate held by: " + confinement;
  return gate;
}

GateResult sanitizer_gate(const Lab& lab, const Configuration& configuration, const std::vector<CheckCase>& plan,
                          std::uint64_t seed) {
  GateResult gate{.gate = "sanitizers"};
  if (!guard_is_on(Guard::sanitizers)) {
    gate.evidence = "not run: the guard is switched off";
    return gate;
  }
  const bool cuda = lab.worker.target == Target::cuda;
  if (cuda && lab.compute_sanitizer.empty()) {
    gate.evidence =
        "not run: compute-sanitizer is not installed (package cuda-sanitizer-13-0, part of CUDA Toolkit 13)";
    return gate;
  }
  if (!cuda && lab.sanitizer_runtime.empty()) {
    gate.evidence = "not run: the compiler has no AddressSanitizer library";
    return gate;
  }
  const CheckCase* usable = smallest_ragged(lab, configuration, plan);
  if (usable == nullptr) {
    gate.evidence = "not run: no ragged workload is supported";
    return gate;
  }
  const std::uint64_t case_seed = derive_seed(seed, "sanitize");
  if (cuda) {
    return device_sanitizer_gate(lab, configuration, *usable, case_seed);
  }
  const CheckResult result = check_case(lab, configuration, *usable, case_seed, true);
  gate.outcome = result.outcome;
  gate.seconds = result.seconds;
  gate.evidence = result.outcome == Outcome::valid
                      ? "ASan and UBSan silent over " + std::to_string(result.calls) + " calls on " + usable->workload
                      : result.evidence;
  return gate;
}

}  // namespace apo
