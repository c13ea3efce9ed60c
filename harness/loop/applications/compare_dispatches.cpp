// harness/loop/applications/compare_dispatches.cpp - runs, verdict and expectation, each a row when it is there.
#include "harness/loop/applications/compare_dispatches.h"

#include <filesystem>
#include <utility>

#include "harness/core/system/files.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/applications/judge_application.h"
#include "harness/loop/applications/expectation.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

// "" where there is none, as of a library.
std::string table_of_dispatch(const fs::path& dispatch) {
  const fs::path file = dispatch / "dispatch.json";
  return fs::is_regular_file(file) ? read_file(file) : "";
}

ApplicationExpectation expected(Journal& journal, const ApplicationComparison& comparison) {
  const KernelEffect kernel = kernel_effect(table_of_dispatch(comparison.dispatch[0]),
                                            table_of_dispatch(comparison.dispatch[1]), comparison.machine);
  return expectation_of(kernel, comparison.application.kernels, journal.newest_application(),
                        deciding_speed(comparison));
}

}  // namespace

ApplicationComparison compare_dispatches(Workspace& workspace, Journal& journal, ApplicationComparison asked,
                                         Observer& observer) {
  ApplicationComparison comparison = std::move(asked);
  comparison.machine = workspace.machine().id;
  comparison.started_at = utc_now();
  comparison.folder = fs::current_path().string();
  const ApplicationHooks hooks = {
      .on_begin =
          [&] {
            journal.add_machine(workspace.machine());
            comparison.id = journal.begin_application_comparison(comparison);
          },
      .on_run = [&](const ApplicationRun& run) { journal.add_application_run(comparison.id, run); }};
  judge_application(comparison, secret_seed(), workspace.turns(), observer, hooks);
  comparison.expectation = expected(journal, comparison);
  journal.finish_application_comparison(comparison);
  return comparison;
}

}  // namespace apo
