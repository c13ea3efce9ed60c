// harness/loop/trial/device_check.cpp - the executor's gate, and a compilation where the executor cannot check.
#include "harness/loop/trial/device_check.h"

#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/sources.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/untimed_gates.h"
#include "harness/implement/builder.h"
#include "harness/implement/executor_builder.h"
#include "harness/implement/toolkit.h"
#include "harness/loop/workspace/chosen_workload.h"

namespace apo {
namespace {

// Small and ragged shapes of a device variant on this CPU, for what a GPU does not tell: races, stray accesses,
// barriers that some threads miss. What the CPU cannot check is left to a GPU.
GateResult executor_gate(const Runtime& runtime, const Configuration& configuration, Observer& observer) {
  const std::uint64_t seed = secret_seed();
  GateResult gate = correctness_gate(
      runtime, configuration, correctness_plan(runtime, configuration, {}, seed), seed,
      [&](int done, int all, const std::string& what) {
        observer.progress(
            {.what = "verify " + configuration.variant + " on the CPU, " + what, .done = done, .expected = all});
      });
  gate.gate = "executor";
  gate.errors.clear();  // how far off its outputs are, the gate of correctness says where the candidate runs
  if (!gate.ran) {
    gate.evidence += "; a small workload that it takes would be run here";
  } else if (gate.outcome == Outcome::not_checkable) {
    gate.outcome = Outcome::valid;
    gate.ran = false;
  } else if (gate.outcome != Outcome::valid && gate.outcome != Outcome::build_failed &&
             gate.outcome != Outcome::wrong_abi) {
    gate.evidence += fmt::format("; seed {}", seed);
  }
  return gate;
}

// Machine code for the executor's nominal device, where neither a GPU nor the executor runs the variant.
GateResult compile_gate(const Paths& paths, const Runtime& runtime, const Variant& variant,
                        const Configuration& configuration, std::string& log) {
  const Family& family = *runtime.family;
  const Workload& workload = first_supported(family, runtime, configuration);
  const Builder builder({.cache = paths.builds, .home = paths.home, .device = executor_device()});
  const Build build = builder.build(family, variant, workload.axes, configuration.settings);
  log = build.log;
  return build_gate(build, "compiled for " + workload.name);
}

}  // namespace

std::vector<GateResult> check_on_cpu(const Paths& paths, const Variant& variant, bool has_gpu, Observer& observer,
                                     std::string& log, const std::stop_token& stop) {
  if (!guard_is_on(Guard::executor)) {
    return {};
  }
  Workspace workspace(paths);  // one of its own, so that the caller's keeps its device and its builds
  workspace.use_executor(false, stop);
  const Runtime runtime = workspace.runtime(workspace.family(variant.family), {{variant.id(), variant}});
  const Configuration configuration{.variant = variant.id(), .settings = default_settings(variant)};
  std::vector<GateResult> gates;
  if (is_device_variant(variant)) {
    gates.push_back(executor_gate(runtime, configuration, observer));
  }
  const bool ran = !gates.empty() && gates.back().ran;
  const bool passed = gates.empty() || gates.back().outcome == Outcome::valid;
  if (!has_gpu && passed && (!ran || !find_toolkit_program("nvcc").empty())) {
    gates.push_back(compile_gate(paths, runtime, variant, configuration, log));
  }
  return gates;
}

bool takes_executor_gate(const Catalogue& catalogue, const Variant& variant) {
  return is_device_variant(variant) && !catalogue.is_scanned(variant);
}

std::vector<GateResult> executor_gates(const Paths& paths, const Variant& variant, const std::stop_token& stop) {
  try {
    SilentObserver silent;
    std::string log;
    return check_on_cpu(paths, variant, true, silent, log, stop);
  } catch (const UserError& error) {
    return {{.gate = "executor", .outcome = Outcome::refused, .evidence = one_line(with_hint(error))}};
  }
}

}  // namespace apo
