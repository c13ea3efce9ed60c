// harness/core/system/line_process.cpp - moves both outputs until the program itself has ended.
#include "harness/core/system/line_process.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/system/process.h"

namespace apo {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20U;
constexpr std::size_t kKeptEnd = 4096;
constexpr int kReadsAfterTheEnd = 32;  // more than a pipe holds: what was left behind writes on
constexpr auto kAfterTheEnd = std::chrono::milliseconds(1000);  // for helpers that end with their program

class LineRun {
 public:
  LineRun(const std::vector<std::string>& argv, const LineProcessOptions& options, const OnLine& on_line)
      : on_line_(on_line),
        timeout_s_(options.timeout_s),
        child_(require_program(argv.front()), argv,
               {.working_folder = options.working_folder, .environment = options.environment, .supervised = true}) {
    child_.close_input();
  }

  ProcessResult run() {
    const bool now = !watch();
    const double seconds = child_.seconds();
    const bool all = now || child_.all_ended_within(kAfterTheEnd);
    ProcessResult result = ended_with(child_.end(now || !all));
    if (!now) {  // what lies in the pipes when nobody is left to write to them
      child_.move();
      if (take(seconds) && !child_.output.empty()) {
        static_cast<void>(on_line_(child_.output, seconds));
      }
    }
    result.timed_out = timed_out_;
    result.stopped = now && !timed_out_;
    result.seconds = seconds;
    result.left_behind = child_.left_behind();
    keep_end(child_.errors, kKeptEnd);
    result.error = std::move(child_.errors);
    result.output = std::move(printed_) + child_.output;
    return result;
  }

 private:
  // Until the program itself has ended; false when it has to be.
  bool watch() {
    for (int reads_after_end = 0;;) {
      const double left_s = timeout_s_ - child_.seconds();
      if (left_s <= 0) {
        timed_out_ = true;
        return false;
      }
      const bool ended = child_.has_ended();
      const std::size_t before = child_.output.size();
      child_.move_within(ended ? 0 : std::min(left_s, 1.0), true, 1);
      const bool silent = child_.output.size() == before;
      if (!take(child_.seconds())) {
        return false;
      }
      if (ended && (silent || ++reads_after_end > kReadsAfterTheEnd)) {
        return true;
      }
    }
  }

  // Hands the lines on that came in; false when one of them ends the program.
  bool take(double seconds) {
    for (const std::string& line : take_lines(child_.output)) {
      printed_ += line + "\n";
      keep_end(printed_, kKeptEnd);
      if (!on_line_(std::string_view(line).substr(0, kLongestLine), seconds)) {
        return false;
      }
    }
    child_.output.resize(std::min(child_.output.size(), kLongestLine));
    keep_end(child_.errors, kKeptEnd);
    return true;
  }

  const OnLine& on_line_;
  const double timeout_s_;
  Subprocess child_;
  std::string printed_;  // the end of the whole lines
  bool timed_out_ = false;
};

}  // namespace

ProcessResult run_lines(const std::vector<std::string>& argv, const LineProcessOptions& options,
                        const OnLine& on_line) {
  APO_CHECK(!argv.empty());
  return LineRun(argv, options, on_line).run();
}

}  // namespace apo
