// harness/evaluate/correctness/correctness.cpp - runs the cases of a plan in parallel.
#include "harness/evaluate/correctness/correctness.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/evaluate/correctness/check_case.h"
#include "harness/evaluate/correctness/compare.h"
#include "harness/runtime/input_store.h"
#include "kernels/parallel.h"
#include "kernels/random.h"

namespace apo {
namespace {

// Builds a configuration for later cases while earlier ones are checked. A compiler takes one core. The case that asks
// for such a build finds it, or waits for it.
class BuildsAhead {
 public:
  // Builds for these axes in this order, on as many threads as the runtime has. The runtime and the configuration have
  // to outlive this.
  BuildsAhead(const Runtime& runtime, const Configuration& configuration, std::vector<Axes> axes)
      : runtime_(runtime), configuration_(configuration), axes_(std::move(axes)) {
    for (int i = 0; i < runtime.threads; ++i) {
      threads_.emplace_back([this] { build_all(); });
    }
  }
  // Waits for the builds under way, and begins no other.
  ~BuildsAhead() {
    next_ = axes_.size();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }
  BuildsAhead(const BuildsAhead&) = delete;
  BuildsAhead& operator=(const BuildsAhead&) = delete;

 private:
  void build_all() {
    constexpr int kYielding = 10;
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kYielding);  // what measures goes first; may be refused
    for (std::size_t i = next_++; i < axes_.size(); i = next_++) {
      try {
        static_cast<void>(runtime_.build(configuration_, axes_[i], false));
      } catch (const std::exception&) {
        return;  // the case that needs this build meets the same error, and reports it
      }
    }
  }

  const Runtime& runtime_;
  const Configuration& configuration_;
  const std::vector<Axes> axes_;
  std::atomic<std::size_t> next_ = 0;
  std::vector<std::thread> threads_;
};

// The cases of one plan. On target cuda and on the executor several are prepared at once: builds, inputs and references
// side by side. Their calls then take turns in a few workers, as far as the variant has no host code: a process on a
// GPU takes longer to start than a case to run, and the driver starts one at a time. On a host, whose calls use all
// cores, they take turns; once the first has passed, the builds of the others run ahead.
class CaseChecks {
 public:
  CaseChecks(const Runtime& runtime, const Configuration& configuration, const std::vector<CheckCase>& plan,
             std::uint64_t seed, const CheckProgress& progress, GateSteps& steps)
      : runtime_(runtime),
        configuration_(configuration),
        plan_(plan),
        seed_(seed),
        progress_(progress),
        steps_(steps),
        results_(plan.size()),
        first_bad_(std::ssize(plan)) {}

  // Returns the result of every supported case up to the first that fails.
  std::vector<std::optional<CheckResult>> run() {
    constexpr int kExecutorsAtOnce = 6;
    constexpr std::int64_t kGpuWorkers = 2;
    std::vector<std::int64_t> supported;
    for (std::int64_t i = 0; i < std::ssize(plan_); ++i) {
      if (runtime_.unsupported(configuration_, plan_[static_cast<std::size_t>(i)].axes).empty()) {
        supported.push_back(i);
      }
    }
    const bool cuda = runtime_.worker.target == Target::cuda;
    workers_.emplace(runtime_.worker, cuda ? static_cast<int>(std::min(kGpuWorkers, std::ssize(supported))) : 0, seed_,
                     *runtime_.worker_pool);
    const int at_once = cuda                       ? runtime_.threads
                        : runtime_.worker.executor ? std::min(kExecutorsAtOnce, runtime_.threads)
                                                   : 1;
    for_each_unit(supported, at_once, [&](std::int64_t index) {
      check(index);
      if (at_once == 1 && index == supported.front() && first_bad_ == std::ssize(plan_)) {
        build_ahead(supported);
      }
    });
    if (error_) {
      std::rethrow_exception(error_);
    }
    return std::move(results_);
  }

 private:
  // Returns false if an earlier case has failed.
  bool begin(std::int64_t index) {
    const std::lock_guard lock(mutex_);
    if (index > first_bad_ || error_) {
      return false;
    }
    if (progress_) {
      progress_(done_++, static_cast<int>(plan_.size()), plan_[static_cast<std::size_t>(index)].workload);
    }
    return true;
  }

  void build_ahead(const std::vector<std::int64_t>& supported) {
    std::vector<Axes> axes;
    for (const std::int64_t index : supported) {
      axes.push_back(plan_[static_cast<std::size_t>(index)].axes);
    }
    builds_.emplace(runtime_, configuration_, std::move(axes));
  }

  void check(std::int64_t index) {
    if (!begin(index)) {
      return;
    }
    try {
      CheckResult result = run_case(plan_[static_cast<std::size_t>(index)],
                                    derive_seed(seed_, "check", static_cast<std::uint64_t>(index)));
      const std::lock_guard lock(mutex_);
      first_bad_ = result.outcome == Outcome::valid ? first_bad_ : std::min(first_bad_, index);
      results_[static_cast<std::size_t>(index)] = std::move(result);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = error_ ? error_ : std::current_exception();
    }
  }

  CheckResult run_case(const CheckCase& one, std::uint64_t seed) {
    if (runtime_.worker.stop.stop_requested()) {
      throw Cancelled();
    }
    auto preparing = std::async(std::launch::async, [&] {
      const GateSteps::Step step(steps_, "inputs of " + one.workload);
      return case_inputs(runtime_, one, seed);
    });
    std::optional<GateSteps::Step> step(std::in_place, steps_, "build for " + one.workload);
    const Build build = runtime_.build(configuration_, one.axes, false);
    step.reset();
    if (build.outcome != Outcome::valid) {
      return {.outcome = build.outcome, .evidence = one.workload + ": " + build.evidence};
    }
    const std::vector<CheckedPointer> inputs = preparing.get();
    step.emplace(steps_, "worker for " + one.workload);
    const bool device_code_only = !build.plan.library;
    CheckWorkers::Lease lease = workers_->take(device_code_only);
    if (!lease) {
      Worker own(case_worker(runtime_.worker, seed));
      step.reset();
      return check_in(own, runtime_, configuration_, build, one, inputs, seed, steps_);
    }
    (*lease).await_start();
    step.reset();
    CheckResult result = check_in(*lease, runtime_, configuration_, build, one, inputs, seed, steps_);
    if (device_code_only && result.outcome == Outcome::valid) {
      lease.keep();
    }
    return result;
  }

  const Runtime& runtime_;
  const Configuration& configuration_;
  const std::vector<CheckCase>& plan_;
  std::uint64_t seed_;
  const CheckProgress& progress_;
  GateSteps& steps_;
  std::optional<CheckWorkers> workers_;
  std::mutex mutex_;  // of all below
  std::vector<std::optional<CheckResult>> results_;
  int done_ = 0;
  std::int64_t first_bad_;
  std::exception_ptr error_;
  std::optional<BuildsAhead> builds_;
};

// A workload may be planned twice.
void add_errors(GateResult& gate, const OutputErrors& errors) {
  const auto known = std::ranges::find(gate.errors, errors.workload, &OutputErrors::workload);
  if (known != gate.errors.end()) {
    merge(*known, errors);
  } else if (!errors.workload.empty()) {
    gate.errors.push_back(errors);
  }
}

}  // namespace

GateResult correctness_gate(const Runtime& runtime, const Configuration& configuration,
                            const std::vector<CheckCase>& plan, std::uint64_t seed, const CheckProgress& progress) {
  GateResult gate{.gate = "correctness"};
  GateSteps steps;
  const std::vector<std::optional<CheckResult>> results =
      CaseChecks(runtime, configuration, plan, seed, progress, steps).run();
  gate.seconds = steps.seconds();
  gate.steps = steps.list();
  int cases = 0;
  int calls = 0;
  int left_out = 0;
  std::int64_t elements = 0;
  std::string confinement;
  int compared = 0;
  std::string not_compared;
  std::set<std::string> idle;  // regimes
  for (const std::optional<CheckResult>& result : results) {
    if (!result) {
      ++left_out;
      continue;
    }
    add_errors(gate, result->errors);
    if (result->outcome != Outcome::valid) {
      gate.outcome = result->outcome;
      gate.evidence = result->evidence;
      gate.wrong = result->wrong;
      return gate;
    }
    ++cases;
    calls += result->calls;
    elements += result->elements;
    confinement = result->confinement;
    compared += result->code_compared ? 1 : 0;
    idle.insert(result->left_out.begin(), result->left_out.end());
    not_compared = result->code_not_compared.empty() ? not_compared : result->code_not_compared;
  }
  if (cases == 0) {
    gate.ran = false;
    gate.evidence = plan.empty()
                        ? "no workload to check it on"
                        : fmt::format("none of {} workloads is supported; {}: {}", plan.size(), plan.front().workload,
                                      runtime.unsupported(configuration, plan.front().axes));
    return gate;
  }
  gate.evidence = fmt::format("{} calls on {} workloads right, {} elements", calls, cases, elements);
  if (left_out > 0) {
    gate.evidence += fmt::format("; {} workloads not supported", left_out);
  }
  if (!idle.empty()) {
    gate.evidence += fmt::format("; left out where the reference is not finite: {}", fmt::join(idle, ", "));
  }
  if (!runtime.family->declared_tolerance.empty()) {
    gate.evidence += "; tolerance of the family's author: " + runtime.family->declared_tolerance;
  }
  // The trust level belongs to the verdict: host code runs with the rights that its process was left.
  gate.evidence += confinement.empty() ? "" : "; candidate held by: " + confinement;
  if (runtime.worker.target == Target::cuda && compared > 0) {
    gate.evidence += fmt::format("; the driver loaded the machine code that was built for {} of them", compared);
  }
  if (runtime.worker.target == Target::cuda && !not_compared.empty()) {
    gate.evidence += "; what the driver loaded was not compared: " + not_compared;
  }
  return gate;
}

}  // namespace apo
