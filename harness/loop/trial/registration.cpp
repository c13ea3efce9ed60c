// harness/loop/trial/registration.cpp - the gates of a new variant, cheapest first, and then its row and its file.
#include "harness/loop/trial/registration.h"

#include <fmt/format.h>

#include <optional>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/correctness/sanitizer_gate.h"
#include "harness/implement/builder.h"
#include "harness/implement/executor_builder.h"
#include "harness/implement/variant/form.h"
#include "harness/implement/variant/metadata.h"
#include "harness/implement/variant/settings.h"
#include "journal/journal.h"

namespace apo {
namespace {

const Workload& first_supported(const Family& family, const Runtime& runtime, const Configuration& configuration) {
  std::string why;
  for (const Workload& workload : family.workloads) {
    const std::string reason = runtime.unsupported(configuration, workload.axes);
    if (reason.empty()) {
      return workload;
    }
    why = why.empty() ? workload.name + ": " + reason : why;
  }
  throw UserError(configuration.variant + " supports no workload of family " + family.name + "; " + why,
                  "relax its apo:requires line; 'apo list " + family.name + "' shows the workloads");
}

GateResult build_gate(const Runtime& runtime, const Configuration& configuration, const Workload& workload,
                      std::string& log) {
  const Build build = runtime.build(configuration, workload.axes, false);
  log = build.log;
  return {.gate = "build",
          .outcome = build.outcome,
          .evidence = build.outcome == Outcome::valid
                          ? "built for " + workload.name + (build.from_cache ? " (from the cache)" : "")
                          : build.evidence,
          .seconds = build.seconds};
}

// Small and ragged shapes of a device variant on this CPU, for what a GPU does not tell: races, stray accesses,
// barriers that some threads miss. What the CPU cannot check is left to a GPU.
GateResult executor_gate(Workspace& workspace, const Variant& variant, Observer& observer) {
  const Family& family = workspace.family(variant.family);
  const Configuration configuration{.variant = variant.id(), .settings = default_settings(variant)};
  workspace.use_executor();
  const std::uint64_t seed = secret_seed();
  const Runtime runtime = workspace.runtime(family);
  GateResult gate = correctness_gate(
      runtime, configuration, correctness_plan(runtime, configuration, {}, seed), seed,
      [&](int done, int all, const std::string& what) {
        observer.progress({.what = "verify " + variant.id() + " on the CPU, " + what, .done = done, .expected = all});
      });
  gate.gate = "executor";
  const auto why = gate.evidence.find("not checkable on the CPU");
  if (gate.outcome == Outcome::refused && why != std::string::npos) {
    gate.outcome = Outcome::valid;
    gate.ran = false;
    gate.evidence = gate.evidence.substr(why);
  } else if (gate.outcome != Outcome::valid) {
    gate.evidence += fmt::format("; seed {}", seed);
  }
  return gate;
}

// Machine code for the executor's nominal device, where neither a GPU nor the executor runs the variant.
GateResult compile_gate(Workspace& workspace, const Variant& variant, std::string& log) {
  const Family& family = workspace.family(variant.family);
  const Configuration configuration{.variant = variant.id(), .settings = default_settings(variant)};
  const Workload& workload = first_supported(family, workspace.runtime(family), configuration);
  const Builder builder(
      {.cache = workspace.paths().builds, .home = workspace.paths().home, .device = executor_device()});
  const Build build = builder.build(family, variant, workload.axes, configuration.settings);
  log = build.log;
  return {.gate = "build",
          .outcome = build.outcome,
          .evidence = build.outcome == Outcome::valid ? "compiled for " + workload.name : build.evidence,
          .seconds = build.seconds};
}

// Cheapest first, up to the one that fails. `log` gets the compiler's output.
std::vector<GateResult> run_gates(Workspace& workspace, const Variant& variant, Observer& observer, std::string& log) {
  const Family& family = workspace.family(variant.family);
  const Configuration configuration{.variant = variant.id(), .settings = default_settings(variant)};
  const Runtime runtime = workspace.runtime(family);
  const Workload& workload = first_supported(family, runtime, configuration);
  std::vector<GateResult> gates = {build_gate(runtime, configuration, workload, log)};
  const std::uint64_t seed = secret_seed();
  const auto plan = correctness_plan(runtime, configuration, {workload.name}, seed);
  std::optional<SanitizerCheck> sanitizers;
  if (gates.back().outcome == Outcome::valid) {
    sanitizers.emplace(runtime, configuration, plan, seed);
    gates.push_back(
        correctness_gate(runtime, configuration, plan, seed, [&](int done, int all, const std::string& what) {
          observer.progress({.what = "verify " + variant.id() + " on " + what, .done = done, .expected = all});
        }));
  }
  if (gates.back().outcome == Outcome::valid) {
    observer.progress({.what = "verify " + variant.id() + " with sanitizers"});
    gates.push_back(sanitizers->run());
  }
  return gates;
}

// The journal first: when that cannot be written, the catalogue stays as it was.
void keep(const Paths& paths, RegistrationResult& result) {
  Journal journal = Journal::open(paths.journal, Access::read_write);
  Catalogue catalogue;
  catalogue.load({paths.home / "variants", paths.variants});
  journal.add_variant(result.variant);
  result.path = catalogue.register_variant(result.variant, paths.variants).variant->path;
  result.version = journal.variant_version(result.variant);
}

// The gates know the whole path.
void name_users_file(std::vector<GateResult>& gates, const std::string& path, const std::string& file) {
  for (GateResult& gate : gates) {
    if (const std::size_t at = gate.evidence.find(path); at != std::string::npos) {
      gate.evidence.replace(at, path.size(), file);
    }
  }
}

GateResult metadata_gate(const Variant& variant) {
  const bool described = !variant.idea.empty() || !variant.techniques.empty() || variant.prediction.has_value();
  return {.gate = "metadata",
          .evidence = described ? "the block is valid" : variant.id() + " without an idea or a prediction"};
}

bool passed(const std::vector<GateResult>& gates) {
  return gates.back().outcome == Outcome::valid;
}

std::vector<GateResult> all_gates(Workspace& workspace, const Variant& variant, const RegistrationRequest& request,
                                  Observer& observer, std::string& log) {
  std::vector<GateResult> gates = {metadata_gate(variant)};
  std::string missing;
  bool runs_here = true;
  if (request.verify && is_device_variant(variant)) {
    runs_here = workspace.has_gpu(&missing);
    if (request.executor && guard_is_on(Guard::executor)) {
      gates.push_back(executor_gate(workspace, variant, observer));
      if (!runs_here && !gates.back().ran && passed(gates)) {
        gates.push_back(compile_gate(workspace, variant, log));
      }
    }
  }
  if (!runs_here && passed(gates)) {
    gates.push_back({.gate = "correctness",
                     .evidence = "not run on a GPU: " + missing + "; an experiment does it before it times anything",
                     .ran = false});
  } else if (request.verify && passed(gates)) {
    workspace.use(variant.target, Workspace::AskedWorker::serves);
    const auto more = run_gates(workspace, variant, observer, log);
    gates.insert(gates.end(), more.begin(), more.end());
  }
  return gates;
}

}  // namespace

RegistrationResult register_file(Workspace& workspace, const RegistrationRequest& request, Observer& observer) {
  // The gates look the variant up in this workspace, and what is written when they have passed is what was verified,
  // whatever happens to the file meanwhile.
  const Registration tried = workspace.catalogue().add(request.file, request.family);
  RegistrationResult result{.variant = *tried.variant};
  if (tried.already_registered) {
    result.state = RegistrationState::already_registered;
    result.path = result.variant.path;
    return result;
  }
  result.gates = all_gates(workspace, result.variant, request, observer, result.log);
  name_users_file(result.gates, result.variant.path, request.file);
  if (!passed(result.gates)) {
    result.state = RegistrationState::refused;
  } else if (!guards_off().empty()) {
    result.state = RegistrationState::guard_switched_off;
  } else {
    keep(workspace.paths(), result);
  }
  return result;
}

std::string unregister(Workspace& workspace, const std::string& id) {
  return workspace.catalogue().unregister_variant(id, workspace.paths().variants.parent_path() / "retired").string();
}

}  // namespace apo
