// harness/mcp/serving/job_record.h - a job as its tool, 'wait' and 'cancel' answer with it, whoever ran it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/mcp/protocol/session.h"
#include "harness/mcp/serving/running_command.h"
#include "harness/mcp/tools/tools.h"
#include "journal/journal.h"

namespace apo::mcp {

// "j12", and back.
std::string job_name(std::int64_t id);
std::optional<std::int64_t> job_number(const std::string& name);

// The arguments as the journal keeps them: a source text as its length and its sha256.
std::string kept_arguments(const Json& arguments);

// Turns the end of a command into the end of its tool's job.
JobEnd end_of(const Tool& tool, const Json& arguments, const ProcessResult& end);

ToolAnswer running_answer(const std::string& job, const std::string& tool, double seconds, const std::string& progress);
ToolAnswer ended_answer(const std::string& job, const std::string& tool, const JobEnd& end);
// Returns the answer for a job whose server ended before the job did.
ToolAnswer interrupted_answer(const JobRow& job);
// Returns the answer of a tool that runs without a job.
ToolAnswer plain_answer(const JobEnd& end);

}  // namespace apo::mcp
