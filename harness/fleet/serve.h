// harness/fleet/serve.h - the other end of `apo run --workers`: judges what a driver sends, on one device.
#pragma once

#include "harness/fleet/messages.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

struct ServeOptions {
  ProgramIdentity program;  // this one
  int in = 0;               // descriptors; one JSON object a line (messages.h)
  int out = 1;
};

// Judges on the workspace's target until the input ends, or the process is asked to end (SIGTERM): then it gives its
// task back, within seconds. The workspace's folder is its own. Returns the exit status of the process, which has to
// end then.
int serve(Workspace& workspace, const ServeOptions& options);

}  // namespace apo
