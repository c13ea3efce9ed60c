// harness/fleet/worker_commands.cpp - templates to commands.
#include "harness/fleet/worker_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

constexpr int kMostWorkers = 100;          // of one template: more is a mistyped number
constexpr std::size_t kCpusOfAWorker = 2;  // one for the arm that is timed, one for what watches it

// The number of workers in `text`, which stands in `given`. Throws UserError.
int worker_count(const std::string& text, const std::string& given) {
  const auto count = parse_int(text);
  if (!count || *count < 1 || *count > kMostWorkers) {
    throw UserError(
        fmt::format("'{}' names no number of workers", given),
        fmt::format("write a number from 1 to {}, as in local:2 or '8*ssh gpu{{n}} apo worker --serve'", kMostWorkers));
  }
  return static_cast<int>(*count);
}

std::string serve_command(const LocalWorkers& local, const std::string& before, const std::string& options) {
  std::string families;
  for (const std::string& file : local.families) {
    families += " --families " + shell_word(file);
  }
  return fmt::format("{}APO_CACHE={} exec {} worker --serve --target {}{}{}", before,
                     shell_word(local.builds_folder.parent_path().string()), shell_word(local.program),
                     to_string(local.target), options, families);
}

// The GPUs of this machine, as CUDA_VISIBLE_DEVICES names them; all of that variable's where it is set.
std::vector<std::string> visible_gpus() {
  const char* named = std::getenv("CUDA_VISIBLE_DEVICES");
  if (named != nullptr) {
    return *named == '\0' ? std::vector<std::string>() : split(named, ',');
  }
  std::vector<std::string> gpus;
  std::error_code error;  // without NVIDIA's driver there is no such folder
  for (const fs::directory_entry& gpu : fs::directory_iterator("/proc/driver/nvidia/gpus", error)) {
    static_cast<void>(gpu);
    gpus.push_back(std::to_string(gpus.size()));
  }
  return gpus;
}

WorkerCommands on_gpus(const LocalWorkers& local, const std::string& count, const std::string& given) {
  const std::vector<std::string> gpus = visible_gpus();
  const auto wanted = count == "all" ? gpus.size() : static_cast<std::size_t>(worker_count(count, given));
  if (gpus.empty() || wanted > gpus.size()) {
    throw UserError(fmt::format("'{}' needs more GPUs than this machine has: {}", given, gpus.size()),
                    "'apo doctor' shows them; another machine's: --workers 'ssh HOST apo worker --serve'");
  }
  WorkerCommands workers;
  for (std::size_t i = 0; i < wanted; ++i) {
    workers.commands.push_back(serve_command(local, "CUDA_VISIBLE_DEVICES=" + shell_word(gpus[i]) + " ", ""));
  }
  return workers;
}

// Sets of one size, so that all workers are machines of one kind; CPUs may be left over.
WorkerCommands on_cpus(const LocalWorkers& local, const std::string& count, const std::string& given) {
  const std::vector<int> cpus = usable_cpus();
  const std::size_t wanted = count == "all" ? std::max<std::size_t>(1, cpus.size() / kCpusOfAWorker)
                                            : static_cast<std::size_t>(worker_count(count, given));
  if (wanted > cpus.size()) {
    throw UserError(fmt::format("'{}' needs more CPUs than this process may use: {}", given, cpus.size()),
                    "two workers on one CPU would disturb each other");
  }
  const std::size_t each = cpus.size() / wanted;
  WorkerCommands workers;
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::vector<int> own(cpus.begin() + static_cast<std::ptrdiff_t>(i * each),
                               cpus.begin() + static_cast<std::ptrdiff_t>((i + 1) * each));
    workers.cpus = i == 0 ? own : workers.cpus;
    workers.commands.push_back(serve_command(local, "", fmt::format(" --cpus {}", fmt::join(own, ","))));
  }
  return workers;
}

// A command may end in .json too.
bool is_file(const std::string& given) {
  return given.ends_with(".json") && given.find_first_of(" \t") == std::string::npos;
}

std::vector<std::string> templates_in(const std::string& file) {
  try {
    const nlohmann::json document = nlohmann::json::parse(read_file(file));
    auto templates = document.at("workers").get<std::vector<std::string>>();
    if (const auto other = std::ranges::find_if(templates, is_file); other != templates.end()) {
      throw UserError(fmt::format("'{}' names another file of workers: '{}'", file, *other),
                      "give each file by its own --workers");
    }
    return templates;
  } catch (const nlohmann::json::exception& error) {
    throw UserError(fmt::format("'{}' is no list of workers: {}", file, error.what()),
                    R"(write {"workers": ["local:all", "4*ssh gpu{n} apo worker --serve"]})");
  }
}

// The number before a '*', else 1; the rest is the command.
int repetitions(std::string& command) {
  const std::size_t star = command.find('*');
  if (star == std::string::npos || star == 0 || command.find_first_not_of("0123456789") != star) {
    return 1;
  }
  const int count = worker_count(command.substr(0, star), command);
  command.erase(0, star + 1);
  return count;
}

WorkerCommands commands_of(const std::string& given, const LocalWorkers& local) {
  constexpr std::string_view kLocal = "local:";
  if (given.starts_with(kLocal)) {
    const std::string count = given.substr(kLocal.size());
    return local.target == Target::cuda ? on_gpus(local, count, given) : on_cpus(local, count, given);
  }
  std::string command = given;
  const auto count = static_cast<std::size_t>(repetitions(command));
  return {.commands = std::vector<std::string>(count, command), .cpus = {}};
}

}  // namespace

WorkerCommands worker_commands(const std::vector<std::string>& templates, const LocalWorkers& local) {
  WorkerCommands workers;
  for (const std::string& given : templates) {
    for (const std::string& one : is_file(given) ? templates_in(given) : std::vector<std::string>{given}) {
      const WorkerCommands own = commands_of(one, local);
      workers.commands.insert(workers.commands.end(), own.commands.begin(), own.commands.end());
      workers.cpus = workers.cpus.empty() ? own.cpus : workers.cpus;
    }
  }
  for (std::size_t i = 0; i < workers.commands.size(); ++i) {
    workers.commands[i] = replace_all(workers.commands[i], "{n}", std::to_string(i));
  }
  return workers;
}

}  // namespace apo
