// harness/core/system/process.cpp - captures the output of a program until its end or its deadline.
#include "harness/core/system/process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace apo {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20U;
constexpr std::size_t kKeptEnd = 4096;  // of each output, where lines are handed on

// Reads output beyond the limit too, so that the child is not blocked. True where there was more.
bool cut_off(std::string& text, std::size_t limit) {
  const bool more = limit > 0 && text.size() > limit;
  text.resize(more ? limit : text.size());
  return more;
}

// Hands on the whole lines that came in, and keeps their end; false where one of them ends the child.
bool hand_on(Subprocess& child, const OnLine& on_line, std::string& printed) {
  keep_end(child.errors, kKeptEnd);
  for (const std::string& line : take_lines(child.output)) {
    printed += line + "\n";
    keep_end(printed, kKeptEnd);
    if (!on_line(std::string_view(line).substr(0, kLongestLine), child.seconds())) {
      return false;
    }
  }
  child.output.resize(std::min(child.output.size(), kLongestLine));
  return true;
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
  bool now = false;  // it has to be ended
  bool cut = false;
  bool stopped = false;
  bool outlived = false;
  double ended_s = std::numeric_limits<double>::infinity();  // it itself had, then
  std::string printed;                                       // the end of the lines that were handed on
  for (bool over = false; !over && !now;) {
    const double left_s = options.timeout_s - child.seconds();
    const double patience_s = ended_s + options.patience_s - child.seconds();
    // Where others belong with it, they may have ended and yet what they printed still lie in the pipes.
    over = options.until_last ? child.all_ended_within({}) : child.is_silent() && child.has_ended();
    child.move_within(over ? 0 : std::clamp(std::min(left_s, patience_s), 0.0, look_after_s),
                      options.until_last || child.is_silent(), options.on_line && !over ? 1 : 64);
    if (options.on_line) {
      stopped = !hand_on(child, options.on_line, printed);
    } else {
      cut |= cut_off(child.output, options.output_limit);
      cut |= cut_off(child.errors, options.output_limit);
    }
    if (options.until_last && std::isinf(ended_s) && child.has_ended()) {
      ended_s = child.seconds();
    }
    outlived = patience_s <= 0;
    now = stopped ||
          (!over && (left_s <= 0 || outlived || options.stop.stop_requested() || (cut && options.end_at_limit)));
  }
  if (options.on_line && !now && !child.output.empty()) {
    options.on_line(child.output, child.seconds());  // a last line without its end
  }
  ProcessResult result = child.finish(now);
  if (now && options.stop.stop_requested()) {
    throw Cancelled();
  }
  result.output.insert(0, printed);
  result.cut = cut;
  result.stopped = stopped;
  result.timed_out = now && !stopped && !outlived && !(cut && options.end_at_limit);
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
