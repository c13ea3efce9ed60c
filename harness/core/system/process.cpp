// harness/core/system/process.cpp - captures the output of a program until its end or its deadline.
#include "harness/core/system/process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace apo {
namespace {

// Reads output beyond the limit too, so that the child is not blocked. True where there was more.
bool cut_off(std::string& text, std::size_t limit) {
  const bool more = limit > 0 && text.size() > limit;
  text.resize(more ? limit : text.size());
  return more;
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
  const auto runnable = [](const std::string& path) {
    std::error_code error;
    return access(path.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(path, error);
  };
  if (name.find('/') != std::string::npos) {
    return runnable(name) ? std::optional(name) : std::nullopt;
  }
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    if (!folder.empty() && runnable(folder + "/" + name)) {
      return folder + "/" + name;
    }
  }
  return std::nullopt;
}

std::string require_program(const std::string& name) {
  const auto program = find_program(name);
  if (!program) {
    throw EnvironmentError("cannot find the program '" + name + "' in PATH");
  }
  return *program;
}

ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options) {
  APO_CHECK(!argv.empty());
  Subprocess child(require_program(argv.front()), argv,
                   {.working_folder = options.working_folder,
                    .environment = options.environment,
                    .supervised = options.until_last,
                    .input = options.input});
  const double look_after_s = options.stop.stop_possible() ? 0.02 : 1;
  bool now = false;
  bool cut = false;
  for (bool over = false; !over && !now;) {
    const double left_s = options.timeout_s - child.seconds();
    // Where others belong with it, they may have ended and yet what they printed still lie in the pipes.
    over = options.until_last ? child.all_ended_within({}) : child.is_silent() && child.has_ended();
    child.move_within(over ? 0 : std::clamp(left_s, 0.0, look_after_s), options.until_last || child.is_silent());
    cut |= cut_off(child.output, options.output_limit);
    cut |= cut_off(child.errors, options.output_limit);
    now = !over && (left_s <= 0 || options.stop.stop_requested() || (cut && options.end_at_limit));
  }
  ProcessResult result = child.finish(now);
  if (now && options.stop.stop_requested()) {
    throw Cancelled();
  }
  result.cut = cut;
  result.timed_out = now && !(cut && options.end_at_limit);
  return result;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  const char* meaning = sigdescr_np(signal);
  if (name == nullptr || meaning == nullptr) {
    return fmt::format("signal {}", signal);
  }
  return std::string("SIG") + name + " (" + meaning + ")";
}

std::string sudden_end(const ProcessResult& result, double timeout_s) {
  return result.timed_out     ? "did not finish in " + format_seconds(timeout_s)
         : result.signal != 0 ? "was ended by " + signal_name(result.signal)
                              : "";
}

}  // namespace apo
