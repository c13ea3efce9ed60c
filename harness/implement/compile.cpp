// harness/implement/compile.cpp - runs the compiler under limits and interprets its output.
#include "harness/implement/compile.h"

#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/sources.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/implement/read_files.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

// The memory limit of one compiler process: a template bomb must not take the machine down.
constexpr const char* kCompilerMemoryKib = "8388608";
// The largest file that it may write, in ulimit's blocks of 512 bytes (1024 where sh is not quite POSIX): an array of a
// tebibyte with one value in it must not fill the disk.
constexpr const char* kCompilerFileBlocks = "524288";

bool names_an_error(const std::string& line) {
  const bool error = line.find("error:") != std::string::npos || line.find("undefined reference") != std::string::npos;
  return error && !line.starts_with("collect2:");
}

std::string evidence_of(const ProcessResult& result, const std::string& log, double timeout_s) {
  if (const std::string sudden = sudden_end(result, timeout_s); !sudden.empty()) {
    return "the compiler " + sudden;
  }
  const std::string error = first_error(log);
  return error.empty() ? fmt::format("the compiler exited with code {}", result.exit_code) : error;
}

// Failures that are this machine's, not the source's.
void check_environment(const std::string& log, const std::string& compiler) {
  if (log.find("No space left on device") != std::string::npos) {
    throw EnvironmentError("no space left on the device while building", "free some space, or move the build cache");
  }
  for (const char* part : {"cannot execute 'cc1plus'", "cannot execute 'as'", "cannot find 'ld'", "cannot find -lgomp",
                           "cannot find -lasan", "cannot find -lubsan"}) {
    if (log.find(part) != std::string::npos) {
      throw EnvironmentError("the compiler '" + compiler + "' is incomplete: " + part, "sudo apt-get install g++");
    }
  }
}

std::string cut(std::string log) {
  if (log.size() > kLongestLog) {
    log.resize(kLongestLog);
    log += "\n... (cut)\n";
  }
  return log;
}

}  // namespace

Words joined(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

std::string first_error(const std::string& log) {
  for (const std::string& line : split(log, '\n')) {
    if (names_an_error(line)) {
      return trim(line).substr(0, 500);
    }
  }
  return trim(split(log, '\n').front()).substr(0, 500);
}

CompileStep run_step(const Words& command, const fs::path& folder, double timeout_s, const std::stop_token& stop) {
  // ulimit is the shell's; exec leaves the compiler as the process that the deadline kills.
  const Words argv = joined({"/bin/sh", "-c", "ulimit -v \"$0\"; ulimit -f \"$1\" 2>/dev/null; shift; exec \"$@\"",
                             kCompilerMemoryKib, kCompilerFileBlocks},
                            command);
  const ProcessResult result =
      run_process(argv, {.timeout_s = timeout_s,
                         .working_folder = folder.string(),
                         .environment = {"LC_ALL=C", "TMPDIR=" + folder.string(), "SOURCE_DATE_EPOCH=0"},
                         .stop = stop});
  CompileStep step{.ok = result.ok(),
                   .log = without_foreign_text(cut(result.output + result.error), folder),
                   .evidence = "",
                   .timed_out = result.timed_out};
  if (!step.ok) {
    check_environment(step.log, command.front());
    step.evidence = evidence_of(result, step.log, timeout_s);
  }
  return step;
}

std::string in_users_words(std::string evidence, const Variant& variant) {
  for (const SourceFile& file : all_sources(variant)) {
    const std::size_t length = file.name.size();
    const bool named = evidence.starts_with(file.name) && evidence.find_first_of(":(", length) == length;
    if (named && !file.path.empty()) {
      return evidence.replace(0, length, file.path);
    }
  }
  return evidence;
}

}  // namespace apo
