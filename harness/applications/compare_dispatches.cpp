// harness/applications/compare_dispatches.cpp - runs, verdict and expectation, each a row when it is there.
#include "harness/applications/compare_dispatches.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "harness/applications/expectation.h"
#include "harness/applications/judge_application.h"
#include "harness/applications/run_application.h"
#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "harness/loop/export/dispatch_document.h"
#include "harness/profile/application/application_summary.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

// One a family; none of a library.
std::vector<std::string> documents_of(const fs::path& dispatch) {
  std::vector<std::string> documents;
  if (fs::is_directory(dispatch)) {
    for (const fs::directory_entry& file : fs::directory_iterator(dispatch)) {
      if (file.is_regular_file() && file.path().filename().string().ends_with(kDispatchDocument)) {
        documents.push_back(read_file(file.path()));
      }
    }
  }
  return documents;
}

KernelEffect kernel_effect(const ApplicationComparison& comparison, const Machine& machine) {
  return kernel_effect(documents_of(comparison.dispatch[0]), documents_of(comparison.dispatch[1]), machine);
}

// The length of a step of A, the median over its runs.
double step_of_a(const ApplicationComparison& comparison) {
  std::vector<double> seconds;
  for (const ApplicationRun& run : comparison.runs) {
    if (!run.of_b && run.view == ApplicationView::fixed_steps && run.steps > 0) {
      seconds.push_back(run.seconds / run.steps);
    }
  }
  return seconds.empty() ? 0 : median(seconds);
}

// Runs A under the injected recorder and keeps the profile. Throws UserError and EnvironmentError where it cannot.
RecordedSteps record(const RunOfA& run_a, const ApplicationComparison& comparison, const Machine& machine,
                     Journal& journal) {
  const TemporaryFolder folder("apo-recordings");
  const ApplicationRun run = run_a(recorder_environment(folder.path()));
  if (run.outcome != Outcome::valid) {
    throw UserError("its run under the recorder failed: " + run.evidence);
  }
  ApplicationProfile profile{.source = "run",
                             .command = join(comparison.application.command, " "),
                             .exit_code = 0,
                             .seconds = run.wall_s,
                             .device = machine.model};
  collect_recordings(folder.path(), profile);
  const ApplicationSummary summary = summarise(profile, Categories::for_pytorch());
  return {.profile = journal.add_application(profile, summary, machine.id),
          .summary = summary,
          .steps = comparison.application.warmup_steps + run.steps};
}

// As record() does; says why not where it cannot.
RecordedSteps record_or_say(const RunOfA& run_a, const ApplicationComparison& comparison, const Machine& machine,
                            Journal& journal) {
  try {
    return record(run_a, comparison, machine, journal);
  } catch (const UserError& error) {
    return {.missing = error.what()};
  } catch (const EnvironmentError& error) {
    return {.missing = error.what()};
  }
}

}  // namespace

ApplicationComparison compare_dispatches(Workspace& workspace, Journal& journal, ApplicationComparison asked,
                                         Observer& observer) {
  ApplicationComparison comparison = std::move(asked);
  comparison.started_at = utc_now();
  comparison.folder = comparison.folder.empty() ? fs::current_path().string() : comparison.folder;
  const Machine machine = workspace.machine();
  comparison.machine = machine.id;
  const KernelEffect kernel = kernel_effect(comparison, machine);
  RecordedSteps recorded = {.missing = "not all runs ended well"};
  const ApplicationHooks hooks = {
      .on_begin =
          [&] {
            journal.add_machine(machine);
            comparison.id = journal.begin_application_comparison(comparison);
          },
      .on_run = [&](const ApplicationRun& run) { journal.add_application_run(comparison.id, run); },
      .on_pairs =
          [&](const RunOfA& run_a) {
            if (kernel.missing.empty() && !comparison.application.kernels.empty()) {
              recorded = record_or_say(run_a, comparison, machine, journal);
            }
          }};
  judge_application(comparison, secret_seed(), workspace.turns(), observer, hooks);
  comparison.expectation = expectation_of(kernel, comparison.application.kernels, recorded, step_of_a(comparison),
                                          deciding_speed(comparison));
  journal.finish_application_comparison(comparison);
  return comparison;
}

}  // namespace apo
