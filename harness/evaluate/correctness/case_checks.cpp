// harness/evaluate/correctness/case_checks.cpp - chains of cases that share a process; builds and references run ahead.
#include "harness/evaluate/correctness/case_checks.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/recording/recorded_call.h"
#include "harness/evaluate/correctness/compare.h"
#include "harness/runtime/input_store.h"
#include "kernels/parallel.h"
#include "kernels/random.h"

namespace apo {
namespace {

// Does work for later cases while earlier ones are checked, in order, on several threads. A case that asks for what was
// not made yet makes it, or waits for it; it meets the same error as the thread that stops at one here, and reports it.
class Ahead {
 public:
  // Calls work(0) to work(count - 1).
  Ahead(int threads, std::size_t count, std::function<void(std::size_t)> work) : count_(count), work_(std::move(work)) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this] { run(); });
    }
  }
  // Waits for what is under way, and begins nothing else.
  ~Ahead() {
    next_ = count_;
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

 private:
  void run() {
    for (std::size_t i = next_++; i < count_; i = next_++) {
      try {
        work_(i);
      } catch (const std::exception&) {
        return;
      }
    }
  }

  const std::size_t count_;
  const std::function<void(std::size_t)> work_;
  std::atomic<std::size_t> next_ = 0;
  std::vector<std::thread> threads_;
};

// The cases that one process serves, in this order, by their numbers in the plan.
using Chain = std::vector<std::int64_t>;

bool is_small_case(const Family& family, const CheckCase& one) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  return element_count(family, one.axes) <= kMost;
}

// Small cases of one build share a process, or two: a program calls one kernel with many sizes. In the first one listed
// workloads come first, the smallest at the begin; the second takes half of the others and begins with the largest. So
// what is kept of the first sizes is once too small and once too large. A large case has a process of its own, and so
// has one at which code was wrong before, which comes first.
std::vector<Chain> chains_of(const Family& family, const std::vector<CheckCase>& plan,
                             const std::vector<std::int64_t>& supported) {
  const auto of = [&](std::int64_t index) -> const CheckCase& { return plan[static_cast<std::size_t>(index)]; };
  const auto elements = [&](std::int64_t index) { return element_count(family, of(index).axes); };
  std::map<std::vector<std::int64_t>, std::array<Chain, 2>> by_build;
  std::vector<Chain> chains;
  for (const std::int64_t index : supported) {
    if (!of(index).known_from.empty() || !is_small_case(family, of(index))) {
      chains.push_back({index});
      continue;
    }
    std::vector<std::int64_t> known_to_build;
    for (const AxisSpec& axis : family.axes) {
      if (axis.specialised) {
        known_to_build.push_back(of(index).axes.at(axis.name));
      }
    }
    auto& [first, second] = by_build[known_to_build];
    const bool listed = find_workload(family, of(index).workload) != nullptr;
    (listed || first.size() < second.size() ? first : second).push_back(index);
  }
  for (auto& [build, both] : by_build) {
    auto& [first, second] = both;
    if (!first.empty()) {
      std::rotate(first.begin(), std::ranges::min_element(first, {}, elements), first.end());
    }
    if (!second.empty()) {
      std::rotate(second.begin(), std::ranges::max_element(second, {}, elements), second.end());
    }
    std::ranges::copy_if(both, std::back_inserter(chains), [](const Chain& chain) { return !chain.empty(); });
  }
  return chains;
}

// The cases of one plan, chain by chain. On target cuda and on the executor several chains run at once; those on a GPU
// take turns in a few workers: a process on a GPU takes longer to start than a case to run, and the driver starts one
// at a time. On a host, whose calls use all cores, chains take turns; once the
// first case has passed, the builds of the others run ahead.
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
        results_(plan.size()) {}

  // Returns the result of every supported case, of those that were begun before one failed.
  std::vector<std::optional<CheckResult>> run() {
    constexpr int kExecutorsAtOnce = 6;
    constexpr std::int64_t kGpuWorkers = 2;
    for (std::int64_t i = 0; i < std::ssize(plan_); ++i) {
      if (runtime_.unsupported(configuration_, one(i).axes).empty()) {
        supported_.push_back(i);
      }
    }
    chains_ = chains_of(*runtime_.family, plan_, supported_);
    const bool cuda = runtime_.worker.target == Target::cuda;
    workers_.emplace(runtime_.worker, cuda ? static_cast<int>(std::min(kGpuWorkers, std::ssize(chains_))) : 0, seed_,
                     *runtime_.worker_pool);
    const int at_once = cuda                       ? runtime_.threads
                        : runtime_.worker.executor ? std::min(kExecutorsAtOnce, runtime_.threads)
                                                   : 1;
    compute_ahead();
    for_each_index(chains_.size(), at_once, [&](std::size_t chain) { run_chain(chains_[chain], at_once == 1); });
    references_.reset();
    if (error_) {
      std::rethrow_exception(error_);
    }
    return std::move(results_);
  }

 private:
  const CheckCase& one(std::int64_t index) const { return plan_[static_cast<std::size_t>(index)]; }
  std::uint64_t seed_of(std::int64_t index) const { return seed_of_case(seed_, static_cast<std::size_t>(index)); }

  // Inputs and references, which stay in the runtime's store. The first of each chain, then the second, and so on.
  void compute_ahead() {
    std::vector<std::int64_t> cases;
    for (std::size_t place = 0; place < supported_.size(); ++place) {
      for (const Chain& chain : chains_) {
        if (place < chain.size() && is_small_case(*runtime_.family, one(chain[place]))) {
          cases.push_back(chain[place]);
        }
      }
    }
    const std::size_t count = cases.size();
    references_.emplace(runtime_.threads, count, [this, cases = std::move(cases)](std::size_t i) {
      for (const CheckedPointer& inputs : case_inputs(runtime_, one(cases[i]), seed_of(cases[i]))) {
        if (inputs != nullptr) {  // else its regime is left out
          inputs->compute_whole();
          static_cast<void>(inputs->expected());
        }
      }
    });
  }

  // Returns false after a failure.
  bool begin(std::int64_t index) {
    if (runtime_.worker.stop.stop_requested()) {
      throw Cancelled();
    }
    const std::lock_guard lock(mutex_);
    if (failed_ || error_) {
      return false;
    }
    if (progress_) {
      progress_(done_++, static_cast<int>(plan_.size()), one(index).workload);
    }
    return true;
  }

  void keep(std::int64_t index, CheckResult result) {
    const std::lock_guard lock(mutex_);
    failed_ = failed_ || result.outcome != Outcome::valid;
    std::optional<CheckResult>& kept = results_[static_cast<std::size_t>(index)];
    if (!kept || result.outcome != Outcome::valid) {
      kept = std::move(result);
      return;
    }
    kept->calls += result.calls;  // of the same case once more, in its first regime
    kept->elements += result.elements;
    kept->undecided += result.undecided;
    kept->not_computed += result.not_computed;
    merge(kept->errors, result.errors);
    kept->draws.add(result.draws);
  }

  // A compiler takes one core.
  void build_ahead() {
    builds_.emplace(runtime_.threads, supported_.size(), [this](std::size_t i) {
      constexpr int kYielding = 10;
      setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kYielding);  // what measures goes first; may be refused
      static_cast<void>(runtime_.build(configuration_, one(supported_[i]).axes, false));
    });
  }

  void run_chain(const Chain& chain, bool builds_ahead) {
    try {
      call_chain(chain, builds_ahead);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = error_ ? error_ : std::current_exception();
    }
  }

  // The build of a case; nullopt, with the result kept, where there is none.
  std::optional<Build> build_for(std::int64_t index) {
    const GateSteps::Step step(steps_, "build for " + one(index).workload);
    Build build = runtime_.build(configuration_, one(index).axes, false);
    if (build.outcome == Outcome::valid) {
      return build;
    }
    // Beyond 2^31 elements a library's own memory may be more than a record of its call holds: not checked, not wrong.
    if (one(index).repeated_axis.empty() || !build.evidence.starts_with(kNotRecorded)) {
      keep(index, {.outcome = build.outcome, .evidence = one(index).workload + ": " + build.evidence});
    }
    return std::nullopt;
  }

  std::vector<CheckedPointer> inputs_of(std::int64_t index) {
    const GateSteps::Step step(steps_, "inputs of " + one(index).workload);
    return case_inputs(runtime_, one(index), seed_of(index));
  }

  // A process that serves a chain, and the object that it has loaded.
  struct Server {
    CheckWorkers::Lease lease;
    std::optional<Worker> own = {};
    std::string loaded = {};
    std::shared_ptr<MemoryFile> memory = std::make_shared<MemoryFile>();  // of the process's tensors
  };

  void call_chain(const Chain& chain, bool builds_ahead) {
    const std::int64_t first = chain.front();
    if (!begin(first)) {
      return;
    }
    auto preparing = std::async(std::launch::async, [&] { return inputs_of(first); });
    const std::optional<Build> build = build_for(first);
    if (!build) {
      return;
    }
    std::optional<GateSteps::Step> step(std::in_place, steps_, "worker for " + one(first).workload);
    Server server{.lease = workers_->take()};
    if (server.lease) {
      (*server.lease).await_start();
    } else {
      server.own.emplace(case_worker(runtime_.worker, seed_of(first)));
    }
    step.reset();
    const std::vector<CheckedPointer> inputs = preparing.get();
    bool right = call(server, first, one(first), *build, inputs);
    if (right && builds_ahead && !builds_) {
      build_ahead();
    }
    for (std::size_t i = 1; i < chain.size() && right; ++i) {
      if (!begin(chain[i])) {
        return;
      }
      const std::optional<Build> its = build_for(chain[i]);
      right = its && call(server, chain[i], one(chain[i]), *its, inputs_of(chain[i]));
    }
    if (right && chain.size() > 1) {  // and with the first sizes again
      CheckCase again = one(first);
      again.regimes.resize(1);
      right = call(server, first, again, *build, {inputs.front()});
    }
    if (right) {
      server.lease.keep();
    }
  }

  // Makes the calls of a case, keeps the result, and returns whether they were right.
  bool call(Server& server, std::int64_t index, const CheckCase& as, const Build& build,
            const std::vector<CheckedPointer>& inputs) {
    if (as.repeats_on_device) {
      return call_repeating(server, index, as, build, inputs);
    }
    Worker& worker = server.own ? *server.own : *server.lease;
    const Loaded known = server.loaded == build.object_path ? Loaded::yes : Loaded::no;
    CheckResult result =
        check_in(worker, runtime_, configuration_, build, as, inputs, seed_of(index), steps_, known, server.memory);
    bool right_alone = false;
    if (known == Loaded::yes && (result.outcome == Outcome::incorrect || result.outcome == Outcome::faulted)) {
      Worker alone(case_worker(runtime_.worker, seed_of(index)));
      right_alone = check_in(alone, runtime_, configuration_, build, as, inputs, seed_of(index), steps_).outcome ==
                    Outcome::valid;
    }
    if (right_alone) {
      result.evidence +=
          "; in a process of its own it is right: something is kept from earlier calls, with other sizes";
    } else {
      name_refused_call(result, runtime_.worker, runtime_, configuration_, build, as, inputs, seed_of(index));
    }
    server.loaded = build.object_path;
    const bool right = result.outcome == Outcome::valid;
    keep(index, std::move(result));
    return right;
  }

  // A GPU looks fast whether all repeats. Where it does not, or there is another failure, a process of its own has all
  // inputs and outputs in the memory of the host, and decides.
  bool call_repeating(Server& server, std::int64_t index, const CheckCase& as, const Build& build,
                      const std::vector<CheckedPointer>& inputs) {
    Worker& worker = server.own ? *server.own : *server.lease;
    CheckResult result = check_in(worker, runtime_, configuration_, build, as, inputs, seed_of(index), steps_);
    if (result.outcome != Outcome::valid) {
      CheckCase whole = as;
      whole.repeats_on_device = false;
      result = check_alone(runtime_.worker, runtime_, configuration_, build, whole,
                           case_inputs(runtime_, whole, seed_of(index)), seed_of(index), steps_);
    }
    server.loaded = build.object_path;
    const bool right = result.outcome == Outcome::valid;
    keep(index, std::move(result));
    return right;
  }

  const Runtime& runtime_;
  const Configuration& configuration_;
  const std::vector<CheckCase>& plan_;
  std::uint64_t seed_;
  const CheckProgress& progress_;
  GateSteps& steps_;
  std::vector<std::int64_t> supported_;
  std::vector<Chain> chains_;
  std::optional<CheckWorkers> workers_;
  std::mutex mutex_;  // of all below
  std::vector<std::optional<CheckResult>> results_;
  int done_ = 0;
  bool failed_ = false;
  std::exception_ptr error_;
  std::optional<Ahead> builds_;
  std::optional<Ahead> references_;
};

}  // namespace

std::uint64_t seed_of_case(std::uint64_t seed, std::size_t index) {
  return derive_seed(seed, "check", index);
}

std::vector<std::optional<CheckResult>> run_cases(const Runtime& runtime, const Configuration& configuration,
                                                  const std::vector<CheckCase>& plan, std::uint64_t seed,
                                                  const CheckProgress& progress, GateSteps& steps) {
  return CaseChecks(runtime, configuration, plan, seed, progress, steps).run();
}

}  // namespace apo
