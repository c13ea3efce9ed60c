// harness/cli/scale/worker.cpp - `apo worker`: the isolated process; started by the program itself, never by people.
#include <CLI/CLI.hpp>

#include "harness/cli/command.h"
#include "harness/worker/child/worker_main.h"

namespace apo {

Action define_worker(CLI::App&, Globals&) {
  return [] { return worker_main(); };
}

}  // namespace apo
