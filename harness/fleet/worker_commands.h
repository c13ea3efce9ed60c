// harness/fleet/worker_commands.h - the commands that start workers, from what `--workers` says.
#pragma once

#include <string>
#include <vector>

#include "harness/loop/workspace/workspace.h"

namespace apo {

// What local workers share with their driver.
struct LocalWorkers {
  std::string program;                  // this one
  std::vector<std::string> families;    // of --families
  std::filesystem::path builds_folder;  // of the build cache
  Target target = Target::host;
};

struct WorkerCommands {
  std::vector<std::string> commands;  // for the shell, one a worker
  // Of the first local worker on host. A driver that keeps to them is a machine with as many cores as its workers, so
  // that what it profiles and certifies is about the machine that they judge on. Empty: there is none.
  std::vector<int> cpus;
};

// Templates:
//   local:all         a worker for each GPU of this machine; on host for each pair of its CPUs
//   local:N           N of them, on the first N GPUs; on host on N equal sets of CPUs
//   N*COMMAND         the command N times
//   COMMAND           once
// `{n}` in a command is the place of the worker, from 0. Throws UserError.
WorkerCommands worker_commands(const std::vector<std::string>& templates, const LocalWorkers& local);

}  // namespace apo
