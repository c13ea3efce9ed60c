// harness/cli/agents/mcp.cpp - `apo mcp`: becomes the server in harness/mcp/server.py, and keeps rows of jobs for it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/json/codec.h"
#include "harness/core/system/files.h"
#include "harness/core/system/posix_spawn.h"
#include "harness/exchange/exchange.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/facts/jobs.h"
#include "journal/journal.h"

namespace apo {
namespace {

struct Options {
  std::string answer_within = "20s";
  bool keep_job = false;
  std::optional<std::int64_t> job;
};

int become_server(double answer_within_s, const std::filesystem::path& journal, const Globals& globals) {
  const int program = open("/proc/self/exe", O_RDONLY);  // stays this program when a build replaces its file
  std::vector<std::string> words = {require_python(),
                                    "-BES",
                                    home_folder() / "harness" / "mcp" / "server.py",
                                    fmt::format("/proc/{}/fd/{}", getpid(), program),
                                    APO_VERSION,
                                    journal,
                                    fmt::format("{}", answer_within_s)};
  words.insert(words.end(), globals.families.begin(), globals.families.end());
  execv(words.front().c_str(), c_strings(words).data());
  throw EnvironmentError("cannot start '" + words.front() + "': " + std::strerror(errno));
}

// Begins the job that the first line of the input describes, and ends it as the second one says. Whoever looks sees by
// this process that the job has a server; the end of the input is the end of that.
int keep_job(const std::filesystem::path& path) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // also while it waits for a journal that another process has locked
  Journal journal = Journal::open(path, Access::read_write);
  std::string line;
  std::getline(std::cin, line);
  const auto begun = nlohmann::ordered_json::parse(line);
  const std::int64_t id = begin_job(journal, {.tool = begun.at("tool"), .arguments = begun.at("arguments")});
  std::printf("%ld\n", static_cast<long>(id));
  std::fflush(stdout);
  if (std::getline(std::cin, line)) {
    finish_job(journal, id, from_json_text<JobEnd>(line));
    std::puts("ended");
  }
  return kDone;
}

int print_job(const std::filesystem::path& path, std::int64_t id) {
  Journal journal = Journal::open(path, Access::read_only);
  const bool has_server = job_has_server(journal, id);  // first: a job that ends in between has its end then
  print_json({{"has_server", has_server}, {"job", json_of(find_job(journal, id))}});
  return kDone;
}

}  // namespace

Action define_mcp(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<Options>();
  app.add_option("--answer-within", options->answer_within,
                 "answer a call that takes longer with the handle of a job; less than your client's timeout")
      ->capture_default_str();
  // For the server itself.
  app.add_flag("--keep-job", options->keep_job, "keep the row of a job")->group("");
  app.add_option("--job", options->job, "print the row of a job")->group("");
  app.footer("It serves one client, and reads files below the folder where it was started. docs/mcp.md");
  return [options, &globals] {
    const std::filesystem::path journal = std::filesystem::absolute(make_paths(globals.journal).journal);
    if (options->keep_job) {
      return keep_job(journal);
    }
    if (options->job) {
      return print_job(journal, *options->job);
    }
    return become_server(checked_duration("--answer-within", options->answer_within), journal, globals);
  };
}

}  // namespace apo
