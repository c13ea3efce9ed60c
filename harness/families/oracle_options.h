// harness/families/oracle_options.h - how references are built and run, and who is told when one runs for long.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "harness/core/system/overdue.h"

namespace apo {

// Counts the requests to a reference in another language, and the starts of its program.
struct CommandUse {
  int requests = 0;
  int starts = 0;
  double seconds = 0;
};

struct OracleOptions {
  std::filesystem::path cache;  // folder of built programs
  std::filesystem::path home;   // holds kernels/oracle
  std::string compiler = "g++";
  double timeout_s = 300;  // of one run
  double patience_s = 10;  // of one run, until `on_wait` is called, from another thread
  std::function<void(const std::string&)> on_wait = nullptr;
  std::shared_ptr<CommandUse> command_use = nullptr;  // filled on request
};

// Calls `options.on_wait` where the result still lives after `options.patience_s`. `what`: "the reference of family
// softmax (rows=2)".
Overdue long_wait(const OracleOptions& options, const std::string& what);

}  // namespace apo
