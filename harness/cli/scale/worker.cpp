// harness/cli/scale/worker.cpp - `apo worker`: the isolated process, which only the program itself starts.
#include <CLI/CLI.hpp>

#include "harness/cli/command.h"
#include "harness/worker/child/worker_main.h"

namespace apo {

Action define_worker(CLI::App&, Globals&) {
  return [] { return worker_main(); };
}

}  // namespace apo
