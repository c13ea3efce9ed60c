// harness/loop/trial/registration.cpp - the gates of a new variant, cheapest first, and then its row and its file.
#include "harness/loop/trial/registration.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/system/secret.h"
#include "harness/core/techniques/techniques.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/untimed_gates.h"
#include "harness/implement/builder.h"
#include "harness/implement/executor_builder.h"
#include "harness/implement/plain_call.h"
#include "harness/implement/python_builder.h"
#include "harness/implement/toolkit.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/metadata.h"
#include "harness/loop/workspace/chosen_workload.h"
#include "journal/facts/variants.h"
#include "journal/journal.h"

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

std::vector<GateResult> check_on_cpu(const Paths& paths, const Variant& variant, bool has_gpu, Observer& observer,
                                     std::string& log, const std::stop_token& stop) {
  if (!guard_is_on(Guard::executor)) {
    return {};
  }
  Workspace workspace(paths);  // one of its own, so that the caller's keeps its device and its builds
  workspace.use_executor();
  workspace.stop_builds_by(stop);
  const Runtime runtime = workspace.runtime(workspace.family(variant.family), {{variant.id(), variant}});
  const Configuration configuration{.variant = variant.id(), .settings = default_settings(variant)};
  std::vector<GateResult> gates;
  if (variant.target == Target::cuda) {
    gates.push_back(executor_gate(runtime, configuration, observer));
  }
  const bool ran = !gates.empty() && gates.back().ran;
  const bool passed = gates.empty() || gates.back().outcome == Outcome::valid;
  if (!has_gpu && passed && (!ran || !find_toolkit_program("nvcc").empty())) {
    gates.push_back(compile_gate(paths, runtime, variant, configuration, log));
  }
  return gates;
}

// The gates of an evaluation before its timing, against nothing.
std::vector<GateResult> check_here(Workspace& workspace, const Variant& variant, bool executor, Observer& observer,
                                   std::string& log) {
  workspace.use(variant.target, Workspace::AskedWorker::serves);
  const Family& family = workspace.family(variant.family);
  Experiment alone{.candidate = {.variant = variant.id(), .settings = default_settings(variant)}};
  const Runtime runtime = workspace.runtime(family, {{variant.id(), variant}});
  const EvaluatePlan plan{.workloads = {&first_supported(family, runtime, alone.candidate)},
                          .seed = secret_seed(),
                          .time_same_code = true,
                          .check_on_cpu = executor ? executor_check(workspace, variant) : BackgroundGates::Run()};
  pass_untimed_gates({runtime, alone, plan, observer});
  log = alone.candidate_build.log;
  return alone.gates;
}

// The same without a GPU, as far as this CPU can tell.
std::vector<GateResult> check_without_gpu(const Workspace& workspace, const Variant& variant, bool executor,
                                          const std::string& missing, Observer& observer, std::string& log) {
  std::vector<GateResult> gates = {{.gate = "metadata", .evidence = "the block is valid"}};
  if (executor) {
    std::ranges::move(check_on_cpu(workspace.paths(), variant, false, observer, log, {}), std::back_inserter(gates));
  }
  if (gates.back().outcome == Outcome::valid) {
    gates.push_back({.gate = "correctness",
                     .evidence = "not run on a GPU: " + missing + "; an experiment does it before it times anything",
                     .ran = false});
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

std::vector<std::string> notes_on(const Variant& variant, bool verified) {
  std::vector<std::string> notes;
  if (variant.idea.empty() && variant.techniques.empty() && !variant.prediction) {
    notes.emplace_back("it names neither an idea nor a technique, and predicts nothing");
  }
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

std::vector<GateResult> executor_gates(const Paths& paths, const Variant& variant, const std::stop_token& stop) {
  try {
    SilentObserver silent;
    std::string log;
    return check_on_cpu(paths, variant, true, silent, log, stop);
  } catch (const UserError& error) {
    return {{.gate = "executor", .outcome = Outcome::refused, .evidence = one_line(with_hint(error))}};
  }
}

BackgroundGates::Run executor_check(const Workspace& workspace, const Variant& variant) {
  if (variant.target != Target::cuda || workspace.catalogue().is_scanned(variant)) {
    return {};
  }
  return [paths = workspace.paths(), variant](const std::stop_token& stop) {
    return executor_gates(paths, variant, stop);
  };
}

bool passes_checks(Workspace& workspace, const Variant& variant, const VariantChecks& checks, Observer& observer,
                   CandidateAnswer& answer) {
  std::string missing;
  if (!checks.verify) {
    answer.gates = {{.gate = "metadata", .evidence = "the block is valid"}};
  } else if (variant.target == Target::host || workspace.has_gpu(&missing)) {
    answer.gates = check_here(workspace, variant, checks.executor, observer, answer.log);
  } else {
    answer.gates = check_without_gpu(workspace, variant, checks.executor, missing, observer, answer.log);
  }
  if (answer.gates.back().outcome == Outcome::valid) {
    return true;
  }
  fail_at_gate(answer);
  return false;
}

void keep_variant(Catalogue& registered, const Paths& paths, const Variant& variant, CandidateAnswer& answer) {
  if (!guards_off().empty()) {
    return;
  }
  // The journal first: when that cannot be written, the catalogue stays as it was.
  Journal journal = Journal::open(paths.journal, Access::read_write);
  add_variant(journal, variant);
  answer.path = path_of_registered(registered, paths, variant);
  answer.version = variant_version(journal, variant);
}

void name_users_file(CandidateAnswer& answer, const std::string& path, const std::string& file) {
  // A file as it is stands under its own path in a text of another name.
  const std::string whole = std::filesystem::absolute(file).lexically_normal().string();
  const auto rename = [&](const std::string& text) { return replace_all(replace_all(text, path, file), whole, file); };
  for (GateResult& gate : answer.gates) {
    gate.evidence = rename(gate.evidence);
  }
  for (std::string& line : answer.feedback) {
    line = rename(line);
  }
}

void note_call(CandidateAnswer& answer, const Family& family, const Variant& variant) {
  if (is_python(variant.source)) {
    answer.call = python_call(home_folder(), family, variant, {}).text;
    if (!answer.call.empty()) {
      answer.feedback.push_back("calls " + answer.call);
    }
    return;
  }
  if (is_device_variant(variant) || !variant.object.empty()) {
    return;
  }
  std::vector<std::string> names;
  for (const ArgumentField& field : argument_fields(family, variant)) {
    names.push_back(field.name);
  }
  const PlainCall call = plain_call(family, variant);
  const bool as_the_contract = call.text == family.name + "(" + join(names, ", ") + ")";
  if (!call.function.empty() && !as_the_contract) {
    answer.call = call.text;
    answer.feedback.push_back("calls " + call.text);
  }
}

CandidateAnswer register_file(Workspace& workspace, const RegistrationRequest& request, Observer& observer) {
  // The gates look the variant up in this workspace, and what is written when they have passed is what was verified,
  // whatever happens to the file meanwhile.
  Catalogue registered = workspace.catalogue();
  const GivenFile file = brought_file(request.file, request.function, request.lines);
  const Registration tried = workspace.catalogue().add(file, request.family);
  const Variant variant = *tried.variant;
  CandidateAnswer answer{.variant = variant.id()};
  if (passes_checks(workspace, variant, request.checks, observer, answer)) {
    answer.verdict = tried.already_registered ? CandidateVerdict::already_registered : CandidateVerdict::registered;
    answer.path = tried.already_registered ? variant.path : "";
    keep_variant(registered, workspace.paths(), variant, answer);
    if (!answer.path.empty()) {
      note_call(answer, workspace.family(variant.family), variant);
      std::ranges::copy_if(notes_on(variant, request.checks.verify), std::back_inserter(answer.feedback),
                           [](const std::string& note) { return !note.empty(); });
    }
  }
  name_users_file(answer, variant.path, request.file);
  return answer;
}

std::string unregister(Workspace& workspace, const std::string& id) {
  return workspace.catalogue().unregister_variant(id, workspace.paths().variants.parent_path() / "retired").string();
}

}  // namespace apo
