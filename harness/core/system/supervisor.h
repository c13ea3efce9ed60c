// harness/core/system/supervisor.h - a process between us and a program, which ends when the last process has ended
// that descends from the program.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/core/system/posix_spawn.h"

namespace apo {

enum Told : std::size_t {
  kStatus,       // of the program, as of waitpid(), when it has ended
  kLeftBehind,   // how many descendants were killed after that; told when all have ended, with
  kNanoseconds,  // from the start of the program until then
  kAllTold,
};

struct Supervised {
  pid_t supervisor = -1;  // a child of ours in a group of its own
  // Its end, which our death brings about as well, makes the supervisor kill all that descends from the program.
  FileDescriptor lifeline;
  // Does not block, and ends with the supervisor. Gives std::int64_t in the order of Told.
  FileDescriptor report;
};

// The supervisor takes in what outlives its parent, whatever its group or session. It is forked: what it takes of our
// page tables is small where we hold no tensors. Throws EnvironmentError where the program cannot be started.
Supervised start_supervised(PosixSpawn& spawn, const std::string& program, const std::vector<std::string>& argv,
                            const std::vector<std::string>& environment);

}  // namespace apo
