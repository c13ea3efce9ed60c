// harness/core/system/kept_process.cpp - reads what the program prints until it ends or asks for the next request.
#include "harness/core/system/kept_process.h"

#include <algorithm>
#include <utility>

namespace apo {
namespace {

constexpr std::size_t kMostOutput = std::size_t{1} << 20;  // of each stream that is kept

bool asks_for_next(std::string_view output) {
  const std::string line = std::string(kNextRequest) + "\n";
  return output == line || output.ends_with("\n" + line);
}

}  // namespace

KeptProcess::KeptProcess(std::vector<std::string> argv, std::string working_folder)
    : argv_(std::move(argv)), working_folder_(std::move(working_folder)) {}

KeptProcess::~KeptProcess() = default;

ProcessResult KeptProcess::ask(const std::string& request, double timeout_s) {
  const std::lock_guard lock(mutex_);
  if (process_) {
    process_->send(request + "\n");
    ProcessResult result = process_->in() ? answer(timeout_s) : ProcessResult{};
    if (result.ok() || result.timed_out) {
      return result;
    }
    process_.reset();  // what an older request broke does not count against this one
  }
  std::vector<std::string> argv = argv_;
  argv.push_back(request);
  ++starts_;
  process_ = std::make_unique<Subprocess>(require_program(argv.front()), argv,
                                          SpawnOptions{.working_folder = working_folder_, .environment = {}});
  return answer(timeout_s);
}

ProcessResult KeptProcess::answer(double timeout_s) {
  const double deadline_s = process_->seconds() + timeout_s;
  bool late = false;
  while (!process_->is_silent() && !late) {
    const double left_s = deadline_s - process_->seconds();
    process_->move_within(std::clamp(left_s, 0.0, 1.0));
    keep_end(process_->output, kMostOutput);
    keep_end(process_->errors, kMostOutput);
    if (asks_for_next(process_->output)) {
      return {
          .exit_code = 0, .output = std::exchange(process_->output, {}), .error = std::exchange(process_->errors, {})};
    }
    late = left_s <= 0;
  }
  ProcessResult result = process_->finish(late);
  result.timed_out = late;
  process_.reset();
  return result;
}

}  // namespace apo
