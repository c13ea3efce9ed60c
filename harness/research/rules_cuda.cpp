// harness/research/rules_cuda.cpp - rules for a GPU without counters: how busy its units must be, and how full its SMs
// are.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "harness/core/text.h"
#include "harness/research/rule_evidence.h"

namespace apo {
namespace {

using namespace diagnosis;

// A unit that needs this share of the time is what a kernel waits for; below it, something else is.
constexpr double kBusy = 0.5;
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

// "a step takes 2.3 us, as long as 95 dependent shuffles or 60 barriers": what a reader can hold the code against.
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
  if (d.incumbent.target != Target::cuda || !measured(d) || !(share >= kBusy)) {
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
  return found(d, "latency-bound",
               "no unit is busy for more than " + percent(busy) + " of the time; " + step_text(d) +
                   "; its compulsory chain of dependent operations is " + percent(chain) + " of the time",
               1 / std::max(busy, chain));
}

std::optional<Bottleneck> low_occupancy(const Diagnosis& d) {
  const double occupancy = d.profile.metric("occupancy");
  if (!measured(d) || !(occupancy > 0) || !(occupancy <= kLowOccupancy) || !(busiest(d) < kBusy)) {
    return std::nullopt;
  }
  std::string limiter;
  for (const Metric& metric : d.profile.metrics) {
    limiter = metric.name == "blocks_per_sm" ? metric.unit : limiter;
  }
  return found(d, "low-occupancy",
               percent(occupancy) + " of an SM's threads are resident: " + format_g(d.profile.metric("blocks_per_sm")) +
                   " blocks of " + format_g(d.profile.metric("block_threads")) + " threads, " + limiter + " (" +
                   format_g(d.profile.metric("registers")) + " registers a thread, " +
                   format_bytes(d.profile.metric("block_shared_bytes")) + " of shared memory a block)",
               1 / occupancy);
}

std::optional<Bottleneck> tail_wave(const Diagnosis& d) {
  const double idle = d.profile.metric("idle_share");
  if (!measured(d) || !(idle >= kMinorShare)) {
    return std::nullopt;
  }
  return found(d, "tail-wave",
               format_g(d.profile.metric("blocks")) + " blocks are " + format_g(d.profile.metric("waves"), 3) +
                   " rounds of what the SMs hold; if each takes as long, they stand idle for " + percent(idle) +
                   " of the time",
               amdahl(idle, kInfinity));
}

}  // namespace apo
