// harness/runtime/python_server.h - a python3 that has imported PyTorch, and runs each file in a process of its own.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/core/system/subprocess.h"

namespace apo {

struct PythonRun {
  int signal = 0;          // that ended the process, if any
  bool timed_out = false;  // its limit of time was over
  bool cut = false;        // it printed more than is kept
  std::string printed;     // the end of that
  std::string missing;     // why no process ran; empty: one did
};

// harness/implement/python/server.py. Waits for its input while it has nothing to do.
class PythonServer {
 public:
  PythonServer(std::string python, std::string script, std::vector<std::string> environment)
      : python_(std::move(python)), script_(std::move(script)), environment_(std::move(environment)) {}
  // Of this request, a file, which ends within so many seconds. One at a time. Throws Cancelled after a stop. The
  // process of the Python file waits for its next request.
  PythonRun run(const std::filesystem::path& request, double seconds, const std::stop_token& stop);
  // No code of the file runs any more.
  void end_file();

 private:
  // The answer to a line; nullopt after the end of the process.
  std::optional<nlohmann::json> ask(const std::string& line, double seconds, const std::stop_token& stop);

  std::mutex mutex_;
  std::string python_;
  std::string script_;
  std::vector<std::string> environment_;
  std::unique_ptr<Subprocess> process_;
};

// One for each GPU and python3, as long as this program lives.
PythonServer& python_server(const std::string& python, int device);
// Ends the processes that wait for the next size of their file.
void end_python_files();

}  // namespace apo
