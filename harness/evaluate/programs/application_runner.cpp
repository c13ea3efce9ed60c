// harness/evaluate/programs/application_runner.cpp - prepares copies and environment, and classifies how a run
// ended.
#include "harness/evaluate/programs/application_runner.h"

#include <fmt/format.h>

#include <system_error>

#include "harness/core/error.h"
#include "harness/core/system/process.h"
#include "harness/evaluate/programs/command_runner.h"
#include "harness/evaluate/programs/step_lines.h"

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

}  // namespace

ApplicationRunner::ApplicationRunner(const ProgramComparison& asked)
    : application_(asked.application),
      folder_(asked.folder),
      copies_{TemporaryFolder(kCopyPrefix), TemporaryFolder(kCopyPrefix)},
      dispatch_{first_copy(copies_[0], asked.a), first_copy(copies_[1], asked.b)} {}

std::string ApplicationRunner::variable(const fs::path& dispatch) const {
  return application_.dispatch_variable + "=" + dispatch.string();
}

std::optional<Failure> ApplicationRunner::prepare(Side side) const {
  if (application_.prepare.empty()) {
    return std::nullopt;
  }
  auto failure = bad_end(
      run_process(application_.prepare, {.timeout_s = application_.time_limit_s,
                                         .working_folder = folder_,
                                         .environment = {variable(dispatch_.at(static_cast<std::size_t>(side)))},
                                         .until_last = true}),
      application_.time_limit_s);
  if (failure) {
    failure->outcome = Outcome::build_failed;
    failure->evidence = "its preparation: " + failure->evidence;
  }
  return failure;
}

std::optional<Failure> ApplicationRunner::run_steps(ApplicationRun& run,
                                                    const std::vector<std::string>& environment) const {
  constexpr double kPatienceS = 1;  // for helpers that end with their program
  StepReader reader;
  const ProcessResult result =
      run_process(application_.command,
                  {.timeout_s = application_.time_limit_s,
                   .working_folder = folder_,
                   .environment = environment,
                   .until_last = true,
                   .patience_s = kPatienceS,
                   .on_line = [&](std::string_view line, double seconds) { return reader.add(line, seconds); }});
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

ApplicationRun ApplicationRunner::run(Side side, std::int64_t seed, std::uint64_t layout_seed) const {
  const TemporaryFolder folder(kCopyPrefix);
  const std::vector<std::string> environment = {
      variable(copy_into(folder.path(), dispatch_.at(static_cast<std::size_t>(side)))), drawn_padding(layout_seed),
      fmt::format("APO_SEED={}", seed), fmt::format("APO_WARMUP_STEPS={}", application_.warmup_steps),
      fmt::format("APO_STEPS={}", application_.warmup_steps + application_.steps)};
  ApplicationRun run{.side = side, .seed = seed};
  if (const auto failure = run_steps(run, environment)) {
    run.outcome = failure->outcome;
    run.evidence = failure->evidence;
    run.values.clear();
  }
  return run;
}

}  // namespace apo
