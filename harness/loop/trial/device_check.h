// harness/loop/trial/device_check.h - what this machine's CPU says of a device variant, before a GPU runs it.
#pragma once

#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

// The gate of the CPU executor; the evidence says why when it cannot check the variant. Without a GPU such a variant is
// at least compiled, whose output goes to `log`. Nothing when the executor's guard is switched off.
std::vector<GateResult> check_on_cpu(const Paths& paths, const Variant& variant, bool has_gpu, Observer& observer,
                                     std::string& log);

}  // namespace apo
