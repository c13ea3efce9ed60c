// harness/mcp/serving/server.cpp - carries calls out: starts commands, keeps jobs, answers who waits.
#include "harness/mcp/serving/server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "harness/core/error.h"
#include "harness/mcp/protocol/schema_check.h"
#include "harness/mcp/tools/prompts.h"

namespace apo::mcp {
namespace {

constexpr std::size_t kMostCommands = 16;
constexpr std::size_t kMostWaits = 256;
constexpr double kDefaultWait = 20;
constexpr auto kBetweenLooks = std::chrono::seconds(1);
constexpr auto kBetweenProgress = std::chrono::milliseconds(250);

Offer offer_of(const std::string& version) {
  Offer offer{.version = version, .instructions = instructions()};
  for (const Tool& tool : tools()) {
    offer.tools.push_back(tool_document(tool));
  }
  offer.resources = resource_documents();
  offer.templates = template_documents();
  offer.prompts = prompt_documents();
  return offer;
}

}  // namespace

Server::Server(ServerOptions options)
    : options_(std::move(options)),
      root_(options_.root),
      session_(offer_of(options_.version), *this, [this](const std::string& line) { send(line); }),
      jobs_(options_.journal),
      parent_(getppid()) {}

Server::~Server() = default;

// ---------------------------------------------------------------- calls that come in

void Server::call_tool(CallId call, const std::string& name, const Json& arguments) {
  const Tool& tool = *find_tool(name);
  if (const std::string fault = schema_fault(arguments, tool.input_schema); !fault.empty()) {
    return refuse(call, name + ": " + fault);
  }
  if (tool.command == nullptr) {
    return begin_wait(call, arguments, name == kCancel);
  }
  try {
    Work& work = opened(call, tool.command(arguments, root_));
    work.tool = &tool;
    work.arguments = arguments;
    work.line.words.emplace_back("--json");
    if (tool.is_job) {
      begin_job(work);
    } else {
      start(work);
    }
  } catch (const UserError& error) {
    refuse(call, name + ": " + with_hint(error, "\n"));
  }
}

void Server::read_resource(CallId call, const std::string& uri) {
  const auto resource = resource_command(uri);
  if (!resource) {
    return session_.resource_not_found(call, "resources/list and resources/templates/list have the addresses");
  }
  try {
    Work& work = opened(call, resource->line);
    work.resource = *resource;
    start(work);
  } catch (const UserError& error) {
    session_.fail(call, ProtocolError(kInternalError, with_hint(error, "\n")));
  }
}

std::string Server::prompt(const std::string& name, const Json& arguments) {
  return prompt_text(name, arguments);
}

void Server::refuse(CallId call, const std::string& text) {
  session_.answer(call, ToolAnswer{.text = text, .structured = nullptr, .is_error = true});
}

Server::Work& Server::opened(CallId call, CommandLine line) {
  if (works_.size() >= kMostCommands) {
    throw UserError(fmt::format("{} calls are running already", works_.size()), "wait for one, or cancel one");
  }
  Work& work = works_.emplace_back();
  work.line = std::move(line);
  work.caller = call;
  work.since = Clock::now();
  return work;
}

// The row first: a job whose handle was given out is in the journal.
void Server::begin_job(Work& work) {
  const JobRow row{.tool = work.tool->name, .arguments = kept_arguments(work.arguments)};
  jobs_.begin(row, [this, &work](std::int64_t id, const std::string& trouble) {
    if (!trouble.empty()) {
      return not_started(work, trouble);
    }
    work.job = id;
    if (work.cancelled) {
      finish(work, {.state = JobState::cancelled, .message = "cancelled before it began"});
    } else {
      start(work);
    }
  });
}

void Server::start(Work& work) {
  work.line.words.push_back("--journal=" + options_.journal.string());
  for (const std::string& family : options_.families) {
    work.line.words.push_back("--families=" + family);
  }
  std::vector<std::string> environment = {"APO_PROGRESS=lines"};
  environment.push_back(fmt::format("APO_JOB={}", work.job));
  try {
    work.command.emplace(work.line, environment);
  } catch (const EnvironmentError& error) {
    not_started(work, error.what());
  }
}

void Server::not_started(Work& work, const std::string& why) {
  if (work.job != 0) {
    return finish(work, {.state = JobState::failed, .message = why});
  }
  if (work.caller && work.tool == nullptr) {
    session_.fail(*work.caller, ProtocolError(kInternalError, why));
  } else if (work.caller) {
    refuse(*work.caller, why);
  }
  work.ended = true;
}

// The client wants no answer to the call any more: what it started ends, but a job that others began goes on.
void Server::cancel(CallId call) {
  waits_.erase(call);
  const auto work = std::ranges::find(works_, std::optional(call), &Work::caller);
  if (work != works_.end()) {
    work->caller.reset();
    stop(*work);
  }
}

void Server::stop(Work& work) {
  work.cancelled = true;
  if (work.command) {
    end(work, true);
  }
}

// ---------------------------------------------------------------- wait and cancel

void Server::begin_wait(CallId call, const Json& arguments, bool cancels) {
  const std::string name = arguments["job"].get<std::string>();
  const auto job = job_number(name);
  if (!job) {
    return refuse(call, "'" + name + "' is not the handle of a job: one looks like j12");
  }
  if (waits_.size() >= kMostWaits) {
    return refuse(call, fmt::format("{} calls wait already", waits_.size()));
  }
  const double seconds = cancels ? kLongestWait : arguments.value("seconds", kDefaultWait);
  const auto until = Clock::now() + std::chrono::milliseconds(static_cast<int>(1000 * seconds));
  waits_[call] = {.job = *job, .until = until, .next_look = std::nullopt, .cancels = cancels};
  Work* const work = work_of_job(*job);
  if (work == nullptr) {
    look_up(call, *job);
  } else if (cancels) {
    stop(*work);
  }
}

// Of this server's, while it runs.
const Server::Work* Server::work_of_job(std::int64_t job) const {
  const auto found = std::ranges::find(works_, job, &Work::job);
  return found == works_.end() || found->ended ? nullptr : &*found;
}

Server::Work* Server::work_of_job(std::int64_t job) {
  return const_cast<Work*>(std::as_const(*this).work_of_job(job));
}

void Server::look_up(CallId call, std::int64_t job) {
  jobs_.load(job, [this, call](const JobBook::Found& found, const std::string& trouble) {
    if (waits_.contains(call)) {
      this->found(call, found, trouble);
    }
  });
}

void Server::found(CallId call, const JobBook::Found& found, const std::string& trouble) {
  Wait& wait = waits_.at(call);
  const std::string name = job_name(wait.job);
  ToolAnswer answer;
  if (!trouble.empty()) {
    answer = {.text = trouble, .structured = nullptr, .is_error = true};
  } else if (!found.job) {
    answer = {.text = "there is no job " + name + " in '" + options_.journal.string() + "'", .is_error = true};
  } else if (found.job->end) {
    answer = ended_answer(name, found.job->tool, *found.job->end);
  } else if (!found.has_server) {
    answer = interrupted_answer(*found.job);
  } else if (wait.cancels) {
    answer = {.text = "job " + name + " belongs to another running server; only that one can stop it",
              .is_error = true};
  } else if (Clock::now() < wait.until) {
    wait.next_look = std::min<Clock::time_point>(Clock::now() + kBetweenLooks, wait.until);
    return;
  } else {
    answer = running_answer(name, found.job->tool, 0, "another server runs it");
    answer.structured.erase("seconds");  // it began at a time that only that server knows
    answer.text = line_of(answer.structured);
  }
  answer.is_error = answer.is_error && !(wait.cancels && !answer.structured.is_null());
  waits_.erase(call);
  session_.answer(call, answer);
}

// ---------------------------------------------------------------- how commands end

void Server::end(Work& work, bool now) {
  const ProcessResult ended = work.command->end(now);
  work.command.reset();
  if (work.tool == nullptr) {
    answer_resource(work, ended);
    work.ended = true;
    return;
  }
  if (now) {
    return finish(work, {.state = JobState::cancelled, .message = "cancelled"});
  }
  finish(work, end_of(*work.tool, work.arguments, ended));
}

// A job is answered when its row is there, so that what a client was told survives.
void Server::finish(Work& work, const JobEnd& end) {
  if (work.job == 0) {
    return tell(work, plain_answer(end));
  }
  jobs_.finish(work.job, end, [this, &work, end](const std::string& trouble) {
    JobEnd told = end;
    if (!trouble.empty()) {
      told.message += (told.message.empty() ? "" : "\n") + ("the journal did not take the end of the job: " + trouble);
    }
    tell(work, ended_answer(job_name(work.job), work.tool->name, told));
  });
}

void Server::tell(Work& work, const ToolAnswer& answer) {
  work.ended = true;
  if (work.caller) {
    session_.answer(*work.caller, answer);
  }
  if (work.job == 0) {
    return;
  }
  for (auto wait = waits_.begin(); wait != waits_.end();) {
    if (wait->second.job == work.job) {
      ToolAnswer own = answer;
      own.is_error = own.is_error && !wait->second.cancels;  // to be cancelled is what it asked for
      session_.answer(wait->first, own);
      wait = waits_.erase(wait);
    } else {
      ++wait;
    }
  }
}

void Server::answer_resource(Work& work, const ProcessResult& end) {
  if (!work.caller) {
    return;
  }
  if (end.exit_code == 1) {  // a mistake in the address
    return session_.resource_not_found(*work.caller, end.error);
  }
  std::string text = end.output;
  if (!work.resource.field.empty()) {
    const Json document = Json::parse(end.output, nullptr, false);
    text = document.is_object() ? document.value(work.resource.field, "") : "";
  }
  if (end.exit_code != 0 || end.cut) {
    return session_.fail(*work.caller,
                         ProtocolError(kInternalError, end.error.empty() ? "the command failed" : end.error));
  }
  session_.answer(*work.caller, ResourceAnswer{.mime_type = work.resource.mime_type, .text = std::move(text)});
}

// A few times a second at most.
void Server::tell_progress(Work& work) {
  const auto now = Clock::now();
  if (now - work.told < kBetweenProgress) {
    return;
  }
  work.told = now;
  if (work.caller) {
    session_.progress(*work.caller, work.progress);
  }
  for (const auto& [call, wait] : waits_) {
    if (work.job != 0 && wait.job == work.job) {
      session_.progress(call, work.progress);
    }
  }
}

ToolAnswer Server::running(const Work& work) const {
  const std::chrono::duration<double> seconds = Clock::now() - work.since;
  return running_answer(job_name(work.job), work.tool->name, seconds.count(), work.progress);
}

}  // namespace apo::mcp
