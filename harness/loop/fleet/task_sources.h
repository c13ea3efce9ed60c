// harness/loop/fleet/task_sources.h - what a driver sends a worker that lacks it.
#pragma once

#include "harness/loop/fleet/fleet.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

// Of the workspace's catalogue, which outlives what is returned, and of the families of files.
Fleet::Sources task_sources(const Workspace& workspace);

}  // namespace apo
