// harness/runtime/python_server.cpp - starts it, sends a line, waits for the one that answers.
#include "harness/runtime/python_server.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "harness/core/recording/python_file.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {

namespace {

constexpr double kToStart = 120;  // seconds, in which PyTorch is imported

// The GPU of the worker's number is the only one that it sees.
std::vector<std::string> environment_of(int device) {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::vector<std::string> devices = visible == nullptr ? std::vector<std::string>() : split(visible, ',');
  const auto index = static_cast<std::size_t>(device);
  return {"LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1",
          "CUDA_VISIBLE_DEVICES=" + (index < devices.size() ? devices[index] : std::to_string(index))};
}

struct Servers {
  std::mutex mutex;
  std::map<std::pair<std::string, int>, PythonServer> of;
};

Servers& servers() {
  static Servers all;
  return all;
}

}  // namespace

std::optional<nlohmann::json> PythonServer::ask(const std::string& line, double seconds, const std::stop_token& stop) {
  process_->send(line + "\n");
  const double until = process_->seconds() + seconds;
  while (!process_->has_ended() && process_->seconds() < until && !stop.stop_requested()) {
    process_->move_within(stop.stop_possible() ? 0.02 : 1, true);
    for (const std::string& answer : take_lines(process_->output)) {
      if (auto said = nlohmann::json::parse(answer, nullptr, false); said.is_object()) {
        return said;
      }
    }
  }
  return std::nullopt;
}

PythonRun PythonServer::run(const std::filesystem::path& request, double seconds, const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  if (process_ == nullptr) {
    process_ = std::make_unique<Subprocess>(python_, std::vector<std::string>{python_, "-B", script_, "serve"},
                                            SpawnOptions{.environment = environment_});
  }
  if (const auto said = ask(request.string(), seconds + kToStart, stop)) {
    return {.signal = said->at("signal"),
            .timed_out = said->at("timed_out"),
            .cut = said->at("cut"),
            .printed = said->at("printed")};
  }
  const std::unique_ptr<Subprocess> ended = std::move(process_);
  const ProcessResult result = ended->finish(true);
  if (stop.stop_requested()) {
    throw Cancelled();
  }
  const std::vector<std::string> words = split(trim(result.error), '\n');
  return {.missing = "'" + python_ + "' does not run PyTorch: " + (words.back().empty() ? "it ended" : words.back())};
}

void PythonServer::end_file() {
  const std::lock_guard lock(mutex_);
  if (process_ != nullptr && !ask("", kToStart, {})) {
    process_->finish(true);
    process_ = nullptr;
  }
}

PythonServer& python_server(const std::string& python, int device) {
  const std::lock_guard lock(servers().mutex);
  const std::filesystem::path script = home_folder() / kPythonScript;
  return servers().of.try_emplace({python, device}, python, script.string(), environment_of(device)).first->second;
}

void end_python_files() {
  const std::lock_guard lock(servers().mutex);
  for (auto& [which, server] : servers().of) {
    server.end_file();
  }
}

}  // namespace apo
