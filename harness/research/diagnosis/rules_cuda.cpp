// harness/research/diagnosis/rules_cuda.cpp - rules for a GPU without counters: how busy its units must be, and how
// full its SMs are.
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
  if (d.incumbent.target != Target::cuda || !measured(d) || !(share >= kBusy) || by_tensor_cores) {
    return std::nullopt;
  }
  return found(d, "fp32-bound",
               "the compulsory " + format_si(d.work.flops, "flop") + " take " + percent(share) +
                   " of the time at the measured rate of " + per_second(rate(d, "fp32_fma"), "flop/s"),
               1 / share);
}

std::optional<Bottleneck> special_function_bound(const Diagnosis& d) {
  const double share = d.profile.metric("busy_special");
  if (d.incumbent.target != Target::cuda || !measured(d) || !(share >= kBusy)) {
    return std::nullopt;
  }
  return found(d, "special-function-bound",
               "the compulsory " + format_si(d.work.special_functions, "op") + " take " + percent(share) +
                   " of the time at the special-function unit's measured " +
                   per_second(rate(d, "special_tanh"), "op/s"),
               1 / share);
}

std::optional<Bottleneck> waiting_steps(const Diagnosis& d) {
  const double busy = busiest(d);
  const double chain = d.profile.metric("busy_serial");
  if (d.incumbent.target != Target::cuda || !measured(d) || !(busy < kBusy) || !(d.work.serial_steps > 0) ||
      !(chain > 0)) {
    return std::nullopt;
  }
  auto bottleneck = found(d, "latency-bound",
                          "no unit is busy for more than " + percent(busy) + " of the time; " + step_text(d) +
                              "; its compulsory chain of dependent operations is " + percent(chain) + " of the time",
                          1 / std::max(busy, chain));
  if (bottleneck) {
    bottleneck->kind = BottleneckKind::remainder;
  }
  return bottleneck;
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
  if (!measured(d) || !(occupancy > 0) || !(occupancy <= kLowOccupancy) || !has_idle_units(d) ||
      !(latencies >= 2 * kStallShare)) {
    return std::nullopt;
  }
  const std::optional<BlockLimiter> limiter = d.profile.block_limiter();
  auto bottleneck = cause(
      d, "low-occupancy",
      percent(occupancy) + " of an SM's threads are resident: " + format_g(d.profile.metric("blocks_per_sm")) +
          " blocks of " + format_g(d.profile.metric("block_threads")) + " threads, limited by " +
          std::string(limiter ? to_string(*limiter) : "?") + " (" + format_g(d.profile.metric("registers")) +
          " registers a thread, " + format_bytes(d.profile.metric("block_shared_bytes")) + " of shared memory a block)",
      at_most(1 / occupancy, busiest_unit(d)));
  if (bottleneck && limiter == BlockLimiter::grid) {
    bottleneck->kind = BottleneckKind::limit;  // the work itself may have no more blocks
  }
  return bottleneck;
}

std::optional<Bottleneck> tiny_blocks(const Diagnosis& d) {
  constexpr double kTiny = 64;
  const double occupancy = d.profile.metric("occupancy");
  const double threads = d.profile.metric("block_threads");
  if (!measured(d) || !(threads <= kTiny) || !(occupancy <= kBusy) ||
      d.profile.block_limiter() != BlockLimiter::blocks || !has_idle_units(d)) {
    return std::nullopt;
  }
  return cause(d, "tiny-blocks",
               format_g(d.profile.metric("blocks")) + " blocks of " + format_g(threads) +
                   " threads: an SM holds no more than " + format_g(d.profile.metric("blocks_per_sm")) +
                   " blocks, which are " + percent(occupancy) + " of its threads, and starts each of them",
               at_most(1 / occupancy, busiest_unit(d)));
}

// What the last round leaves empty if blocks take equally long, as far as the SMs were seen to be idle.
std::optional<Bottleneck> tail_wave(const Diagnosis& d) {
  const double seen = 1 - d.profile.metric("sm_active");
  const double idle = std::fmin(d.profile.metric("idle_share"), seen);
  if (!measured(d) || !(idle >= kMinorShare)) {
    return std::nullopt;
  }
  const bool one_each = d.profile.metric("blocks_per_sm") == 1 && d.profile.block_limiter() == BlockLimiter::grid;
  if (one_each) {
    return cause(d, "idle-sms",
                 format_g(d.profile.metric("blocks")) + " blocks are fewer than there are SMs: " + percent(idle) +
                     " of the SMs' time is idle",
                 amdahl(idle, kInfinity));
  }
  return cause(d, "tail-wave",
               format_g(d.profile.metric("blocks")) + " blocks are " + format_g(d.profile.metric("waves"), 3) +
                   " rounds of what the SMs hold; if each takes as long, they stand idle for " + percent(idle) +
                   " of the time",
               amdahl(idle, kInfinity));
}

// SMs that are idle although the rounds come out even; not where a launch takes as long as its blocks.
std::optional<Bottleneck> uneven_blocks(const Diagnosis& d) {
  const double even = d.profile.metric("idle_share");
  const double launches = std::max<double>(1, static_cast<double>(d.incumbent.launches.size()));
  const double starting = share_of_time(d, 1e9 * launches * roof_value(d.profile, "launch_latency"));
  const double idle =
      1 - d.profile.metric("sm_active") - (std::isfinite(even) ? even : 0) - (std::isfinite(starting) ? starting : 0);
  if (!measured(d) || !(idle >= kMinorShare)) {
    return std::nullopt;
  }
  return cause(
      d, "uneven-blocks",
      "SMs have no block for " + percent(idle) +
          " of the time beyond what the number of blocks and starting them explain: some blocks take longer than "
          "others",
      amdahl(idle, kInfinity));
}

}  // namespace apo
