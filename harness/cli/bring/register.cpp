// harness/cli/bring/register.cpp - `apo register`: check, build, verify and add a variant; nothing changes when a gate
// fails.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/app.h"
#include "harness/cli/bring/family_text.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/json/records_json.h"
#include "harness/core/system/files.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/correctness/sanitizer_gate.h"
#include "harness/families/family_file.h"
#include "harness/implement/variant/form.h"
#include "harness/implement/variant/metadata.h"
#include "harness/implement/variant/settings.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

struct RegisterOptions {
  std::string file;
  bool no_verify = false;
  bool no_executor = false;
};

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
// barriers that some threads miss. What the CPU cannot check is left to the GPU, where there is one.
GateResult executor_gate(Workspace& workspace, const Variant& variant, bool has_gpu, Observer& observer) {
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
  if (gate.outcome == Outcome::refused && why != std::string::npos && has_gpu) {
    gate.outcome = Outcome::valid;
    gate.evidence = "not run: " + gate.evidence.substr(why);
  } else if (gate.outcome != Outcome::valid) {
    gate.evidence += "; seed " + std::to_string(seed);
  }
  return gate;
}

// Cheapest first, up to the one that fails. `log` gets the compiler's output.
std::vector<GateResult> run_gates(Workspace& workspace, const Variant& variant, Observer& observer, std::string& log) {
  const Family& family = workspace.family(variant.family);
  const Configuration configuration{.variant = variant.id(), .settings = default_settings(variant)};
  const Runtime runtime = workspace.runtime(family);
  const Workload& workload = first_supported(family, runtime, configuration);
  observer.progress({.what = "build " + configuration.label()});
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
std::string keep(const Paths& paths, const Variant& verified) {
  Journal journal = Journal::open(paths.journal, Access::read_write);
  Catalogue catalogue;
  catalogue.load({paths.home / "variants", paths.variants});
  const Registration registration = catalogue.register_variant(verified, paths.variants);
  journal.add_variant(*registration.variant);
  return registration.variant->path;
}

int finish(const Globals& globals, const Variant& variant, const std::string& state, const std::string& path,
           const std::vector<GateResult>& gates, const std::string& log) {
  const bool failed = state == "refused";
  if (globals.json) {
    Json document = {{"variant", variant.id()}, {"state", state}, {"gates", to_documents(gates)}, {"path", path}};
    if (failed) {
      document["log"] = log;
    }
    print_json(document);
    return failed ? kGateFailed : kDone;
  }
  for (const GateResult& gate : gates) {
    print(gate.gate + ": " + std::string(to_string(gate.outcome)) + ", " + gate.evidence + " (" +
          format_seconds(gate.seconds) + ")\n");
  }
  if (failed) {
    if (gates.back().outcome == Outcome::build_failed) {
      std::fputs(log.c_str(), stderr);
    }
    std::fprintf(stderr, "apo: %s is not registered: gate %s says %s\n", variant.id().c_str(),
                 gates.back().gate.c_str(), std::string(to_string(gates.back().outcome)).c_str());
    return kGateFailed;
  }
  if (path.empty()) {
    print(variant.id() + " " + state + "\n");
    return kDone;
  }
  print(variant.id() + (state == "already registered" ? " is already registered: " : " registered: ") + path + "\n");
  return kDone;
}

// The gates know the whole path.
void name_users_file(std::vector<GateResult>& gates, const std::string& path, const std::string& file) {
  for (GateResult& gate : gates) {
    if (const std::size_t at = gate.evidence.find(path); at != std::string::npos) {
      gate.evidence.replace(at, path.size(), file);
    }
  }
}

int add(const RegisterOptions& options, const Globals& globals) {
  const Paths paths = make_paths(globals.journal);
  if (is_family_file(read_file(options.file))) {
    return register_family(options.file, !options.no_verify, globals);
  }
  Workspace workspace(paths);
  ConsoleObserver observer(globals);
  // The gates look the variant up in this workspace, and what is written when they have passed is what was verified,
  // whatever happens to the file meanwhile.
  const Registration tried = workspace.catalogue().add(options.file);
  const Variant& variant = *tried.variant;
  if (tried.already_registered) {
    return finish(globals, variant, "already registered", variant.path, {}, "");
  }
  std::vector<GateResult> gates = {{.gate = "metadata", .evidence = "the block is valid"}};
  std::string log;
  std::string missing;
  bool runs_here = true;
  if (!options.no_verify && is_device_variant(variant)) {
    runs_here = workspace.has_gpu(&missing);
    if (!options.no_executor && guard_is_on(Guard::executor)) {
      gates.push_back(executor_gate(workspace, variant, runs_here, observer));
    }
  }
  if (!runs_here && gates.back().outcome == Outcome::valid) {
    gates.push_back({.gate = "correctness",
                     .evidence = "not run on a GPU: " + missing + "; an experiment does it before it times anything"});
  } else if (!options.no_verify && gates.back().outcome == Outcome::valid) {
    workspace.use(variant.target, Workspace::AskedWorker::serves);
    const auto more = run_gates(workspace, variant, observer, log);
    gates.insert(gates.end(), more.begin(), more.end());
  }
  name_users_file(gates, variant.path, options.file);
  if (gates.back().outcome == Outcome::valid && !guards_off().empty()) {
    return finish(globals, variant, "not registered: a guard is switched off", "", gates, log);
  }
  if (gates.back().outcome != Outcome::valid) {
    return finish(globals, variant, "refused", "", gates, log);
  }
  return finish(globals, variant, "registered", keep(paths, variant), gates, log);
}

}  // namespace

Action define_register(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<RegisterOptions>();
  app.add_option("file", options->file, "a variant's source file, or a family's, with its apo: block at the top")
      ->required();
  app.add_flag("--no-verify", options->no_verify,
               "check the metadata block only; every experiment still runs the gates first");
  app.add_flag("--no-executor", options->no_executor,
               "skip the check on the CPU executor; the checks on a GPU still run")
      ->excludes("--no-verify");
  return [options, &globals] { return add(*options, globals); };
}

}  // namespace apo
