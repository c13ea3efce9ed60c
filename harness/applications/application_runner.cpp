// harness/applications/application_runner.cpp - prepares copies and environment, and classifies how a run
// ended.
#include "harness/applications/application_runner.h"

#include <fmt/format.h>

#include <csignal>
#include <system_error>
#include <utility>

#include "harness/applications/step_lines.h"
#include "harness/core/error.h"
#include "harness/core/system/line_process.h"
#include "harness/core/system/process.h"
#include "harness/evaluate/commands/command_runner.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

constexpr const char* kCopyPrefix = "apo-dispatch";

// Both get the same name, with their own ending, which a loader may read.
fs::path copy_into(const fs::path& folder, const fs::path& dispatch) {
  const fs::path copy = folder / ("dispatch" + (fs::is_directory(dispatch) ? "" : dispatch.extension().string()));
  std::error_code error;
  fs::copy(dispatch, copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (error) {
    throw UserError("cannot copy the dispatch '" + dispatch.string() + "': " + error.message());
  }
  return copy;
}

fs::path first_copy(const TemporaryFolder& folder, const std::string& dispatch) {
  if (!fs::exists(dispatch)) {
    throw UserError("there is no dispatch '" + dispatch + "'",
                    "name the folder that 'apo export --dispatch' wrote, or the library that the application loads");
  }
  return copy_into(folder.path(), dispatch);
}

bool says_out_of_memory(const std::string& printed) {
  for (const char* words :
       {"out of memory", "bad_alloc", "OUT_OF_MEMORY", "cudaErrorMemoryAllocation", "Out of memory", "MemoryError"}) {
    if (printed.find(words) != std::string::npos) {
      return true;
    }
  }
  return false;
}

// Returns the failure of a run; nullopt if it ended well.
std::optional<Failure> bad_end(const ProcessResult& result, double limit_s) {
  if (result.ok()) {
    return std::nullopt;
  }
  // A SIGKILL that this program did not send is most likely the system's out-of-memory killer.
  const bool memory = ended_by_signal(result) == SIGKILL || says_out_of_memory(result.printed());
  return Failure{.outcome = result.timed_out ? Outcome::timed_out
                            : memory         ? Outcome::out_of_memory
                                             : Outcome::faulted,
                 .evidence = how_it_ended(result, limit_s)};
}

std::string dispatch_variable(const DeclaredApplication& application, const fs::path& dispatch) {
  return application.dispatch_variable + "=" + dispatch.string();
}

}  // namespace

ApplicationRunner::ApplicationRunner(DeclaredApplication application, fs::path folder,
                                     const std::array<std::string, 2>& dispatch)
    : application_(std::move(application)),
      folder_(std::move(folder)),
      copies_{TemporaryFolder(kCopyPrefix), TemporaryFolder(kCopyPrefix)},
      dispatch_{first_copy(copies_[0], dispatch[0]), first_copy(copies_[1], dispatch[1])} {}

Result<Done> ApplicationRunner::prepare(Side arm) const {
  if (application_.prepare.empty()) {
    return Done{};
  }
  const ProcessResult run =
      run_process(application_.prepare,
                  {.timeout_s = application_.time_limit_s,
                   .working_folder = folder_.string(),
                   .environment = {dispatch_variable(application_, dispatch_.at(static_cast<std::size_t>(arm)))},
                   .until_last = true});
  if (run.ok()) {
    return Done{};
  }
  return Failure{.outcome = Outcome::build_failed,
                 .evidence = "its preparation: " + how_it_ended(run, application_.time_limit_s)};
}

std::optional<Failure> ApplicationRunner::run_steps(ApplicationRun& run, std::vector<std::string> variables) const {
  variables.push_back(fmt::format("APO_SEED={}", run.seed));
  variables.push_back(fmt::format("APO_WARMUP_STEPS={}", application_.warmup_steps));
  variables.push_back(run.view == ComparisonView::fixed_steps
                          ? fmt::format("APO_STEPS={}", application_.warmup_steps + application_.steps)
                          : fmt::format("APO_SECONDS={}", application_.fixed_time_s));
  StepReader reader;
  const ProcessResult result =
      run_lines(application_.command,
                {.timeout_s = application_.time_limit_s, .working_folder = folder_.string(), .environment = variables},
                [&](std::string_view line, double seconds) { return reader.add(line, seconds); });
  run.wall_s = result.seconds;
  if (reader.failure()) {
    return reader.failure();
  }
  if (auto failure = bad_end(result, application_.time_limit_s)) {
    return failure;
  }
  if (result.left_behind > 0) {
    return Failure{.outcome = Outcome::left_processes,
                   .evidence = fmt::format("it ended, and {} of the processes that it started still ran a second later",
                                           result.left_behind)};
  }
  auto failure = summarise_steps(application_, reader.steps(), run);
  if (failure && reader.steps().empty()) {
    failure->evidence += and_printed(result);
  }
  return failure;
}

ApplicationRun ApplicationRunner::run(ComparisonView view, Side arm, std::int64_t seed, std::uint64_t layout_seed,
                                      const std::vector<std::string>& more) const {
  const TemporaryFolder folder(kCopyPrefix);
  const fs::path dispatch = copy_into(folder.path(), dispatch_.at(static_cast<std::size_t>(arm)));
  ApplicationRun run{.view = view, .side = arm, .seed = seed};
  std::vector<std::string> variables = {dispatch_variable(application_, dispatch), drawn_padding(layout_seed)};
  variables.insert(variables.end(), more.begin(), more.end());
  if (const auto failure = run_steps(run, std::move(variables))) {
    run.outcome = failure->outcome;
    run.evidence = failure->evidence;
    run.values.clear();
  }
  return run;
}

}  // namespace apo
