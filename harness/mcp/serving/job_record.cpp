// harness/mcp/serving/job_record.cpp - one form of a job for all who ask.
#include "harness/mcp/serving/job_record.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/hash.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"

namespace apo::mcp {
namespace {

std::string how_it_ended(const ProcessResult& end) {
  if (end.signal != 0) {
    return "the command was ended by " + signal_name(end.signal);
  }
  return fmt::format("the command ended with exit code {} and {}", end.exit_code,
                     end.cut ? "more than 32 MiB of output" : "without a document");
}

Json record_of(const std::string& job, const std::string& tool, const std::string& state) {
  return {{"job", job}, {"tool", tool}, {"state", state}};
}

// The text for the model: the document where there is one, else the error. A cancelled job did what it was asked to.
ToolAnswer answer_with(Json record, const JobEnd& end) {
  const bool failed = end.state == JobState::failed;
  std::string text = failed && end.document.empty() ? end.message : line_of(record);
  return {.text = std::move(text), .structured = std::move(record), .is_error = failed};
}

}  // namespace

std::string job_name(std::int64_t id) {
  return fmt::format("j{}", id);
}

std::optional<std::int64_t> job_number(const std::string& name) {
  if (name.size() < 2 || name.front() != 'j' || name.find_first_not_of("0123456789", 1) != std::string::npos) {
    return std::nullopt;
  }
  return parse_int(std::string_view(name).substr(1));
}

std::string kept_arguments(const Json& arguments) {
  Json kept = arguments;
  if (kept.contains("source") && kept["source"].is_string()) {
    const auto& source = kept["source"].get_ref<const std::string&>();
    kept["source"] = {{"bytes", source.size()}, {"sha256", sha256(source)}};
  }
  return line_of(kept);
}

JobEnd end_of(const Tool& tool, const Json& arguments, const ProcessResult& end) {
  JobEnd result{.state = JobState::failed, .exit_code = std::nullopt, .document = "", .message = end.error};
  if (end.signal == 0) {
    result.exit_code = end.exit_code;
  }
  const Json document = Json::parse(end.cut ? "" : end.output, nullptr, false);
  if (!document.is_object() || document.contains("error")) {  // the message has the same words
    result.message =
        result.message.empty() || end.signal != 0 ? trim(result.message + "\n" + how_it_ended(end)) : result.message;
    return result;
  }
  result.document = line_of(tool.shape == nullptr ? document : tool.shape(document, arguments));
  if (end.signal == 0 && std::ranges::find(tool.answers, end.exit_code) != tool.answers.end()) {
    result.state = JobState::done;
  }
  return result;
}

ToolAnswer running_answer(const std::string& job, const std::string& tool, double seconds,
                          const std::string& progress) {
  Json record = record_of(job, tool, "running");
  record["seconds"] = seconds;
  if (!progress.empty()) {
    record["progress"] = progress;
  }
  record["message"] = "call 'wait' with job '" + job + "'";
  std::string text = line_of(record);
  return {.text = std::move(text), .structured = std::move(record)};
}

ToolAnswer ended_answer(const std::string& job, const std::string& tool, const JobEnd& end) {
  Json record = record_of(job, tool, std::string(to_string(end.state)));
  if (end.exit_code) {
    record["exit_code"] = *end.exit_code;
  }
  if (!end.message.empty()) {
    record["message"] = end.message;
  }
  if (!end.document.empty()) {
    record["result"] = Json::parse(end.document, nullptr, false);
  }
  return answer_with(std::move(record), end);
}

ToolAnswer interrupted_answer(const JobRow& job) {
  Json record = record_of(job_name(job.id), job.tool, "interrupted");
  Json experiments = Json::array();
  for (const JobExperiment& experiment : job.experiments) {
    experiments.push_back({{"id", experiment.id},
                           {"candidate", experiment.candidate},
                           {"state", experiment.state},
                           {"verdict", experiment.verdict}});
  }
  record["message"] = fmt::format(
      "the server that ran it ended before it did; {}call '{}' again",
      experiments.empty() ? "it had begun no experiment: " : "'show' has the experiments that finished; ", job.tool);
  record["experiments"] = std::move(experiments);
  std::string text = line_of(record);
  return {.text = std::move(text), .structured = std::move(record), .is_error = true};
}

ToolAnswer plain_answer(const JobEnd& end) {
  const bool failed = end.state != JobState::done;
  if (end.document.empty()) {
    return {.text = end.message, .structured = nullptr, .is_error = failed};
  }
  return {.text = end.document, .structured = Json::parse(end.document, nullptr, false), .is_error = failed};
}

}  // namespace apo::mcp
