// harness/cli/trust/doctor.cpp - `apo doctor`: checks this machine and the journal and names the fixes.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/applications/comparisons.h"
#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/trust/doctor_check.h"
#include "harness/core/json/records_json.h"
#include "harness/core/system/files.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/process.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/correctness/sanitizer_gate.h"
#include "harness/evaluate/judge/selftest_summary.h"
#include "harness/implement/variant/settings.h"
#include "harness/loop/replay/replay.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/profile/host/perf_counters.h"
#include "journal/database.h"
#include "journal/facts/selftests.h"
#include "journal/facts/unfinished.h"
#include "journal/journal.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

const char* word(CheckState state) {
  return state == CheckState::works ? "ok" : state == CheckState::limited ? "limited" : "broken";
}

// How this program came here: what to do for a newer one differs.
Check check_installation(const fs::path& home) {
  const std::string program = executable_path().string();
  const bool checkout = !is_absent(home / "CMakePresets.json");
  const bool debian = program == "/usr/bin/apo" && !is_absent("/var/lib/dpkg/info/autopoiesis.list");
  const std::string how = checkout ? "built in a checkout"
                          : debian ? "installed as the Debian package autopoiesis"
                                   : "installed from an archive, or by cmake --install";
  return {.name = "program",
          .finding =
              fmt::format("apo " APO_VERSION ", '{}', {}; variants and headers in '{}'", program, how, home.string())};
}

Check check_cpu(const Machine& machine) {
  Check check{.name = "cpu",
              .finding = fmt::format("{}, {} CPUs to use, {}, L2 {}, L3 {}, memory {}", machine.model, machine.cores,
                                     machine.isa, format_bytes(static_cast<double>(machine.l2_bytes)),
                                     format_bytes(static_cast<double>(machine.l3_bytes)),
                                     format_bytes(static_cast<double>(machine.memory_bytes)))};
  if (machine.cores < 2) {
    check.state = CheckState::limited;
    check.fix = "with one CPU the parent disturbs what it measures; give this process two or more";
  }
  return check;
}

Check check_governor(const Machine& machine) {
  Check check{.name = "frequency governor", .finding = machine.governor};
  if (machine.governor == "unknown") {
    check.finding = "not shown, as in most virtual machines; the A/A sentinel detects an unsteady clock";
  } else if (machine.governor != "performance") {
    check.state = CheckState::limited;
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
    check.state = CheckState::limited;
    check.fix = "the host is busy: rounds with steal are voided, so judgements take longer; try again at a calmer time";
  }
  return check;
}

Check check_counters() {
  const std::string missing = PerfCounters().missing();
  if (missing.empty()) {
    return {.name = "perf_event counters", .finding = "all of them"};
  }
  return limited("perf_event counters", missing, "profiles fall back to timers; verdicts never need counters");
}

Check check_compiler() {
  return guarded("compiler", [] {
    const Toolchain toolchain = describe_compiler("g++");
    return Check{.name = "compiler", .finding = toolchain.version + " (" + toolchain.compiler + ")"};
  });
}

Configuration smallest_variant(Workspace& workspace) {
  const Variant& variant = workspace.catalogue().get("copy/simple");
  return {variant.id(), default_settings(variant)};
}

// A real variant, built and called in a real worker: that is what everything else rests on.
Check check_worker(Workspace& workspace) {
  return guarded("isolated worker", [&]() -> Check {
    const Family& family = workspace.family("copy");
    const Workload& workload = workspace.workload(family, "n1001");
    const Configuration configuration = smallest_variant(workspace);
    const Runtime runtime = workspace.runtime(family);
    const Build build = runtime.build(configuration, workload.axes, false);
    if (build.outcome != Outcome::valid) {
      return broken("isolated worker", configuration.label() + " does not build: " + build.evidence,
                    "sudo apt-get install g++");
    }
    Worker worker(runtime.worker);
    if (const auto loaded = worker.load(0, build.object_path); !loaded) {
      return broken("isolated worker", "a variant does not load: " + loaded.failure().evidence,
                    "run 'apo verify copy/simple --verbose' and report what it says");
    }
    Check check{.name = "isolated worker",
                .finding = "builds and loads a variant; starts in " + format_seconds(worker.start_seconds()) +
                           ", confined by " + worker.confinement()};
    if (!worker.confinement().starts_with("seccomp+landlock")) {  // a user who is no administrator has the room too
      check.state = CheckState::limited;
      check.fix =
          "candidates are confined by less than seccomp and Landlock: judge only trusted code, or use a "
          "kernel of 5.13 or later with both";
    }
    return check;
  });
}

Check check_correctness(Workspace& workspace) {
  return guarded("correctness gate", [&] {
    const Family& family = workspace.family("copy");
    const CheckResult result =
        check_case(workspace.runtime(family), smallest_variant(workspace),
                   {.workload = "n1001", .axes = workspace.workload(family, "n1001").axes, .regimes = family.regimes},
                   secret_seed());
    return result.outcome == Outcome::valid ? Check{.name = "correctness gate", .finding = "a correct variant passes"}
                                            : broken("correctness gate", "copy/simple fails: " + result.evidence,
                                                     "run 'apo verify copy/simple --verbose' and report what it says");
  });
}

Check check_sanitizers(Workspace& workspace) {
  return guarded("sanitizers", [&] {
    const Family& family = workspace.family("copy");
    const GateResult gate = sanitizer_gate(workspace.runtime(family), smallest_variant(workspace),
                                           correctness_plan(family, {"n1001"}, secret_seed()), secret_seed());
    return gate.outcome == Outcome::valid
               ? Check{.name = "sanitizers", .finding = gate.evidence}
               : broken("sanitizers", gate.evidence, "sudo apt-get install libasan8 libubsan1");
  });
}

// Whether the folder, or the nearest one above it that exists, takes a new folder; root, too, is refused on a read-only
// file system. What is made for it is removed.
Check check_folder(const Paths& paths) {
  fs::path folder = paths.folder;
  while (is_absent(folder) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  std::string probe = folder / ".apo-doctor-XXXXXX";
  if (mkdtemp(probe.data()) != nullptr) {
    rmdir(probe.c_str());  // it is empty: nothing but a race with its owner can fail here
    return {.name = "folder", .finding = fmt::format("journal, builds and reports go to '{}'", paths.folder.string())};
  }
  const int reason = errno;
  return broken(
      "folder",
      folder == paths.folder
          ? fmt::format("nothing can be written to '{}': {}", folder.string(), std::strerror(reason))
          : fmt::format("'{}' cannot be created in '{}': {}", paths.folder.lexically_relative(folder).string(),
                        folder.string(), std::strerror(reason)),
      fmt::format("{}, or name a journal elsewhere with --journal or APO_JOURNAL",
                  reason == ENOTDIR ? "move that file away" : "make it writable"));
}

std::string open_work(Journal& journal) {
  int campaigns = 0;
  int experiments = 0;
  int comparisons = 0;
  for (const Unfinished& one : all_unfinished(journal)) {
    campaigns += one.kind == Unfinished::Kind::campaign ? 1 : 0;
    experiments += one.kind == Unfinished::Kind::experiment ? 1 : 0;
    comparisons += one.kind == Unfinished::Kind::comparison ? 1 : 0;
  }
  return fmt::format("{} open campaigns, {} unfinished experiments{}", campaigns, experiments,
                     comparisons > 0 ? fmt::format(", {} unfinished comparisons", comparisons) : "");
}

struct Attended {
  std::vector<std::string> by;  // a sentence for each that a living process works on
  bool all = true;
};

Attended attended(Journal& journal) {
  Attended attended;
  for (const Unfinished& one : all_unfinished(journal)) {
    const auto who = who_works_on(journal, one);
    attended.all = attended.all && who;
    if (who && (one.kind == Unfinished::Kind::campaign || one.campaign == 0)) {
      attended.by.push_back(one.what + " is being run by " + *who);
    }
  }
  return attended;
}

Check check_journal(const Paths& paths) {
  return guarded("journal", [&]() -> Check {
    if (is_absent(paths.journal)) {
      return {.name = "journal", .finding = "none yet at '" + paths.journal.string() + "'; 'apo run' writes it"};
    }
    Journal journal = Journal::open(paths.journal, Access::read_only);
    if (const std::vector<std::string> damage = audit(journal); !damage.empty()) {
      return broken(
          "journal", "'" + paths.journal.string() + "' is damaged: " + join(damage, "; "),
          "restore a copy, or save what can be read and look at it with 'apo doctor --journal recovered.db':\n" +
              recovery_command(paths.journal));
    }
    Check check{.name = "journal",
                .finding = fmt::format("'{}' is whole, schema version {}, {}", paths.journal.string(),
                                       newest_journal_schema(), open_work(journal))};
    const Attended now = attended(journal);
    for (const std::string& sentence : now.by) {
      check.finding += "; " + sentence;
    }
    if (!now.all) {
      check.state = CheckState::limited;
      check.fix =
          "an earlier run was interrupted: 'apo run' with the same family resumes a campaign, and the next command "
          "that "
          "judges ends the rest";
    }
    return check;
  });
}

// Only the present state of this machine counts.
Check check_selftest(const Paths& paths, Workspace& workspace) {
  const std::string name = "selftest";
  const Check missing =
      limited(name, "none for this machine in its current state",
              "'apo selftest' measures what it resolves, and smaller claims are refused from then on");
  if (is_absent(paths.journal)) {
    return missing;
  }
  return guarded(name, [&] {
    Journal journal = Journal::open(paths.journal, Access::read_only);
    std::vector<std::string> found;
    std::string why_not;
    for (const Target target : {Target::host, Target::cuda}) {
      if (target == Target::cuda && !workspace.has_gpu(&why_not)) {
        continue;
      }
      workspace.use(target);
      if (const auto last = latest_selftest(journal, workspace.machine())) {
        const SelftestRate identical = selftest_total(selftest_comparisons(journal, last->id), SelftestKind::aa);
        found.push_back(fmt::format(
            "{}: number {} of {}, identical code accepted in {} of {} comparisons, claims below {} are refused",
            to_string(target), last->id, last->ended_at, identical.accepted, identical.comparisons,
            format_percent(last->smallest_claim)));
      }
    }
    workspace.use(Target::host);
    return found.empty() ? missing : Check{.name = name, .finding = join(found, "; ")};
  });
}

Check check_build_cache(const Paths& paths) {
  std::error_code error;
  std::uintmax_t bytes = 0;
  int entries = 0;
  for (fs::recursive_directory_iterator it(paths.builds, error), end; !error && it != end; it.increment(error)) {
    std::error_code vanished;  // another process may clean up meanwhile
    entries += it.depth() == 0 && it->is_directory(vanished) ? 1 : 0;
    const std::uintmax_t size = it->is_regular_file(vanished) ? it->file_size(vanished) : 0;
    bytes += vanished ? 0 : size;
  }
  return {.name = "build cache",
          .finding = fmt::format("{} builds, {} in '{}'; it may be removed at any time", entries,
                                 format_bytes(static_cast<double>(bytes)), paths.builds.string())};
}

std::vector<Check> examine(const Globals& globals, Observer& observer) {
  Paths paths = make_paths(globals.journal);
  std::vector<Check> checks;
  const auto add = [&](const Check& check) {
    checks.push_back(check);
    observer.progress({.what = "examined: " + check.name});
  };
  add(check_installation(paths.home));
  add(check_compiler());
  const bool can_build = checks.back().state != CheckState::broken;
  const TemporaryFolder scratch("apo-doctor");  // what is built here proves something only if nothing is cached
  Paths fresh = paths;
  fresh.builds = scratch.path() / "builds";
  Workspace workspace(fresh);
  if (can_build) {
    add(check_worker(workspace));
    add(check_correctness(workspace));
    add(check_sanitizers(workspace));
  }
  add(check_cpu(workspace.machine()));
  add(check_governor(workspace.machine()));
  add(check_steal());
  add(check_counters());
  add(check_folder(paths));
  add(check_journal(paths));
  add(check_selftest(paths, workspace));
  add(check_build_cache(paths));
  for (const Check& check : check_gpu_software()) {
    add(check);
  }
  add(check_gpu_counters(workspace));
  return checks;
}

std::string text_of(const std::vector<Check>& checks, bool works) {
  std::string text;
  for (const Check& check : checks) {
    const char* colour = check.state == CheckState::works     ? "green"
                         : check.state == CheckState::limited ? "yellow"
                                                              : "red";
    std::string mark = word(check.state);
    mark.resize(8, ' ');
    text += paint(mark, colour) + check.name + ": " + check.finding + "\n" +
            (check.fix.empty() ? "" : "        -> " + check.fix + "\n");
  }
  return text +
         (works ? "target host works here\n" : "target host does not work here until the failures above are fixed\n");
}

int doctor(const Globals& globals) {
  ConsoleObserver observer(globals);
  const std::vector<Check> checks = examine(globals, observer);
  bool works = true;
  for (const Check& check : checks) {
    works = works && check.state != CheckState::broken;
  }
  const auto document_of = [](const Check& check) {
    return Json{{"name", check.name}, {"state", word(check.state)}, {"finding", check.finding}, {"fix", check.fix}};
  };
  print_answer(
      globals,
      {{"host_works", works}, {"machine", to_document(describe_host())}, {"checks", list_of(checks, document_of)}},
      text_of(checks, works));
  return works ? kDone : kEnvironmentTrouble;
}

std::string compacted_text(const Compacted& done) {
  return fmt::format(
      "dropped the timed calls of {} rounds (their effects and medians stay) and {} rows of PC samples (one a line and "
      "state stays): {} before, {} now\n",
      done.rounds, done.sampled_rows, format_bytes(static_cast<double>(done.bytes_before)),
      format_bytes(static_cast<double>(done.bytes_after)));
}

int compact_journal(const Globals& globals) {
  const Paths paths = make_paths(globals.journal);
  if (is_absent(paths.journal)) {
    throw UserError("there is no journal '" + paths.journal.string() + "'", "name one with --journal");
  }
  Journal journal = Journal::open(paths.journal, Access::read_write);
  const Compacted done = compact(journal);
  print_answer(globals,
               {{"journal", paths.journal.string()},
                {"rounds_without_calls", done.rounds},
                {"sample_rows_dropped", done.sampled_rows},
                {"bytes_before", done.bytes_before},
                {"bytes", done.bytes_after}},
               fmt::format("journal '{}': {}", paths.journal.string(), compacted_text(done)));
  return kDone;
}

}  // namespace

Action define_doctor(CLI::App& app, Globals& globals) {
  const auto compacts = std::make_shared<bool>(false);
  app.add_flag("--compact", *compacts,
               "drop what no verdict and no report reads from the journal: the timed calls of its rounds");
  return [compacts, &globals] { return *compacts ? compact_journal(globals) : doctor(globals); };
}

}  // namespace apo
