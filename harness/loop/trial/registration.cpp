// harness/loop/trial/registration.cpp - the gates of a new variant, cheapest first, and then its row and its file.
#include "harness/loop/trial/registration.h"

#include <fmt/format.h>

#include <utility>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/sources.h"
#include "harness/core/system/secret.h"
#include "harness/core/techniques/techniques.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/untimed_gates.h"
#include "harness/implement/variant/metadata.h"
#include "harness/loop/trial/device_check.h"
#include "harness/loop/workspace/chosen_workload.h"
#include "journal/journal.h"

namespace apo {
namespace {

// Cheapest first, up to the one that fails. `log` gets the compiler's output.
std::vector<GateResult> run_gates(Workspace& workspace, const Variant& variant, Observer& observer, std::string& log) {
  const Family& family = workspace.family(variant.family);
  const Configuration configuration{.variant = variant.id(), .settings = default_settings(variant)};
  const Runtime runtime = workspace.runtime(family);
  const Workload& workload = first_supported(family, runtime, configuration);
  const Build build = runtime.build(configuration, workload.axes, false);
  log = build.log;
  std::vector<GateResult> gates = {
      build_gate(build, "built for " + workload.name + (build.from_cache ? " (from the cache)" : ""))};
  if (gates.back().outcome == Outcome::valid) {
    const std::uint64_t seed = secret_seed();
    const auto cases = correctness_plan(runtime, configuration, {workload.name}, seed);
    run_correctness_gates(runtime, configuration, cases, seed, true, observer, [&](GateResult gate) {
      gates.push_back(std::move(gate));
      return gates.back().outcome == Outcome::valid;
    });
  }
  return gates;
}

GateResult block_gate(const Variant& variant) {
  const bool described = !variant.idea.empty() || !variant.techniques.empty() || variant.prediction.has_value();
  return {.gate = "metadata",
          .evidence = described ? "the block is valid" : variant.id() + " without an idea or a prediction"};
}

bool passed(const std::vector<GateResult>& gates) {
  return gates.back().outcome == Outcome::valid;
}

std::vector<GateResult> all_gates(Workspace& workspace, const Variant& variant, const RegistrationRequest& request,
                                  Observer& observer, std::string& log) {
  std::vector<GateResult> gates = {block_gate(variant)};
  std::string missing;
  bool runs_here = true;
  if (request.verify && variant.target == Target::cuda) {
    runs_here = workspace.has_gpu(&missing);
    if (request.executor && (is_device_variant(variant) || !runs_here)) {
      const auto more = check_on_cpu(workspace.paths(), variant, runs_here, observer, log);
      gates.insert(gates.end(), more.begin(), more.end());
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

std::string unknown_technique(const std::string& name, Target target) {
  if (find_technique(name, target) != nullptr) {
    return "";
  }
  std::vector<std::string> known;
  for (const Technique& technique : technique_catalogue()) {
    if (technique.target.value_or(target) == target) {
      known.push_back(technique.name);
    }
  }
  const std::string guess = did_you_mean(name, known);
  return fmt::format("the catalogue has no technique '{}', so that nothing is known of what it gives{}", name,
                     guess.empty() ? "" : "; " + guess);
}

// Of the files as they lie there now: the first by name is where campaigns of the family start.
std::string new_baseline(const Paths& paths, const Variant& variant, const std::string& before) {
  Catalogue now;
  now.load({paths.home / "variants", paths.variants});
  const Variant* baseline = now.baseline(variant.family, variant.target);
  if (before.empty() || baseline == nullptr || baseline->id() == before || baseline->id() != variant.id()) {
    return "";
  }
  return fmt::format(
      "it is the baseline of {} on {} now, as the first by name of those that name no parent; with "
      "'apo:parent {}' in it that one stays so",
      variant.family, to_string(variant.target), before);
}

std::vector<std::string> notes_on(const Variant& variant, bool verified) {
  std::vector<std::string> notes;
  for (const std::string& technique : variant.techniques) {
    notes.push_back(unknown_technique(technique, variant.target));
  }
  for (const Tunable& tunable : variant.tunables) {
    if (!is_read(variant, tunable.name)) {
      notes.push_back(fmt::format("no line reads {} of its apo:tune line, so that all its values make the same program",
                                  tunable.name));
    }
  }
  if (verified && !variant.tunables.empty()) {
    const Configuration checked{.variant = variant.id(), .settings = default_settings(variant)};
    notes.push_back(checked.label() + " is what was checked; other settings are before they are timed");
  }
  return notes;
}

// A file that another process has registered under the name since the scan is replaced after another scan alone.
std::string path_of_registered(Catalogue& registered, const Paths& paths, const Variant& variant) {
  try {
    return registered.register_variant(variant, paths.variants).variant->path;
  } catch (const UserError&) {
    registered = Catalogue();
    registered.load({paths.home / "variants", paths.variants});
    return registered.register_variant(variant, paths.variants).variant->path;
  }
}

}  // namespace

KeptVariant keep_variant(Catalogue& registered, const Paths& paths, const Variant& variant) {
  // The journal first: when that cannot be written, the catalogue stays as it was.
  Journal journal = Journal::open(paths.journal, Access::read_write);
  journal.add_variant(variant);
  const std::string path = path_of_registered(registered, paths, variant);
  return {.path = path, .version = journal.variant_version(variant)};
}

void name_users_file(std::vector<GateResult>& gates, const std::string& path, const std::string& file) {
  for (GateResult& gate : gates) {
    gate.evidence = replace_all(gate.evidence, path, file);
  }
}

RegistrationResult register_file(Workspace& workspace, const RegistrationRequest& request, Observer& observer) {
  // The gates look the variant up in this workspace, and what is written when they have passed is what was verified,
  // whatever happens to the file meanwhile.
  Catalogue registered = workspace.catalogue();
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
    const Variant* baseline = registered.baseline(result.variant.family, result.variant.target);
    const std::string before = baseline == nullptr ? "" : baseline->id();
    const KeptVariant kept = keep_variant(registered, workspace.paths(), result.variant);
    result.path = kept.path;
    result.version = kept.version;
    result.notes = notes_on(result.variant, request.verify);
    result.notes.push_back(new_baseline(workspace.paths(), result.variant, before));
    std::erase(result.notes, "");
  }
  return result;
}

std::string unregister(Workspace& workspace, const std::string& id) {
  return workspace.catalogue().unregister_variant(id, workspace.paths().variants.parent_path() / "retired").string();
}

}  // namespace apo
