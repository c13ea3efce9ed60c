// harness/applications/run_application.cpp - the command, its environment, and the files of its processes.
#include "harness/applications/run_application.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "harness/core/applications/process_times_file.h"
#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/foreground.h"
#include "harness/core/text.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRecordings = 512;  // with 115 days each, sums stay below 2^63
constexpr std::uintmax_t kLargestFile = std::uintmax_t{64} << 20;
constexpr std::uintmax_t kLargestCall = std::uintmax_t{2 * kMostRecordedMemory + (std::int64_t{1} << 30)};
constexpr const char* kRangeTool = "NVTX_INJECTION64_PATH";

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

std::string process_name(const ProcessTimes& process) {
  return fmt::format("process {} ({:.60})", process.pid, process.program);
}

void note_losses(const ProcessTimes& process, std::vector<std::string>& notes) {
  if (!process.missing.empty()) {
    notes.push_back(process_name(process) + " could not be recorded: " + process.missing);
  } else if (!process.complete) {
    notes.push_back(process_name(process) +
                    " ended without its exit handlers (by _exit or a signal): up to its last 50 ms are missing");
  }
  if (process.dropped > 0) {
    notes.push_back(fmt::format("{}: CUPTI dropped {} records", process_name(process), process.dropped));
  }
  if (process.untimed > 0) {
    notes.push_back(fmt::format("{}: {} pieces of work have no time; they had not ended when it did",
                                process_name(process), process.untimed));
  }
}

// A process that was killed while it wrote leaves a ".partial" beside its last whole file.
std::vector<fs::path> recordings_in(const fs::path& folder, const char* extension) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == extension) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The folder's owner is the program: it may have put anything there.
std::optional<ProgramCall> call_in(const fs::path& file, std::string& refusal) {
  try {
    auto call = decode_program_call(read_foreign_file(file, kLargestCall));
    if (call && call->refusal.empty()) {
      return call;
    }
    refusal = call ? one_line(call->refusal) : "what a process wrote down is no record";
  } catch (const UserError& error) {
    refusal = error.what();
  }
  return std::nullopt;
}

}  // namespace

void collect_recordings(const fs::path& folder, ApplicationProfile& profile) {
  const std::vector<fs::path> files = recordings_in(folder, ".times");
  for (std::size_t i = 0; i < std::min(files.size(), kMostRecordings); ++i) {
    try {
      profile.processes.push_back(decode_times(read_foreign_file(files[i], kLargestFile)));
      note_losses(profile.processes.back(), profile.notes);
    } catch (const UserError& error) {
      profile.notes.push_back("'" + files[i].filename().string() + "' is left out: " + error.what());
    }
  }
  if (files.size() > kMostRecordings) {
    profile.notes.push_back(fmt::format("only the first {} of {} processes were read", kMostRecordings, files.size()));
  }
}

std::vector<std::string> recorder_environment(const fs::path& folder) {
  if (is_set("CUDA_INJECTION64_PATH")) {
    throw UserError("CUDA_INJECTION64_PATH is set to '" + std::string(std::getenv("CUDA_INJECTION64_PATH")) +
                        "': another profiler is at work",
                    "run without it: 'env -u CUDA_INJECTION64_PATH apo ...'");
  }
  const std::string library = injection_library().string();
  std::vector<std::string> environment = {"CUDA_INJECTION64_PATH=" + library,
                                          "APO_TIMES=" + fs::absolute(folder).string()};
  if (!is_set(kRangeTool)) {
    environment.push_back(std::string(kRangeTool) + "=" + library);
  }
  return environment;
}

ProgramCall record_call(const std::vector<std::string>& command, const std::string& wanted, bool output_to_stderr) {
  constexpr const char* kLook = "'apo record -- COMMAND' lists the kernels that it launches";
  const TemporaryFolder folder("apo-record");
  std::vector<std::string> environment = recorder_environment(folder.path());
  environment.push_back("APO_RECORD=" + wanted);
  run_foreground(command, {.environment = environment, .output_to_stderr = output_to_stderr});
  std::string refusal = "no process started CUDA, so nothing was launched";
  for (const fs::path& file : recordings_in(folder.path(), ".call")) {
    if (auto call = call_in(file, refusal)) {
      return *std::move(call);
    }
  }
  throw UserError(std::string(kNotRecorded) + refusal, kLook);
}

ApplicationProfile run_application(const std::vector<std::string>& command, bool output_to_stderr) {
  const TemporaryFolder folder("apo-recordings");
  const std::vector<std::string> environment = recorder_environment(folder.path());
  const ProcessResult ran = run_foreground(command, {.environment = environment, .output_to_stderr = output_to_stderr});
  ApplicationProfile profile{.command = join(command, " "), .signal = ran.signal, .seconds = ran.seconds};
  if (ran.signal == 0) {
    profile.exit_code = ran.exit_code;
  }
  collect_recordings(folder.path(), profile);
  if (is_set(kRangeTool)) {
    profile.notes.push_back(fmt::format("without NVTX ranges: {} is set to '{}'", kRangeTool, std::getenv(kRangeTool)));
  }
  if (profile.processes.empty()) {
    profile.notes.emplace_back("no process started CUDA, so nothing was launched");
  }
  if (ran.left_behind > 0) {
    profile.notes.push_back(fmt::format("{} processes outlived the command and were ended", ran.left_behind));
  }
  return profile;
}

}  // namespace apo
