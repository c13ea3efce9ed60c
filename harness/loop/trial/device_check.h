// harness/loop/trial/device_check.h - what this machine's CPU says of a variant for GPUs, before a GPU runs it.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

// The gate of the CPU executor for a device variant; the evidence says why when it cannot check the variant. Without a
// GPU a variant is compiled as well, where there is a toolkit; the output goes to `log`. Nothing when the executor's
// guard is switched off. Throws Cancelled after a stop, and leaves neither a process nor half of a build.
std::vector<GateResult> check_on_cpu(const Paths& paths, const Variant& variant, bool has_gpu, Observer& observer,
                                     std::string& log, const std::stop_token& stop = {});

// The rule: a device variant that is not registered yet takes the executor's gate first, inside of its experiment.
bool takes_executor_gate(const Catalogue& catalogue, const Variant& variant);
// That gate on a machine with a GPU, whose mistakes in the candidate are gates too. Needs nothing of the caller's
// workspace, so that it may run beside it.
std::vector<GateResult> executor_gates(const Paths& paths, const Variant& variant, const std::stop_token& stop = {});

}  // namespace apo
