// harness/research/diagnosis/rules_cuda.cpp - rules for a GPU: how busy its units are, what its warps wait for, how
// full its SMs are. Rules over counters are silent where these are absent (harness/profile/gpu/gpu_profile.h).
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "harness/core/text.h"
#include "harness/research/diagnosis/rule_evidence.h"
#include "harness/research/diagnosis/rules.h"

namespace apo {

namespace {

using namespace diagnosis;

constexpr double kLowOccupancy = 0.25;

// The share of the time that the busiest unit needs for the compulsory work, repeated special functions included.
double busiest(const Diagnosis& d) {
  double most = share_of_time(d, special_ns(d));
  for (const char* metric : {"busy_bytes", "busy_flops", "busy_special"}) {
    const double share = d.profile.metric(metric);
    most = std::isfinite(share) ? std::max(most, share) : most;
  }
  return most;
}

// Returns "a step takes 2.3 us, as long as 95 dependent shuffles or 60 barriers", which a reader can compare with code.
std::string step_text(const Diagnosis& d) {
  const double turns = std::max(1.0, std::ceil(d.profile.metric("waves")));  // blocks that follow each other on an SM
  const double step_ns = d.profile.time_ns / (d.work.serial_steps * (std::isfinite(turns) ? turns : 1.0));
  std::string text = "a step takes " + format_ns(step_ns);
  std::vector<std::string> parts;
  for (const auto& [roof, what] : {std::pair{"shuffle_latency", "dependent shuffles"},
                                   std::pair{"shared_latency", "dependent reads of shared memory"},
                                   std::pair{"barrier", "barriers of 256 threads"}}) {
    if (const double ns = 1e9 * roof_value(d.profile, roof); ns > 0) {
      parts.push_back(format_g(step_ns / ns, 3) + " " + what);
    }
  }
  return parts.empty() ? text : text + ", as long as " + join(parts, " or ");
}

}  // namespace

std::optional<Bottleneck> fp32_bound(const Diagnosis& d) {
  const double share = d.profile.metric("busy_flops");
  const bool by_tensor_cores = share_of_time(d, 1e9 * d.work.flops / rate(d, "fp32_fma")) > 1;  // CUDA cores cannot
  return found(d, d.incumbent.target == Target::cuda && measured(d) && share >= kBusy && !by_tensor_cores, "fp32-bound",
               "the compulsory " + format_si(d.work.flops, "flop") + " take " + format_share(share) +
                   " of the time at the measured rate of " + format_si(rate(d, "fp32_fma"), "flop/s"),
               1 / share);
}

std::optional<Bottleneck> special_function_bound(const Diagnosis& d) {
  const double share = d.profile.metric("busy_special");
  return found(d, d.incumbent.target == Target::cuda && measured(d) && share >= kBusy, "special-function-bound",
               "the compulsory " + format_si(d.work.special_functions, "op") + " take " + format_share(share) +
                   " of the time at the special-function unit's measured " + format_si(rate(d, "special_tanh"), "op/s"),
               1 / share);
}

std::optional<Bottleneck> waiting_steps(const Diagnosis& d) {
  const double busy = busiest(d);
  const double chain = d.profile.metric("busy_serial");
  const auto bottleneck = found(
      d, d.incumbent.target == Target::cuda && measured(d) && busy < kBusy && d.work.serial_steps > 0 && chain > 0,
      "latency-bound",
      "no unit is busy for more than " + format_share(busy) + " of the time; " + step_text(d) +
          "; its compulsory chain of dependent operations is " + format_share(chain) + " of the time",
      1 / std::max(busy, chain));
  return as(BottleneckKind::remainder, bottleneck);
}

namespace {

// A unit that is highly used gains nothing from more warps.
bool has_idle_units(const Diagnosis& d) {
  return busiest(d) < kBusy && busiest_unit(d) < kHighlyUsed;
}

}  // namespace

std::optional<Bottleneck> low_occupancy(const Diagnosis& d) {
  const double occupancy = d.profile.metric("occupancy");
  // Only latencies that other warps could fill.
  const double latencies = sampled(d) ? stall_share(d, {"long_scoreboard", "short_scoreboard", "wait"}) : 1.0;
  const std::optional<BlockLimiter> limiter = d.profile.block_limiter();
  const auto bottleneck = cause(
      d,
      measured(d) && occupancy > 0 && occupancy <= kLowOccupancy && has_idle_units(d) && latencies >= 2 * kStallShare,
      "low-occupancy",
      format_share(occupancy) + " of an SM's threads are resident: " + format_g(d.profile.metric("blocks_per_sm")) +
          " blocks of " + format_g(d.profile.metric("block_threads")) + " threads, limited by " +
          std::string(limiter ? to_string(*limiter) : "?") + " (" + format_g(d.profile.metric("registers")) +
          " registers a thread, " + format_bytes(d.profile.metric("block_shared_bytes")) + " of shared memory a block)",
      at_most(1 / occupancy, busiest_unit(d)));
  // The work itself may have no more blocks.
  return limiter == BlockLimiter::grid ? as(BottleneckKind::limit, bottleneck) : bottleneck;
}

std::optional<Bottleneck> tiny_blocks(const Diagnosis& d) {
  constexpr double kTiny = 64;
  const double occupancy = d.profile.metric("occupancy");
  const double threads = d.profile.metric("block_threads");
  return cause(d,
               measured(d) && threads <= kTiny && occupancy <= kBusy &&
                   d.profile.block_limiter() == BlockLimiter::blocks && has_idle_units(d),
               "tiny-blocks",
               format_g(d.profile.metric("blocks")) + " blocks of " + format_g(threads) +
                   " threads: an SM holds no more than " + format_g(d.profile.metric("blocks_per_sm")) +
                   " blocks, which are " + format_share(occupancy) + " of its threads, and starts each of them",
               at_most(1 / occupancy, busiest_unit(d)));
}

// What the last round leaves empty if blocks take equally long, as far as the SMs were seen to be idle.
std::optional<Bottleneck> tail_wave(const Diagnosis& d) {
  const double seen = 1 - d.profile.metric("sm_active");
  const double idle = std::fmin(d.profile.metric("idle_share"), seen);
  const bool one_each = d.profile.metric("blocks_per_sm") == 1 && d.profile.block_limiter() == BlockLimiter::grid;
  return cause(d, measured(d) && idle >= kMinorShare, one_each ? "idle-sms" : "tail-wave",
               format_g(d.profile.metric("blocks")) + " blocks are " +
                   (one_each ? "fewer than there are SMs: " + format_share(idle) + " of the SMs' time is idle"
                             : format_g(d.profile.metric("waves"), 3) +
                                   " rounds of what the SMs hold; if each takes as long, they stand idle for " +
                                   format_share(idle) + " of the time"),
               amdahl(idle, kInfinity));
}

// SMs that are idle although the rounds come out even; not where a launch takes as long as its blocks.
std::optional<Bottleneck> uneven_blocks(const Diagnosis& d) {
  const double even = d.profile.metric("idle_share");
  const double launches = std::max<double>(1, static_cast<double>(d.incumbent.launches.size()));
  const double starting = share_of_time(d, 1e9 * launches * roof_value(d.profile, "launch_latency"));
  const double idle =
      1 - d.profile.metric("sm_active") - (std::isfinite(even) ? even : 0) - (std::isfinite(starting) ? starting : 0);
  return cause(
      d, measured(d) && idle >= kMinorShare, "uneven-blocks",
      "SMs have no block for " + format_share(idle) +
          " of the time beyond what the number of blocks and starting them explain: some blocks take longer than "
          "others",
      amdahl(idle, kInfinity));
}

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
  return found(d, counted(d) && full(d, share), name,
               std::string("the ") + what + " is busy for " + format_share(share) + " of the cycles", 1 / share);
}

// A wait cannot shrink below the work of its unit.
std::optional<Bottleneck> wait(const Diagnosis& d, const char* name, const std::vector<std::string>& states,
                               const std::string& meaning, double units) {
  const double share = stall_share(d, states);
  return at_line(d,
                 found(d, share >= kStallShare, name, format_share(share) + " of the samples " + meaning,
                       at_most(amdahl(share, kInfinity), units)),
                 {.states = states});
}

}  // namespace

std::optional<Bottleneck> dram_bound(const Diagnosis& d) {
  const double share = d.profile.metric("dram_utilisation");
  const double excess = d.profile.metric("bytes_over_compulsory");
  const bool known = std::isfinite(excess) && excess > 0;
  return found(d, counted(d) && share >= kHighlyUsed, "dram-bound",
               "DRAM moves " + format_bytes(d.profile.metric("bytes_moved")) + " a call at " + format_share(share) +
                   " of its peak" + (known ? "; " + format_ratio(excess) + " the compulsory bytes" : ""),
               std::max(1.0, known ? excess : 1.0) / share);
}

std::optional<Bottleneck> l2_bound(const Diagnosis& d) {
  const double share = l2_share(d);
  const double dram = d.profile.metric("dram_utilisation");
  return at_line(
      d,
      found(d, counted(d) && share >= kHighlyUsed && !(dram >= kHighlyUsed), "l2-bound",
            "the L2 moves " + format_bytes(l2_bytes_moved(d)) + " a call, " + format_share(share) +
                " of what it can; DRAM is used at " + format_share(std::isfinite(dram) ? dram : 0) + " of its peak",
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
  return found(d, counted(d) && share >= kBusy, "shuffle-bound",
               format_si(lanes, "lanes") + " take part in shuffles or votes, " + format_share(std::min(share, 1.0)) +
                   " of the time at the measured " + format_si(roof_value(d.profile, "shuffle"), "op/s"),
               1 / std::min(share, 1.0));
}

std::optional<Bottleneck> issue_bound(const Diagnosis& d) {
  const double share = d.profile.metric("issue_utilisation");
  // A pipe that is as full is the reason.
  return found(d, counted(d) && share >= kIssuesWell && busiest_unit(d) < kIssuesWell, "issue-bound",
               "an instruction issues in " + format_share(share) + " of the slots: only fewer instructions are faster",
               1 / share);
}

// A cause unless a unit is highly used: then the warps wait for each other in its shadow.
std::optional<Bottleneck> barrier_stalls(const Diagnosis& d) {
  const auto bottleneck = wait(d, "barrier-stalls", {"barrier"}, "wait at a block barrier", busiest_unit(d));
  const bool is_own = busiest_unit(d) < kHighlyUsed && !uneven_warps(d);
  return is_own ? as(BottleneckKind::cause, bottleneck) : bottleneck;
}

std::optional<Bottleneck> memory_latency_stalls(const Diagnosis& d) {
  return wait(d, "memory-latency-stalls", {"long_scoreboard"}, "wait for global or local memory", memory_units(d));
}

std::optional<Bottleneck> shared_memory_stalls(const Diagnosis& d) {
  return counted(d) ? wait(d, "shared-memory-stalls", {"short_scoreboard", "mio_throttle"},
                           "wait for shared memory, special functions or shuffles, or for room in their queue",
                           shared_units(d))
                    : std::nullopt;
}

std::optional<Bottleneck> unused_occupancy(const Diagnosis& d) {
  const double theoretical = d.profile.metric("occupancy");
  const double achieved = d.profile.metric("achieved_occupancy");
  return found(d, counted(d) && achieved > 0 && theoretical - achieved > kOccupancyGap, "unused-occupancy",
               format_share(achieved) + " of an SM's warps are active on average, where " + format_share(theoretical) +
                   " could be: blocks end at different times, or too few are left at the end",
               at_most(theoretical / achieved, busiest_unit(d)));
}

}  // namespace apo
