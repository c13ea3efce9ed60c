// harness/evaluate/correctness.cpp - runs a configuration on checked calls in a worker and compares from outside.
#include "harness/evaluate/correctness.h"

#include <algorithm>
#include <chrono>

#include "harness/core/text.h"
#include "harness/evaluate/device_sanitizers.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Inputs and expectations of every regime of a case.
struct Prepared {
  std::vector<InputSet> inputs;
  std::vector<Expected> expected;
};

Prepared prepare(const Lab& lab, const CheckCase& one, std::uint64_t seed) {
  Prepared prepared;
  const auto units = draw_units(lab.family->unit_count(one.axes), kCheckedUnits, seed);
  for (std::size_t i = 0; i < one.regimes.size(); ++i) {
    prepared.inputs.push_back(
        make_inputs(*lab.family, one.axes, derive_seed(seed, one.workload, i), one.regimes[i], lab.threads));
    prepared.expected.push_back(expect(*lab.family, prepared.inputs.back(), units, lab.threads));
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

CheckResult run_calls(const Lab& lab, Worker& worker, Arena& arena, const CheckCase& one, const Prepared& prepared) {
  CheckResult result;
  for (std::size_t i = 0; i < one.regimes.size(); ++i) {
    const std::string where = one.workload + " (" + one.regimes[i] + ")";
    arena.poison_outputs();
    if (const auto sample = worker.call(0, static_cast<int>(i)); !sample) {
      return failed(sample.failure(), where);
    }
    worker.freeze();
    if (const auto failure = inspect_call(arena, *lab.family, one.axes, prepared.expected[i])) {
      return failed(*failure, where);
    }
    ++result.calls;
    result.elements += compared_elements(*lab.family, one.axes, prepared.expected[i].units);
  }
  return result;
}

bool supported(const Lab& lab, const Configuration& configuration, const CheckCase& one) {
  return lab.unsupported(configuration, one.axes).empty();
}

std::int64_t tensor_bytes(const Family& family, const Axes& axes) {
  std::int64_t bytes = 0;
  for (const TensorSpec& tensor : family.tensors) {
    bytes += dtype_bytes(tensor.dtype) * element_count(tensor, axes);
  }
  return bytes;
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
                                        std::uint64_t seed) {
  std::vector<CheckCase> plan;
  const std::size_t regimes = family.regimes.size();
  std::size_t turn = derive_seed(seed, "regimes") % regimes;
  const auto pair = [&](std::size_t first) {
    std::vector<std::string> two = {family.regimes[first % regimes]};
    if (regimes > 1) {
      two.push_back(family.regimes[(first + 1) % regimes]);
    }
    return two;
  };
  for (const Workload& workload : family.workloads) {
    if (workload.kind == WorkloadKind::small || workload.kind == WorkloadKind::ragged) {
      plan.push_back(
          {.workload = workload.name, .axes = workload.axes, .regimes = plan.empty() ? family.regimes : pair(turn)});
      turn += 2;
    }
  }
  for (const std::string& name : campaign_workloads) {
    std::vector<std::string> chosen = {family.regimes.front()};
    if (regimes > 1) {
      chosen.push_back(family.regimes[1 + derive_seed(seed, name) % (regimes - 1)]);
    }
    plan.push_back({.workload = name, .axes = find_workload(family, name)->axes, .regimes = chosen});
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
  const Prepared prepared = prepare(lab, one, seed);
  Arena arena(arena_spec(*lab.family, one.axes, static_cast<int>(one.regimes.size()),
                         lab.scratch(configuration, one.axes), {}, derive_seed(seed, "arena"), lab.worker.target));
  for (std::size_t i = 0; i < prepared.inputs.size(); ++i) {
    write_inputs(arena, static_cast<int>(i), prepared.inputs[i]);
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

GateResult correctness_gate(const Lab& lab, const Configuration& configuration, const std::vector<CheckCase>& plan,
                            std::uint64_t seed, const CheckProgress& progress) {
  GateResult gate{.gate = "correctness"};
  int cases = 0;
  int calls = 0;
  int left_out = 0;
  std::int64_t elements = 0;
  std::string confinement;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (progress) {
      progress(static_cast<int>(i), static_cast<int>(plan.size()), plan[i].workload);
    }
    if (!supported(lab, configuration, plan[i])) {
      ++left_out;
      continue;
    }
    const CheckResult result = check_case(lab, configuration, plan[i], derive_seed(seed, "check", i));
    gate.seconds += result.seconds;
    if (result.outcome != Outcome::valid) {
      gate.outcome = result.outcome;
      gate.evidence = result.evidence;
      return gate;
    }
    ++cases;
    calls += result.calls;
    elements += result.elements;
    confinement = result.confinement;
  }
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
