// harness/fleet/serve.h - the other end of `apo run --workers`: judges what a driver sends, on one device.
#pragma once

#include "harness/fleet/messages.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

// Speaks messages.h on standard input and output, and judges on the workspace's target until the input ends, or the
// process is asked to end (SIGTERM): then it gives its task back, within seconds. The workspace's folder is its own,
// and `program` is this one. The process has to end then.
void serve(Workspace& workspace, const ProgramIdentity& program);

}  // namespace apo
