// harness/loop/proposers/ask_proposers.cpp - one thread a command; what a command did wrong becomes the call's note.
#include "harness/loop/proposers/ask_proposers.h"

#include <fmt/format.h>

#include <future>

#include "harness/core/error.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"

namespace apo {
namespace {

constexpr std::size_t kLongestAnswer = std::size_t{16} << 20;
constexpr std::size_t kLongestNote = 2000;

ProposerOutcome outcome_of(const ProcessResult& run) {
  return run.cut         ? ProposerOutcome::flooded
         : run.timed_out ? ProposerOutcome::timed_out
         : run.ok()      ? ProposerOutcome::answered
                         : ProposerOutcome::failed;
}

std::string end_of(const ProcessResult& run, const ProposerOptions& options) {
  switch (outcome_of(run)) {
    case ProposerOutcome::answered:
      return "";
    case ProposerOutcome::flooded:
      return fmt::format("it printed more than {} and was ended", format_bytes(kLongestAnswer));
    case ProposerOutcome::timed_out:
      return "it was ended after " + format_seconds(options.timeout_s);
    case ProposerOutcome::failed:
      break;
  }
  const std::vector<std::string> lines = split(trim(run.error), '\n');
  return (run.signal != 0 ? "it was ended by " + signal_name(run.signal)
                          : fmt::format("it ended with exit code {}", run.exit_code)) +
         (lines.back().empty() ? "" : ": " + one_line(lines.back()));
}

std::string text_note(const ProposerAnswer& answer) {
  return answer.text_lines == 1 ? fmt::format("line {} is text and was passed over", answer.first_text_line)
                                : fmt::format("{} lines of text were passed over, the first is line {}",
                                              answer.text_lines, answer.first_text_line);
}

// How it ended, and the lines that became no proposal.
std::string note_of(const std::string& end, const ProposerAnswer& answer) {
  std::vector<std::string> parts;
  if (!end.empty()) {
    parts.push_back(end);
  }
  if (answer.text_lines > 0) {
    parts.push_back(text_note(answer) +
                    (answer.candidates.empty() ? ": a candidate is a JSON object on one line" : ""));
  }
  if (answer.unlisted > 0) {
    parts.push_back(fmt::format("{} more lines were refused and are not listed", answer.unlisted));
  }
  if (answer.candidates.empty() && parts.empty()) {
    parts.emplace_back("it proposed nothing");
  }
  return one_line(join(parts, "; ")).substr(0, kLongestNote);
}

AnsweredCall ask(const std::string& command, const ProposerOptions& options, const std::string& brief) {
  AnsweredCall answered{.call = {.command = command}, .answer = {}};
  std::string end;
  try {
    const ProcessResult run = run_process(
        {"/bin/sh", "-c", command},
        {.timeout_s = options.timeout_s, .input = brief, .output_limit = kLongestAnswer, .end_at_limit = true});
    answered.answer = read_answer(run.output, static_cast<std::size_t>(options.most));
    answered.call.outcome = outcome_of(run);
    answered.call.seconds = run.seconds;
    end = end_of(run, options);
  } catch (const EnvironmentError& error) {
    answered.call.outcome = ProposerOutcome::failed;
    end = error.what();
  }
  answered.call.note = note_of(end, answered.answer);
  answered.call.cost = answered.answer.cost;
  return answered;
}

}  // namespace

std::vector<AnsweredCall> ask_proposers(const ProposerOptions& options, const std::string& brief, Observer& observer) {
  observer.say(
      fmt::format("  asking {}, for {} at most", join(options.commands, " and "), format_seconds(options.timeout_s)));
  std::vector<std::future<AnsweredCall>> running;
  for (const std::string& command : options.commands) {
    running.push_back(std::async(std::launch::async, ask, command, options, brief));
  }
  std::vector<AnsweredCall> answered;
  for (std::future<AnsweredCall>& one : running) {
    answered.push_back(one.get());
  }
  return answered;
}

}  // namespace apo
