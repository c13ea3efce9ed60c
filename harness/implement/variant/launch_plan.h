// harness/implement/variant/launch_plan.h - turns the apo:launch lines of a device variant into plain numbers for one
// device.
#pragma once

#include <cstdint>
#include <string>

#include "harness/core/expression/expression.h"
#include "harness/core/records/records.h"
#include "harness/implement/object/elf.h"

namespace apo {

struct PlannedLaunches {
  Outcome outcome = Outcome::valid;  // refused: this workload cannot be launched on this device
  std::string evidence;              // one sentence
  LaunchPlan plan;
};

// Evaluates every launch over axes, tunables and device facts. grid, block and cluster are up to three positive sizes;
// shared is dynamic shared memory in bytes; cooperative is 0 or 1; l2_persist is the position, from 1, of the pointer
// in the argument struct whose buffer is to stay in L2, 0 for none. `kernels` are those of the cubin.
PlannedLaunches plan_launches(const Family& family, const Variant& variant, const Axes& axes, const Settings& settings,
                              const DeviceFacts& device, const std::vector<KernelFacts>& kernels);

// Evaluates the grid of every launch. What depends on the build, such as shared memory, is not looked at.
Grids grids_of_call(const Variant& variant, const Axes& axes, const Settings& settings, const Symbols& device);

// Prints the plan without the names of the kernels: part of a build's identity.
std::string plan_text(const LaunchPlan& plan);

}  // namespace apo
