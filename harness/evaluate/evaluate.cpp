// harness/evaluate/evaluate.cpp - runs the gates: metadata, build, resources, correctness, sanitizers, timing.
#include "harness/evaluate/evaluate.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/nvtx.h"
#include "harness/core/records/guards.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/correctness/sanitizer_gate.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/evaluate/timing_gate.h"
#include "harness/runtime/timed_workload.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

// Carries one experiment through its gates; each gate returns false when the experiment ends with it.
class Evaluation {
 public:
  Evaluation(const Runtime& runtime, Experiment& experiment, const EvaluatePlan& plan, const EvaluateHooks& hooks)
      : runtime_(runtime), experiment_(experiment), plan_(plan), hooks_(hooks) {}

  void run() {
    const StageRange range("evaluate " + experiment_.candidate.label());
    const auto start = Clock::now();
    const bool timed = metadata_gate() && build_gate() && resource_gate() && correctness_gates();
    if (timed) {
      time();
    } else {
      Judgement judgement{.verdict = Verdict::reverted, .reason = Reason::gate_failed};
      const GateResult& last = experiment_.gates.back();
      judgement.sentence =
          "Not timed: " + std::string(to_string(last.outcome)) + " at the gate '" + last.gate + "': " + last.evidence;
      judgement.rule_version = kRuleVersion;
      experiment_.judgement = judgement;
    }
    experiment_.judgement->seconds = seconds_since(start);
    experiment_.finished_at = utc_now();
  }

 private:
  bool pass(GateResult gate) { return add_gate(experiment_, hooks_, std::move(gate)); }

  void progress(const std::string& what, int done, int expected) { tell_progress(hooks_, what, done, expected); }

  bool metadata_gate() {
    const StageRange range("gate metadata");
    const auto start = Clock::now();
    GateResult gate{.gate = "metadata", .evidence = "apo:requires holds on every workload"};
    for (const Workload* workload : plan_.workloads) {
      if (const std::string why = runtime_.unsupported(experiment_.candidate, workload->axes); !why.empty()) {
        gate.outcome = Outcome::refused;
        gate.evidence = workload->name + ": " + why;
        break;
      }
    }
    gate.seconds = seconds_since(start);
    return pass(std::move(gate));
  }

  bool build_gate() {
    const StageRange range("implement");
    GateResult gate{.gate = "build"};
    for (const Workload* workload : plan_.workloads) {
      progress("build " + experiment_.candidate.label(), 0, 0);
      TimedWorkload timed{.name = workload->name, .axes = workload->axes};
      timed.incumbent = {experiment_.incumbent, runtime_.build(experiment_.incumbent, workload->axes, false)};
      if (timed.incumbent.build.outcome != Outcome::valid) {
        throw EnvironmentError("the incumbent " + experiment_.incumbent.label() + " does not build any more",
                               timed.incumbent.build.evidence);
      }
      timed.candidate = {experiment_.candidate, runtime_.build(experiment_.candidate, workload->axes, false)};
      gate.seconds += timed.candidate.build.seconds;
      const bool failed = timed.candidate.build.outcome != Outcome::valid;
      if (timed_.empty() || failed) {
        experiment_.incumbent_build = timed.incumbent.build;
        experiment_.candidate_build = timed.candidate.build;
      }
      if (failed) {
        gate.outcome = timed.candidate.build.outcome;
        gate.evidence = workload->name + ": " + timed.candidate.build.evidence;
        break;
      }
      if (const auto floor = plan_.floor_ns.find(workload->name); floor != plan_.floor_ns.end()) {
        timed.floor_ns = floor->second;
      }
      timed_.push_back(std::move(timed));
    }
    if (hooks_.on_build) {
      hooks_.on_build(experiment_.candidate_build, true);
      hooks_.on_build(experiment_.incumbent_build, false);
    }
    if (gate.outcome == Outcome::valid) {
      gate.evidence = experiment_.candidate_build.toolchain.version +
                      (experiment_.candidate_build.from_cache ? ", from the cache" : "");
    }
    return pass(std::move(gate));
  }

  bool resource_gate() {
    const StageRange range("gate resources");
    const auto start = Clock::now();
    const bool same = !plan_.time_same_code && guard_is_on(Guard::same_code) &&
                      std::all_of(timed_.begin(), timed_.end(), [](const TimedWorkload& timed) {
                        return timed.incumbent.build.code_hash == timed.candidate.build.code_hash;
                      });
    GateResult gate{.gate = "resources"};
    std::vector<std::string> parts;
    for (const auto& [name, value] : experiment_.candidate_build.resources) {
      parts.push_back(name + " " + std::to_string(value));
    }
    gate.evidence = same ? "machine code identical to the incumbent's: nothing to time" : join(parts, ", ");
    gate.outcome = same ? Outcome::no_change : Outcome::valid;
    gate.seconds = seconds_since(start);
    return pass(std::move(gate));
  }

  bool correctness_gates() {
    if (plan_.trusted) {
      return true;
    }
    const std::uint64_t seed = derive_seed(plan_.seed, "correctness", static_cast<std::uint64_t>(experiment_.id));
    std::vector<std::string> names;
    for (const Workload* workload : plan_.workloads) {
      names.push_back(workload->name);
    }
    const std::uint64_t group = inputs_group(*runtime_.family, plan_.workloads.front()->axes, experiment_.id);
    const auto cases =
        correctness_plan(runtime_, experiment_.candidate, names, seed, derive_seed(plan_.seed, "shared", group));
    const auto report = [&](int done, int all, const std::string& what) {
      progress("verify " + experiment_.candidate.label() + " on " + what, done, all);
    };
    std::optional<SanitizerCheck> sanitizers;
    if (plan_.sanitize) {
      sanitizers.emplace(runtime_, experiment_.candidate, cases, seed);
    }
    {
      const StageRange range("gate correctness");
      if (!pass(correctness_gate(runtime_, experiment_.candidate, cases, seed, report))) {
        return false;
      }
    }
    if (!sanitizers) {
      return true;
    }
    const StageRange range("gate sanitizers");
    progress("sanitizers " + experiment_.candidate.label(), 0, 0);
    return pass(sanitizers->run());
  }

  void time() {
    const StageRange range("gate timing");
    for (std::size_t i = 0; i < timed_.size(); ++i) {
      const Workload& workload = *plan_.workloads[i];
      const std::uint64_t group = inputs_group(*runtime_.family, workload.axes, experiment_.id);
      const StageRange drawing("inputs of " + workload.name);
      progress("inputs of " + workload.name, 0, 0);
      if (timed_[i].has_host_code() && !plan_.trusted) {
        const std::uint64_t first = inputs_group(*runtime_.family, plan_.workloads.front()->axes, experiment_.id);
        timed_[i].other_regime = make_other_regime(runtime_, workload, derive_seed(plan_.seed, "shared", first));
      }
      timed_[i].pool = make_pool(runtime_, workload, derive_seed(plan_.seed, "pool", group));
    }
    time_experiment(runtime_, experiment_, plan_, hooks_, std::move(timed_));
  }

  const Runtime& runtime_;
  Experiment& experiment_;
  const EvaluatePlan& plan_;
  const EvaluateHooks& hooks_;
  std::vector<TimedWorkload> timed_;
};

}  // namespace

void evaluate(const Runtime& runtime, Experiment& experiment, const EvaluatePlan& plan, const EvaluateHooks& hooks) {
  Evaluation(runtime, experiment, plan, hooks).run();
}

}  // namespace apo
