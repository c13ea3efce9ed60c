// harness/research/diagnosis/rules_counters.cpp - finds highly used units of a GPU and the waits of its warps. Each
// rule is silent where its counters are absent; the metrics are those of harness/profile/gpu/gpu_profile.h.
#include <algorithm>
#include <cmath>

#include "harness/core/text.h"
#include "harness/research/diagnosis/rule_evidence.h"
#include "harness/research/diagnosis/rules.h"

namespace apo {
namespace {

using namespace diagnosis;

// Above this share of issue slots stalls do not matter: Nsight Compute's stall rules, 80 %.
constexpr double kIssuesWell = 0.8;
// Nsight Compute's occupancy rule: achieved may be 10 % of the maximum below theoretical.
constexpr double kOccupancyGap = 0.1;

// A warp that waits for an arithmetic pipe proves that one is full: the busiest.
bool full(const Diagnosis& d, double share) {
  const bool awaited = stall_share(d, {"math_pipe_throttle"}) >= kStallShare;
  return share >= kHighlyUsed || (awaited && share >= kBusy / 2 && share >= busiest_unit(d));
}

std::optional<Bottleneck> busy_pipe(const Diagnosis& d, const char* metric, const char* name, const char* what) {
  const double share = d.profile.metric(metric);
  if (!counted(d) || !full(d, share)) {
    return std::nullopt;
  }
  return found(d, name, std::string("the ") + what + " is busy for " + percent(share) + " of the cycles", 1 / share);
}

// A wait cannot shrink below the work of its unit.
std::optional<Bottleneck> wait(const Diagnosis& d, const char* name, const std::vector<std::string>& states,
                               const std::string& meaning, double units) {
  const double share = stall_share(d, states);
  if (!(share >= kStallShare)) {
    return std::nullopt;
  }
  return at_line(
      d, found(d, name, percent(share) + " of the samples " + meaning, at_most(amdahl(share, kInfinity), units)),
      {.states = states});
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

std::optional<Bottleneck> l2_bound(const Diagnosis& d) {
  const double share = l2_share(d);
  const double dram = d.profile.metric("dram_utilisation");
  if (!counted(d) || !(share >= kHighlyUsed) || dram >= kHighlyUsed) {
    return std::nullopt;
  }
  return at_line(
      d,
      found(d, "l2-bound",
            "the L2 moves " + format_bytes(l2_bytes_moved(d)) + " a call, " + percent(share) +
                " of what it can; DRAM is used at " + percent(std::isfinite(dram) ? dram : 0) + " of its peak",
            1 / share),
      {.states = {"long_scoreboard", "lg_throttle"}});
}

std::optional<Bottleneck> shared_bandwidth(const Diagnosis& d) {
  return busy_pipe(d, "pipe_shared", "shared-bandwidth", "data path of shared memory");
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

std::optional<Bottleneck> shuffle_bound(const Diagnosis& d) {
  const double lanes = d.profile.metric("shuffled_lanes");
  const double share = share_of_time(d, 1e9 * lanes / roof_value(d.profile, "shuffle"));
  if (!counted(d) || !(share >= kBusy)) {
    return std::nullopt;
  }
  return found(d, "shuffle-bound",
               format_si(lanes, "lanes") + " take part in shuffles or votes, " + percent(std::min(share, 1.0)) +
                   " of the time at the measured " + per_second(roof_value(d.profile, "shuffle"), "op/s"),
               1 / std::min(share, 1.0));
}

std::optional<Bottleneck> issue_bound(const Diagnosis& d) {
  const double share = d.profile.metric("issue_utilisation");
  // A pipe that is as full is the reason.
  if (!counted(d) || !(share >= kIssuesWell) || busiest_unit(d) >= kIssuesWell) {
    return std::nullopt;
  }
  return found(d, "issue-bound",
               "an instruction issues in " + percent(share) + " of the slots: only fewer instructions are faster",
               1 / share);
}

// A cause unless a unit is highly used: then the warps wait for each other in its shadow.
std::optional<Bottleneck> barrier_stalls(const Diagnosis& d) {
  auto bottleneck = wait(d, "barrier-stalls", {"barrier"}, "wait at a block barrier", busiest_unit(d));
  if (!bottleneck || busiest_unit(d) >= kHighlyUsed || uneven_warps(d)) {
    return bottleneck;
  }
  return cause(d, "barrier-stalls", bottleneck->evidence, bottleneck->bound, {.states = {"barrier"}});
}

std::optional<Bottleneck> memory_latency_stalls(const Diagnosis& d) {
  return wait(d, "memory-latency-stalls", {"long_scoreboard"}, "wait for global or local memory", memory_units(d));
}

std::optional<Bottleneck> shared_memory_stalls(const Diagnosis& d) {
  if (!counted(d)) {
    return std::nullopt;
  }
  return wait(d, "shared-memory-stalls", {"short_scoreboard", "mio_throttle"},
              "wait for shared memory, special functions or shuffles, or for room in their queue", shared_units(d));
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
               at_most(theoretical / achieved, busiest_unit(d)));
}

}  // namespace apo
