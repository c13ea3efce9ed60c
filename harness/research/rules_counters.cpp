// harness/research/rules_counters.cpp - rules over a GPU's hardware counters and sampled stalls. Each is silent where
// its counters are absent; the metrics are those of harness/profile/cuda_counters.h.
#include <algorithm>
#include <cmath>

#include "harness/core/text.h"
#include "harness/research/rule_evidence.h"

namespace apo {
namespace {

using namespace diagnosis;

// Above this share of its peak a unit counts as highly used: Nsight Compute's speed-of-light rules, 60 %.
constexpr double kHighlyUsed = 0.6;
// Above this share of issue slots stalls do not matter: Nsight Compute's stall rules, 80 %.
constexpr double kIssuesWell = 0.8;
// Nsight Compute's occupancy rule: achieved may be 10 % of the maximum below theoretical.
constexpr double kOccupancyGap = 0.1;
// Derived: below half of a sector used, at least every second byte that is moved is wasted.
constexpr double kGoodEfficiency = 0.5;
// Derived: below three quarters of a warp's lanes, predication at the edges of a block does not explain the rest.
constexpr double kFewLanes = 24;
constexpr double kLanes = 32;
// As the stall rules of rules.cpp: a state of a seventh of the warps.
constexpr double kStallShare = 0.15;
// Derived: an atomic holds a unit for as long as some hundred arithmetic instructions do.
constexpr double kManyAtomics = 0.01;
// Derived: each access to local memory takes a slot of the load unit, which issues a quarter as often as arithmetic.
constexpr double kManySpills = 0.025;

bool counted(const Diagnosis& d) {
  return d.incumbent.target == Target::cuda && measured(d);
}

// 0 where it was not sampled.
double stall_share(const Diagnosis& d, const char* state) {
  const double share = d.profile.metric(std::string("stall_") + state);
  return std::isfinite(share) ? share : 0;
}

// The part of the time for which warps wait on global memory; all of it where stalls are not known.
double waits_for_memory(const Diagnosis& d) {
  const double share = stall_share(d, "long_scoreboard") + stall_share(d, "lg_throttle") + stall_share(d, "drain");
  return std::max(share, std::isfinite(d.profile.metric("stall_selected")) ? 0.0 : 1.0);
}

double share_of_instructions(const Diagnosis& d, const char* counter) {
  return d.profile.metric(counter) / d.profile.metric("smsp__inst_executed.sum");
}

std::optional<Bottleneck> busy_pipe(const Diagnosis& d, const char* metric, const char* name, const char* what) {
  const double share = d.profile.metric(metric);
  if (!counted(d) || !(share >= kHighlyUsed)) {
    return std::nullopt;
  }
  return found(d, name, std::string("the ") + what + " is busy for " + percent(share) + " of the active cycles",
               1 / share);
}

}  // namespace

std::optional<Bottleneck> dram_bound(const Diagnosis& d) {
  const double share = d.profile.metric("dram_utilisation");
  if (!counted(d) || !(share >= kHighlyUsed)) {
    return std::nullopt;
  }
  const double excess = d.profile.metric("bytes_over_compulsory");
  const bool known = std::isfinite(excess) && excess > 0;
  return found(d, "dram-bound",
               "DRAM moves " + format_bytes(d.profile.metric("bytes_moved")) + " a call at " + percent(share) +
                   " of its peak" + (known ? "; " + format_ratio(excess) + " the compulsory bytes" : ""),
               std::max(1.0, known ? excess : 1.0) / share);
}

std::optional<Bottleneck> bank_conflicts(const Diagnosis& d) {
  const double share = d.profile.metric("bank_conflict_share");
  const double waits = stall_share(d, "short_scoreboard") + stall_share(d, "mio_throttle");
  const bool sampled = std::isfinite(d.profile.metric("stall_selected"));
  if (!counted(d) || !(share >= kMinorShare) || (sampled && !(share * waits >= kMinorShare / 2))) {
    return std::nullopt;
  }
  return found(d, "bank-conflicts",
               percent(share) + " of the wavefronts of shared memory are repeats because of bank conflicts" +
                   (sampled ? "; " + percent(waits) + " of the warps wait for shared memory or its queue" : ""),
               sampled ? amdahl(waits, 1 / (1 - std::min(share, 0.999))) : 1 / (1 - std::min(share, 0.999)));
}

std::optional<Bottleneck> shared_memory_stalls(const Diagnosis& d) {
  const double share = stall_share(d, "short_scoreboard") + stall_share(d, "mio_throttle");
  if (!counted(d) || !(share >= kStallShare)) {
    return std::nullopt;
  }
  return found(d, "shared-memory-stalls",
               percent(share) +
                   " of the warps wait for shared memory, special functions or shuffles, or for room in "
                   "their queue",
               amdahl(share, kInfinity));
}

std::optional<Bottleneck> uncoalesced_access(const Diagnosis& d) {
  const double loads = d.profile.metric("load_efficiency");
  const double stores = d.profile.metric("store_efficiency");
  const double worst = std::fmin(loads > 0 ? loads : kInfinity, stores > 0 ? stores : kInfinity);
  const double waits = waits_for_memory(d);
  if (!counted(d) || !(worst < kGoodEfficiency) || !(waits >= kMinorShare)) {
    return std::nullopt;
  }
  const bool of_loads = worst == loads;
  const double sectors = d.profile.metric(of_loads ? "sectors_per_load" : "sectors_per_store");
  return found(d, "uncoalesced-access",
               std::string(of_loads ? "loads" : "stores") + " use " + percent(worst) +
                   " of the bytes of their sectors" +
                   (std::isfinite(sectors) ? " and touch " + format_g(sectors, 3) + " sectors an instruction" : ""),
               amdahl(waits, 1 / worst));
}

std::optional<Bottleneck> idle_lanes(const Diagnosis& d) {
  const double lanes = d.profile.metric("threads_per_instruction");
  if (!counted(d) || !(lanes > 0) || !(lanes < kFewLanes)) {
    return std::nullopt;
  }
  return found(d, "idle-lanes",
               format_g(lanes, 3) +
                   " of 32 lanes are active in an instruction: branches diverge, or blocks are no "
                   "multiple of a warp",
               kLanes / lanes);
}

std::optional<Bottleneck> unused_occupancy(const Diagnosis& d) {
  const double theoretical = d.profile.metric("occupancy");
  const double achieved = d.profile.metric("achieved_occupancy");
  if (!counted(d) || !(achieved > 0) || !(theoretical - achieved > kOccupancyGap)) {
    return std::nullopt;
  }
  return found(d, "unused-occupancy",
               percent(achieved) + " of an SM's warps are active on average, where " + percent(theoretical) +
                   " could be: blocks end at different times, or too few are left at the end",
               theoretical / achieved);
}

std::optional<Bottleneck> register_spills(const Diagnosis& d) {
  const double share = share_of_instructions(d, "sm__sass_inst_executed_op_local.sum");
  if (!counted(d) || !(share >= kManySpills)) {
    return std::nullopt;
  }
  const double spilled = d.profile.metric("spill_bytes");
  return found(d, "register-spills",
               percent(share) + " of the instructions access local memory (" +
                   format_bytes(d.profile.metric("local_bytes")) + " a call)" +
                   (spilled > 0 ? "; the compiler spilled " + format_bytes(spilled) + " a thread"
                                : "; nothing is spilled, so an array of a thread is indexed at run time"),
               amdahl(std::max(share, waits_for_memory(d) < 1 ? waits_for_memory(d) : share), kInfinity));
}

std::optional<Bottleneck> special_function_pipe(const Diagnosis& d) {
  return busy_pipe(d, "pipe_special", "special-function-pipe", "special-function pipe (XU)");
}

std::optional<Bottleneck> fp32_pipe(const Diagnosis& d) {
  return busy_pipe(d, "pipe_fp32", "fp32-pipe", "FP32 pipe (FMA)");
}

std::optional<Bottleneck> tensor_pipe(const Diagnosis& d) {
  return busy_pipe(d, "pipe_tensor", "tensor-pipe", "tensor pipe");
}

std::optional<Bottleneck> atomics(const Diagnosis& d) {
  const double instructions = d.profile.metric("atomics");
  const double share = share_of_instructions(d, "atomics");
  if (!counted(d) || !(share >= kManyAtomics)) {
    return std::nullopt;
  }
  return found(d, "atomics", format_g(instructions) + " atomic instructions a call, " + percent(share) + " of all",
               amdahl(waits_for_memory(d), kInfinity));
}

std::optional<Bottleneck> issue_bound(const Diagnosis& d) {
  const double share = d.profile.metric("issue_utilisation");
  if (!counted(d) || !(share >= kIssuesWell)) {
    return std::nullopt;
  }
  return found(d, "issue-bound",
               "an instruction issues in " + percent(share) + " of the slots: only fewer instructions are faster",
               1 / share);
}

}  // namespace apo
