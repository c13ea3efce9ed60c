// harness/cli/doctor.cpp - `apo doctor`: what works on this machine, and how to fix what does not.
#include <dlfcn.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/documents.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/machine.h"
#include "harness/core/process.h"
#include "harness/core/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness.h"
#include "harness/implement/settings.h"
#include "harness/implement/toolkit.h"
#include "harness/loop/audit.h"
#include "harness/loop/workbench.h"
#include "harness/profile/perf_counters.h"
#include "harness/worker/cupti.h"
#include "journal/database.h"
#include "journal/journal.h"
#include "journal/lock.h"
#include "journal/queries.h"

namespace apo {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

// `broken` stops target host; `limited` works, with less than there could be.
enum class State { works, limited, broken };

struct Check {
  std::string name;
  State state = State::works;
  std::string finding;
  std::string fix;  // empty when there is nothing to do
};

const char* word(State state) {
  return state == State::works ? "ok" : state == State::limited ? "limited" : "broken";
}

Check broken(const std::string& name, const std::string& finding, const std::string& fix) {
  return {.name = name, .state = State::broken, .finding = finding, .fix = fix};
}

// Whatever a check throws is its finding.
template <class Function>
Check guarded(const std::string& name, const Function& check) {
  try {
    return check();
  } catch (const UserError& error) {
    return broken(name, error.what(), error.hint());
  } catch (const EnvironmentError& error) {
    return broken(name, error.what(), error.hint());
  }
}

// ---------------------------------------------------------------- the machine

Check check_cpu(const Machine& machine) {
  Check check{.name = "cpu",
              .finding = machine.model + ", " + std::to_string(machine.cores) + " CPUs to use, " + machine.isa +
                         ", L2 " + format_bytes(static_cast<double>(machine.l2_bytes)) + ", L3 " +
                         format_bytes(static_cast<double>(machine.l3_bytes)) + ", memory " +
                         format_bytes(static_cast<double>(machine.memory_bytes))};
  if (machine.cores < 2) {
    check.state = State::limited;
    check.fix = "with one CPU the parent disturbs what it measures; give this process two or more";
  }
  return check;
}

Check check_governor(const Machine& machine) {
  Check check{.name = "frequency governor", .finding = machine.governor};
  if (machine.governor == "unknown") {
    check.finding = "not shown, as in most virtual machines; the A/A sentinel measures what the clock does";
  } else if (machine.governor != "performance") {
    check.state = State::limited;
    check.fix = "a steadier clock needs fewer rounds: sudo cpupower frequency-set -g performance";
  }
  return check;
}

Check check_steal() {
  const CpuTicks before = read_cpu_ticks();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const double percent = steal_percent(before, read_cpu_ticks());
  Check check{.name = "steal time", .finding = format_g(percent, 2) + " % of the CPU time goes to other guests now"};
  if (percent > 1) {
    check.state = State::limited;
    check.fix = "the host is busy: rounds with steal are voided, so judgements take longer; try again at a calmer time";
  }
  return check;
}

Check check_counters() {
  const std::string missing = PerfCounters().missing();
  if (missing.empty()) {
    return {.name = "perf_event counters", .finding = "all of them"};
  }
  return {.name = "perf_event counters",
          .state = State::limited,
          .finding = missing,
          .fix = "profiles fall back to timers; verdicts never need counters"};
}

// ---------------------------------------------------------------- building and running

Check check_compiler() {
  return guarded("compiler", [] {
    const Toolchain toolchain = describe_compiler("g++");
    return Check{.name = "compiler", .finding = toolchain.version + " (" + toolchain.compiler + ")"};
  });
}

Configuration smallest_variant(Workbench& bench) {
  const Variant& variant = bench.catalogue().get("copy/simple");
  return {variant.id(), default_settings(variant)};
}

// A real variant, built and called in a real worker: that is what everything else rests on.
Check check_worker(Workbench& bench) {
  return guarded("isolated worker", [&]() -> Check {
    const Family& family = bench.family("copy");
    const Workload& workload = bench.workload(family, "n1001");
    const Configuration configuration = smallest_variant(bench);
    const Lab lab = bench.lab(family);
    const Build build = lab.build(configuration, workload.axes, false);
    if (build.outcome != Outcome::valid) {
      return broken("isolated worker", configuration.label() + " does not build: " + build.evidence,
                    "sudo apt-get install g++");
    }
    Worker worker(lab.worker);
    if (const auto loaded = worker.load(0, build.object_path); !loaded) {
      return broken("isolated worker", "a variant does not load: " + loaded.failure().evidence,
                    "run 'apo verify copy/simple --verbose' and report what it says");
    }
    Check check{.name = "isolated worker",
                .finding = "builds and loads a variant; starts in " + format_seconds(worker.start_seconds()) +
                           ", confined by " + worker.confinement()};
    if (worker.confinement() != "seccomp+landlock") {
      check.state = State::limited;
      check.fix =
          "candidates are held by less than seccomp and Landlock: judge only code that you trust, or use a "
          "kernel of 5.13 or later with both";
    }
    return check;
  });
}

Check check_correctness(Workbench& bench) {
  return guarded("correctness gate", [&] {
    const Family& family = bench.family("copy");
    const CheckResult result = check_case(
        bench.lab(family), smallest_variant(bench),
        {.workload = "n1001", .axes = bench.workload(family, "n1001").axes, .regimes = family.regimes}, secret_seed());
    return result.outcome == Outcome::valid ? Check{.name = "correctness gate", .finding = "a right variant passes"}
                                            : broken("correctness gate", "copy/simple fails: " + result.evidence,
                                                     "run 'apo verify copy/simple --verbose' and report what it says");
  });
}

Check check_sanitizers(Workbench& bench) {
  return guarded("sanitizers", [&] {
    const Family& family = bench.family("copy");
    const GateResult gate = sanitizer_gate(bench.lab(family), smallest_variant(bench),
                                           correctness_plan(family, {"n1001"}, secret_seed()), secret_seed());
    return gate.outcome == Outcome::valid
               ? Check{.name = "sanitizers", .finding = gate.evidence}
               : broken("sanitizers", gate.evidence, "sudo apt-get install libasan8 libubsan1");
  });
}

// ---------------------------------------------------------------- what is on disk

std::string open_work(Journal& journal) {
  int campaigns = 0;
  for (const Campaign& campaign : journal.campaigns()) {
    campaigns += campaign.state == "open" ? 1 : 0;
  }
  int experiments = 0;
  for (const Unfinished& one : journal.unfinished()) {
    experiments += one.kind == Unfinished::Kind::experiment ? 1 : 0;
  }
  return std::to_string(campaigns) + " open campaigns, " + std::to_string(experiments) + " unfinished experiments";
}

// Only looks when somebody locked it before: asking must not leave files behind.
std::string who_writes(const fs::path& journal) {
  if (!fs::exists(journal.string() + ".lock")) {
    return "";
  }
  try {
    const WriterLock lock(journal);
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

Check check_journal(const Paths& paths) {
  return guarded("journal", [&]() -> Check {
    if (!fs::exists(paths.journal)) {
      return {.name = "journal", .finding = "none yet at '" + paths.journal.string() + "'; 'apo run' writes it"};
    }
    Journal journal = Journal::open(paths.journal, Access::read_only);
    const std::vector<std::string> damage = audit(journal);
    if (!damage.empty()) {
      return broken(
          "journal", "'" + paths.journal.string() + "' is damaged: " + join(damage, "; "),
          "restore a copy, or save what can be read and look at it with 'apo doctor --journal recovered.db':\n" +
              recovery_command(paths.journal));
    }
    const Table version = run_sql(paths.journal, "PRAGMA user_version");
    Check check{.name = "journal",
                .finding = "'" + paths.journal.string() + "' is whole, schema version " +
                           std::to_string(std::get<std::int64_t>(version.rows.at(0).at(0))) + ", " +
                           open_work(journal)};
    const std::string busy = who_writes(paths.journal);
    if (!busy.empty()) {
      check.finding += "; " + busy;
    } else if (!journal.unfinished().empty()) {
      check.state = State::limited;
      check.fix = "an earlier run was interrupted: 'apo run' with the same family resumes it";
    }
    return check;
  });
}

Check check_build_cache(const Paths& paths) {
  std::error_code error;
  std::uintmax_t bytes = 0;
  int entries = 0;
  for (const auto& entry : fs::directory_iterator(paths.builds, error)) {
    entries += entry.is_directory(error) ? 1 : 0;
  }
  for (fs::recursive_directory_iterator it(paths.builds, error), end; !error && it != end; it.increment(error)) {
    std::error_code vanished;  // another process may clean up meanwhile
    const std::uintmax_t size = it->is_regular_file(vanished) ? it->file_size(vanished) : 0;
    bytes += vanished ? 0 : size;
  }
  return {.name = "build cache",
          .finding = std::to_string(entries) + " builds, " + format_bytes(static_cast<double>(bytes)) + " in '" +
                     paths.builds.string() + "'; it may be removed at any time"};
}

// ---------------------------------------------------------------- target cuda

Check check_toolkit() {
  const std::string compiler = find_toolkit_program("nvcc");
  if (compiler.empty()) {
    return {.name = "cuda toolkit",
            .state = State::limited,
            .finding = "not found",
            .fix = "only target cuda needs it: install CUDA Toolkit 13 and put its bin folder in PATH"};
  }
  const ProcessResult result = run_process({compiler, "--version"});
  std::string release = "of unknown version";
  for (const std::string& line : split(result.output, '\n')) {
    release = line.find("release") != std::string::npos ? trim(line) : release;
  }
  return {.name = "cuda toolkit", .finding = release + " (" + compiler + ")"};
}

// Loading the driver's library starts nothing on a device.
Check check_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    return {.name = "cuda driver",
            .state = State::limited,
            .finding = "libcuda.so.1 does not load",
            .fix = "only target cuda needs it: install the NVIDIA driver, in a container with --gpus all"};
  }
  dlclose(library);
  return {.name = "cuda driver", .finding = "libcuda.so.1 loads"};
}

std::vector<std::string> gpu_models() {
  std::vector<std::string> models;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc/driver/nvidia/gpus", error)) {
    std::ifstream stream(entry.path() / "information");
    std::string line;
    while (std::getline(stream, line)) {
      if (line.starts_with("Model:")) {
        models.push_back(trim(line.substr(6)));
      }
    }
  }
  return models;
}

Check check_devices() {
  const std::vector<std::string> models = gpu_models();
  if (models.empty()) {
    return {.name = "cuda devices",
            .state = State::limited,
            .finding = "none",
            .fix = "only target cuda needs one: target host judges on this CPU"};
  }
  return {.name = "cuda devices", .finding = join(models, ", ")};
}

// Loading CUPTI starts nothing on a device. Whether it may record there, the journal says with every experiment.
Check check_second_clock() {
  const std::string name = "second clock (CUPTI Activity)";
  std::string missing;
  const auto cupti = cupti::load_library(missing);
  if (cupti == nullptr) {
    return {.name = name,
            .state = State::limited,
            .finding = missing,
            .fix =
                "only target cuda needs it, to hold the events against: install CUDA Toolkit 13 with CUPTI, or set "
                "APO_CUPTI_LIBRARY to its libcupti.so"};
  }
  return {.name = name, .finding = "'" + cupti->path + "', version " + std::to_string(cupti->version)};
}

// What it says of itself needs no GPU; whether it knows the one here shows when a gate uses it.
Check check_compute_sanitizer() {
  const std::string program = find_toolkit_program("compute-sanitizer");
  if (program.empty()) {
    return {.name = "compute-sanitizer",
            .state = State::limited,
            .finding = "not found: on target cuda the sanitizer gate does not run",
            .fix = "only target cuda needs it: sudo apt-get install cuda-sanitizer-13-0, or put it in PATH"};
  }
  const ProcessResult result = run_process({program, "--version"}, {.timeout_s = 20});
  std::string version = "of unknown version";
  for (const std::string& line : split(result.output, '\n')) {
    version = line.starts_with("Version") ? trim(line) : version;
  }
  return {.name = "compute-sanitizer", .finding = version + " (" + program + ")"};
}

// ---------------------------------------------------------------- all together

std::vector<Check> examine(const Globals& globals, Observer& observer) {
  Paths paths = make_paths(globals.journal);
  std::vector<Check> checks;
  const auto add = [&](const Check& check) {
    checks.push_back(check);
    observer.progress({.what = "examined: " + check.name});
  };
  add({.name = "program", .finding = "variants and headers in '" + paths.home.string() + "'"});
  add(check_compiler());
  const bool can_build = checks.back().state != State::broken;
  const TemporaryFolder scratch("apo-doctor");  // what is built here proves something only if nothing is cached
  Paths fresh = paths;
  fresh.builds = scratch.path() / "builds";
  Workbench bench(fresh);
  if (can_build) {
    add(check_worker(bench));
    add(check_correctness(bench));
    add(check_sanitizers(bench));
  }
  add(check_cpu(bench.machine()));
  add(check_governor(bench.machine()));
  add(check_steal());
  add(check_counters());
  add(check_journal(paths));
  add(check_build_cache(paths));
  add(check_toolkit());
  add(check_driver());
  add(check_devices());
  add(check_second_clock());
  add(check_compute_sanitizer());
  return checks;
}

void print_checks(const std::vector<Check>& checks, bool works) {
  for (const Check& check : checks) {
    const char* colour = check.state == State::works ? "green" : check.state == State::limited ? "yellow" : "red";
    std::string mark = word(check.state);
    mark.resize(8, ' ');
    print(paint(mark, colour) + check.name + ": " + check.finding + "\n");
    if (!check.fix.empty()) {
      print("        -> " + check.fix + "\n");
    }
  }
  print(works ? "target host works here\n" : "target host does not work here until what is broken is mended\n");
}

int doctor(const Globals& globals) {
  ConsoleObserver observer(globals);
  const std::vector<Check> checks = examine(globals, observer);
  bool works = true;
  for (const Check& check : checks) {
    works = works && check.state != State::broken;
  }
  if (globals.json) {
    Json list = Json::array();
    for (const Check& check : checks) {
      list.push_back(
          {{"name", check.name}, {"state", word(check.state)}, {"finding", check.finding}, {"fix", check.fix}});
    }
    print_json({{"host_works", works}, {"machine", to_document(describe_host())}, {"checks", list}});
  } else {
    print_checks(checks, works);
  }
  return works ? kDone : kEnvironmentTrouble;
}

}  // namespace

Action define_doctor(CLI::App&, Globals& globals) {
  return [&globals] { return doctor(globals); };
}

}  // namespace apo
