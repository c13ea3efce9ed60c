// harness/cli/trust/verify.cpp - `apo verify`: the correctness gates alone; --dump writes .npy files, --inputs reads
// them.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "harness/cli/brought_options.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/npy.h"
#include "harness/core/sources.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/compare.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/correctness/inspect_call.h"
#include "harness/evaluate/correctness/large_case.h"
#include "harness/evaluate/correctness/sanitizer_gate.h"
#include "harness/evaluate/correctness/sanitizer_log.h"
#include "harness/evaluate/untimed_gates.h"
#include "harness/loop/trial/candidate_judge.h"
#include "harness/loop/workspace/chosen_workload.h"
#include "harness/loop/workspace/known.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/runtime/input_store.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct VerifyOptions {
  std::string variant;
  std::string file;
  std::string family;
  std::string workload;
  std::string regime;
  std::string dump;
  std::string inputs;
  std::string on;
  bool debug = false;
  std::uint64_t seed = 0;
  BroughtOptions brought;
  bool no_sanitizers = false;
  std::vector<std::string> device_sanitizers;
};

struct OneCall {
  TensorBytes outputs;  // only where they are to be dumped
  Comparison comparison;
  std::optional<Failure> failure;
};

// False at the end of the input.
bool wait_for_debugger(int pid) {
  std::fprintf(stderr, "the worker is process %d: gdb -p %d, set breakpoints, continue; then press Enter here\n", pid,
               pid);
  int c = std::getchar();
  while (c != '\n' && c != EOF) {
    c = std::getchar();
  }
  return c != EOF;
}

// A single call on given inputs.
OneCall run_once(const Runtime& runtime, const Configuration& configuration, const Build& build,
                 const CheckedInputs& checked, const VerifyOptions& how) {
  const InputSet& inputs = checked.inputs;
  OneCall call;
  if (build.outcome != Outcome::valid) {
    call.failure = Failure{.outcome = build.outcome, .evidence = build.evidence};
    return call;
  }
  SharedTensors shared_tensors(shared_tensors_spec(*runtime.family, inputs.axes, 1,
                                                   runtime.scratch(configuration, inputs.axes), {}, secret_seed(),
                                                   runtime.worker.target));
  share_inputs(shared_tensors, 0, *runtime.family, inputs, runtime.threads);
  shared_tensors.poison_outputs();
  WorkerOptions options = runtime.worker;
  options.deadline = how.debug ? std::chrono::hours(24) : options.deadline;
  options.layout_seed = derive_seed(inputs.seed, "environment");
  Worker worker(options);
  if (const auto loaded = load_build(worker, 0, build); !loaded) {
    call.failure = loaded.failure();
  } else if (const auto attached = worker.attach(shared_tensors); !attached) {
    call.failure = attached.failure();
  } else if (how.debug && !wait_for_debugger(worker.pid())) {
    throw UserError("--debug waits for Enter, but standard input is closed");
  } else if (const auto sample = worker.call(0); !sample) {
    call.failure = sample.failure();
  } else {
    worker.freeze();
    checked.compute_whole();
    if (!how.dump.empty()) {
      call.outputs = read_outputs(shared_tensors, *runtime.family);
    }
    call.comparison = compare_outputs(*runtime.family, inputs.axes, checked.expected(),
                                      view_outputs(shared_tensors, *runtime.family), runtime.threads);
    call.failure = inspect_call(shared_tensors, *runtime.family, checked, configuration.label(), 0, runtime.threads);
  }
  return call;
}

void dump(const fs::path& folder, const Runtime& runtime, const InputSet& inputs, const TensorBytes& outputs) {
  const Family& family = *runtime.family;
  const TensorMap values = values_of(family, inputs, runtime.threads);
  const TensorMap reference = family.reference(inputs.axes, values, {}, runtime.threads);
  for (const TensorSpec& tensor : family.tensors) {
    const auto shape = tensor.shape(inputs.axes);
    if (tensor.role != Role::output) {
      write_npy(folder / (tensor.name + ".npy"), shape, values.at(tensor.name), tensor.dtype);
      continue;
    }
    write_npy(folder / (tensor.name + ".reference.npy"), shape, reference.at(tensor.name));
    if (const auto found = outputs.find(tensor.name); found != outputs.end()) {
      write_npy(folder / (tensor.name + (tensor.in_place ? ".after.npy" : ".npy")), shape,
                decode(tensor.dtype, found->second), tensor.dtype);
    }
  }
}

TensorMap load_inputs(const fs::path& folder, const Family& family, const Axes& axes) {
  if (!fs::is_directory(folder)) {
    throw UserError("--inputs '" + folder.string() + "' is not a folder",
                    "'apo verify VARIANT --dump FOLDER' shows the files it needs");
  }
  TensorMap values;
  for (const TensorSpec& tensor : family.tensors) {
    const fs::path file = folder / (tensor.name + ".npy");
    if (tensor.role == Role::output || (tensor.role == Role::derived_input && !fs::exists(file))) {
      continue;
    }
    NpyArray array = read_npy(file);
    if (array.shape != tensor.shape(axes)) {
      throw UserError("'" + file.string() + "' has another shape than " + tensor.shape_text + " of this workload",
                      "choose the workload that it was written for with --workload");
    }
    values[tensor.name] = std::move(array.values);
  }
  return values;
}

std::string same_again(std::uint64_t seed) {
  return fmt::format("seed {0}: --seed {0} runs the same again\n", seed);
}

int verify_one(const VerifyOptions& options, const Globals& globals, Workspace& workspace, const Family& family,
               const Configuration& configuration) {
  const Workload& workload =
      options.workload.empty() ? family.workloads.front() : workspace.workload(family, options.workload);
  const Runtime runtime = workspace.runtime(family);
  check_supported(runtime, configuration, workload);
  if (!options.dump.empty() && !workload.repeated_axis.empty()) {
    throw UserError("--dump does not write " + workload.name + ": its inputs repeat along " + workload.repeated_axis,
                    "dump a smaller workload; 'apo list' shows them");
  }
  const std::uint64_t seed = options.seed != 0 ? options.seed : secret_seed();
  const std::string regime = options.regime.empty() ? family.regimes.front() : options.regime;
  std::future<Build> building =
      std::async(std::launch::async, [&] { return runtime.build(configuration, workload.axes, false); });
  InputSet drawn =
      options.inputs.empty()
          ? stored_inputs(family, workload, seed, regime, runtime.threads)
          : inputs_from(family, workload.axes, load_inputs(options.inputs, family, workload.axes), runtime.threads);
  const std::uint64_t said_seed = std::exchange(drawn.seed, seed);
  const CheckedInputs checked(family, std::move(drawn), runtime.threads);
  const InputSet& inputs = checked.inputs;
  const std::future<void> expecting = std::async(std::launch::async, [&] {
    checked.compute_whole();
    static_cast<void>(checked.expected());
  });  // beside the call
  const OneCall call = run_once(runtime, configuration, building.get(), checked, options);
  if (!options.dump.empty()) {
    dump(options.dump, runtime, inputs, call.outputs);
  }
  Json tensors = Json::array();
  std::vector<std::vector<std::string>> rows = {{"output", "compared", "relative error", "of tolerance", "verdict"}};
  for (const TensorComparison& tensor : call.comparison.tensors) {
    tensors.push_back({{"tensor", tensor.tensor},
                       {"correct", tensor.correct},
                       {"compared", tensor.compared},
                       {"relative_error", number_or_null(tensor.relative_error)},
                       {"closeness", number_or_null(tensor.closeness)},
                       {"evidence", tensor.evidence}});
    rows.push_back({tensor.tensor, std::to_string(tensor.compared), format_g(tensor.relative_error, 3),
                    format_g(tensor.closeness, 2), tensor.correct ? "right" : tensor.evidence});
  }
  const Outcome outcome = call.failure ? call.failure->outcome : Outcome::valid;
  const std::string evidence = call.failure ? call.failure->evidence : call.comparison.evidence;
  const bool can_repeat = outcome != Outcome::valid && outcome != Outcome::build_failed && options.inputs.empty();
  print_answer(globals,
               {{"variant", to_document(configuration)},
                {"workload", workload.name},
                {"regime", inputs.regime},
                {"seed", said_seed},
                {"outcome", to_string(outcome)},
                {"evidence", evidence},
                {"tensors", tensors},
                {"dump", options.dump}},
               (call.comparison.tensors.empty() ? "" : format_table(rows)) +
                   fmt::format("{} on {} ({}): {}, {}\n", configuration.label(), workload.name, inputs.regime,
                               to_string(outcome), evidence) +
                   (can_repeat ? same_again(seed) : ""));
  return outcome == Outcome::valid ? kDone : kGateFailed;
}

void log_steps(const GateResult& gate) {
  for (const GateStep& step : gate.steps) {
    spdlog::debug("{}: {:.3f} s to {:.3f} s, {}", gate.gate, step.begin_s, step.end_s, step.what);
  }
}

// Nothing checked is nothing right.
void check_any_supported(const Family& family, const Runtime& runtime, const Configuration& configuration,
                         const std::vector<CheckCase>& plan) {
  const auto why_not = [&](const CheckCase& one) { return runtime.unsupported(configuration, one.axes); };
  if (std::all_of(plan.begin(), plan.end(), [&](const CheckCase& one) { return !why_not(one).empty(); })) {
    throw UserError(
        configuration.label() + " supports none of the checked workloads; " + plan.front().workload + ": " +
            why_not(plan.front()),
        "relax its apo:requires line, or name another with --workload; 'apo list " + family.name + "' shows them");
  }
}

// Nothing where there is no journal yet.
KnownMistakes known_here(const Workspace& workspace, const Family& family, const Configuration& configuration) {
  std::optional<Journal> journal = existing_journal(workspace.paths());
  const std::string& hash = workspace.catalogue().get(configuration.variant).source_hash;
  return journal ? known_mistakes(*journal, family,
                                  {.family = family.name, .candidate = configuration, .candidate_source_hash = hash})
                 : KnownMistakes();
}

// `device_s`: what it took to find the target.
int verify_all(const VerifyOptions& options, const Globals& globals, Workspace& workspace, const Family& family,
               const Configuration& configuration, double device_s) {
  const auto start = Clock::now();
  Runtime runtime = workspace.runtime(family);
  if (!options.device_sanitizers.empty()) {
    runtime.device_sanitizers = options.device_sanitizers;
  }
  ConsoleObserver observer(globals);
  const std::uint64_t seed = options.seed != 0 ? options.seed : secret_seed();
  const KnownMistakes known = known_here(workspace, family, configuration);
  auto plan = correctness_plan(runtime, configuration, {family.workloads.front().name}, seed);
  plan.insert(plan.begin(), known.cases.begin(), known.cases.end());
  if (auto large = runtime.worker.target == Target::cuda ? large_case(runtime, configuration, seed) : std::nullopt) {
    plan.push_back(std::move(*large));
  }
  check_any_supported(family, runtime, configuration, plan);
  std::optional<SanitizerCheck> sanitizers;
  if (!options.no_sanitizers) {
    sanitizers.emplace(runtime, configuration, plan, seed);
  }
  std::vector<GateResult> gates = {
      correctness_gate(runtime, configuration, plan, seed, [&](int done, int all, const std::string& what) {
        observer.progress({.what = "verify " + configuration.label() + " on " + what, .done = done, .expected = all});
      })};
  if (gates.back().outcome == Outcome::valid && sanitizers) {
    gates.push_back(sanitizers->run());
  }
  if (gates.back().outcome == Outcome::valid && !known.proof.empty()) {
    gates.push_back(history_gate(known.proof));
  }
  const double seconds = device_s + seconds_since(start);
  for (const GateResult& gate : gates) {
    log_steps(gate);
  }
  print_answer(globals,
               {{"variant", to_document(configuration)},
                {"outcome", to_string(gates.back().outcome)},
                {"seed", seed},
                {"gates", to_documents(gates)},
                {"device_seconds", device_s},
                {"seconds", seconds}},
               gates_text(gates) + (gates.back().outcome == Outcome::valid ? "" : same_again(seed)));
  return gates.back().outcome == Outcome::valid ? kDone : kGateFailed;
}

void use_cpu(const VerifyOptions& options, const Variant& variant, Workspace& workspace) {
  if (options.on != "cpu") {
    throw UserError("unknown --on '" + options.on + "'", "known: cpu, which runs a device variant without a GPU");
  }
  if (variant.target == Target::host) {
    throw UserError("--on cpu is for device variants, and " + variant.id() + " runs on this CPU anyway",
                    "apo verify " + variant.id());
  }
  workspace.use_executor(options.debug);
}

// Of a file: as a variant of this process alone.
Configuration chosen_configuration(const VerifyOptions& options, Workspace& workspace, const TemporaryFolder& folder) {
  if (options.variant.empty() == options.file.empty()) {
    throw UserError(options.file.empty() ? "no variant was given" : "both a variant and --file were given",
                    "'apo verify FAMILY/NAME', or 'apo verify --file FILE' for one that is not registered");
  }
  const std::string name = options.file.empty()
                               ? options.variant
                               : workspace.catalogue()
                                     .add(brought_file(candidate_file(options.file, folder.path()).path,
                                                       options.brought.function(), options.brought.lines),
                                          options.family)
                                     .variant->id();
  return workspace.catalogue().configuration(name);
}

int verify(const VerifyOptions& options, const Globals& globals) {
  const InterruptNote note("nothing was kept but the builds", "verify anew with", globals.words);
  Workspace workspace(make_paths(globals.journal));
  const TemporaryFolder folder;
  const Configuration configuration = chosen_configuration(options, workspace, folder);
  const Variant& variant = workspace.catalogue().get(configuration.variant);
  const Family& family = workspace.family(variant.family);
  const bool one = options.debug || !options.workload.empty() || !options.regime.empty() || !options.dump.empty() ||
                   !options.inputs.empty();
  const auto start = Clock::now();
  if (options.on.empty()) {
    workspace.use(variant.target, one ? Workspace::AskedWorker::ends : Workspace::AskedWorker::serves);
  } else {
    use_cpu(options, variant, workspace);
  }
  const double device_s = seconds_since(start);
  if (!options.regime.empty() &&
      std::find(family.regimes.begin(), family.regimes.end(), options.regime) == family.regimes.end()) {
    throw UserError("unknown regime '" + options.regime + "' of family " + family.name,
                    did_you_mean(options.regime, family.regimes) + "\nknown: " + join(family.regimes, ", "));
  }
  return one ? verify_one(options, globals, workspace, family, configuration)
             : verify_all(options, globals, workspace, family, configuration, device_s);
}

// CLI11 takes -1 for the largest number, and what is larger for the largest as well.
std::string check_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  const bool whole = error == std::errc() && end == text.data() + text.size() && seed != 0;
  return whole ? "" : fmt::format("'{}' is not a whole number from 1 to {}", text, UINT64_MAX);
}

}  // namespace

Action define_verify(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<VerifyOptions>();
  app.add_option("variant", options->variant, "FAMILY/NAME or FAMILY/NAME[TUNABLE=VALUE,...]");
  app.add_option("--file", options->file,
                 "check this source file, which need not be registered; - reads it from standard input");
  app.add_option("--family", options->family, "with --file: the family of a file whose block names none");
  add_brought(app, options->brought);
  app.add_option("--workload", options->workload,
                 "check this workload only (default: all small, ragged and default ones)");
  app.add_option("--regime", options->regime, "check this input regime only (default: several)");
  app.add_option("--dump", options->dump,
                 "write inputs, outputs and reference of one call to this folder as .npy files");
  app.add_option("--inputs", options->inputs, "read the inputs of one call from .npy files in this folder");
  app.add_option("--on", options->on,
                 "cpu: run a device variant thread by thread on this CPU and check races, barriers and bounds");
  app.add_option("--seed", options->seed,
                 "seed of the inputs and the thread order (default: secret, printed when a gate fails)")
      ->check(check_seed);
  app.add_flag("--debug", options->debug, "wait for a debugger and for Enter before the call");
  app.add_flag("--no-sanitizers", options->no_sanitizers, "skip ASan and UBSan, on target cuda compute-sanitizer");
  app.add_option("--device-sanitizers", options->device_sanitizers,
                 "compute-sanitizer tools to run on target cuda (default: memcheck,racecheck)")
      ->delimiter(',')
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kDeviceSanitizers), std::end(kDeviceSanitizers))));
  return [options, &globals] { return verify(*options, globals); };
}

}  // namespace apo
