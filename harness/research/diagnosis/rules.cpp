// harness/research/diagnosis/rules.cpp - the laws that bound gains, the rules for a host, the order of what rules find.
#include "harness/research/diagnosis/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/core/techniques/techniques.h"
#include "harness/core/text.h"
#include "harness/research/diagnosis/rule_evidence.h"

namespace apo {
namespace {

using namespace diagnosis;

// A bound that a comparison could not tell from 1 is no bottleneck.
constexpr double kLeastBound = 1.005;
// Of the floating-point instructions in the innermost loops. A vectorised loop has a scalar twin beside it for pointers
// that may overlap.
constexpr double kVectorised = 0.25;
constexpr double kNearFloor = 0.7;
constexpr double kAtTheRoof = 0.85;

// On a GPU, where units and warps are observed, a cause comes before its symptoms; a cause that is worth less than an
// experiment counts as a limit. A host's rules are all of one kind.
int rank(const Bottleneck& bottleneck) {
  switch (bottleneck.kind) {
    case BottleneckKind::cause:
      return bottleneck.bound >= amdahl(kMinorShare, kInfinity) ? 0 : 1;
    case BottleneckKind::limit:
      return 1;
    case BottleneckKind::remainder:
    case BottleneckKind::unknown:
      return 2;
  }
  return 2;
}

double bound_of(double floor_fraction) {
  constexpr double kBeaten = 1.1;  // more than the scatter of roofs and calls
  const bool known = floor_fraction > 0 && floor_fraction <= kBeaten;
  return known ? std::max(1.0, 1 / floor_fraction) : kInfinity;
}

}  // namespace

double floor_bound(const Profile& profile) {
  return bound_of(profile.floor_fraction);
}

double floor_bound_on_tensor_cores(const Profile& profile) {
  if (profile.floor_roof != "fp32_fma") {
    return floor_bound(profile);
  }
  const auto rate = [&](const char* name) {
    const auto roof = std::ranges::find(profile.roofs, name, &Roof::name);
    return roof == profile.roofs.end() ? std::nan("") : roof->value;
  };
  double floor_ns = profile.floor_ns * rate("fp32_fma") / rate("tensor_bf16");
  for (const char* other : {"floor_special", "floor_bytes", "floor_serial"}) {
    floor_ns = std::fmax(floor_ns, profile.metric(other));  // the larger one; what was not measured is NaN
  }
  return bound_of(floor_ns / profile.time_ns);
}

double amdahl(double share, double speedup) {
  // A share of 1 that vanished would leave no time at all: 1000x then stands for "everything".
  const double most = std::isfinite(speedup) ? 1.0 : 0.999;
  const double part = std::clamp(std::isfinite(share) ? share : 0.0, 0.0, most);
  return 1 / ((1 - part) + part / speedup);
}

// Slow arithmetic alone is no proof: it may wait for memory in vectors.
std::optional<Bottleneck> not_vectorised(const Diagnosis& d) {
  const double vectors = d.profile.metric("vector_share");
  const double arithmetic_ns = d.profile.time_ns - special_ns(d);
  const double share = share_of_time(d, arithmetic_ns);
  const double achieved = 1e9 * d.work.flops / arithmetic_ns;
  return found(
      d,
      measured(d) && d.work.flops > 0 && share >= kMinorShare && achieved <= rate(d, "fp32_scalar") &&
          vectors < kVectorised,
      "not-vectorised",
      fmt::format("{} of the floating-point instructions in the innermost loops are vector ones, and they reach "
                  "{} outside the special functions; scalar code reaches {}, vectors {}; {} of the time",
                  format_share(vectors), format_si(achieved, "flop/s"), format_si(rate(d, "fp32_scalar"), "flop/s"),
                  format_si(rate(d, "fp32_fma"), "flop/s"), format_share(share)),
      amdahl(share, rate(d, "fp32_fma") / achieved));
}

std::optional<Bottleneck> libm_special_functions(const Diagnosis& d) {
  const double share = libm_share(d);
  return found(d, share >= kMinorShare, "libm-special-functions",
               format_si(executed_special(d), "") + " special functions a call take " + format_share(share) +
                   " of the time at libm's rate (" + format_si(libm_rate(d), "op/s") +
                   "); the arithmetic units reach " + format_si(rate(d, "special_tanh"), "op/s"),
               amdahl(share, rate(d, "special_tanh") / libm_rate(d)));
}

std::optional<Bottleneck> recomputed_special_functions(const Diagnosis& d) {
  const double executed = executed_special(d);
  const double redundant = 1 - d.work.special_functions / executed;
  const double share = share_of_time(d, special_ns(d)) * redundant;
  return found(d, measured(d) && executed > 1.2 * d.work.special_functions && share >= kMinorShare,
               "recomputed-special-functions",
               format_g(executed / d.work.special_functions, 2) +
                   " special functions run for each compulsory one; the "
                   "repeated ones are " +
                   format_share(share) + " of the time",
               amdahl(share, kInfinity));
}

std::optional<Bottleneck> idle_cores(const Diagnosis& d) {
  const double threads = d.profile.metric("threads");
  const double scaling = d.profile.metric("scaling");
  // Units are indivisible: 3 on 2 cores take 2 turns, so 1.5x is the best.
  const auto units = static_cast<double>(d.units);
  const double best = units / std::ceil(units / threads);
  const double bound = best / std::max(1.0, scaling);  // threads that only slow a call down are one core's work
  // A pool of threads wakes sooner than threads start, so that this is no part of the bound.
  const double start_ns = 1e9 * roof_value(d.profile, "thread_start");
  const bool matters = share_of_time(d, start_ns) >= kMinorShare;
  return found(d, threads >= 2 && scaling > 0 && d.units >= 2 && bound >= 1.25, "idle-cores",
               fmt::format("{} at {} threads over one, and {} independent units allow {}{}", format_ratio(scaling),
                           format_g(threads), d.units, format_ratio(best),
                           matters ? ", less what starting threads takes, up to " + format_ns(start_ns) : ""),
               bound);
}

std::optional<Bottleneck> thread_overhead(const Diagnosis& d) {
  const double scaling = d.profile.metric("scaling");
  const bool threaded =
      std::fabs(scaling - 1) > 0.2 || any_attacks(d.incumbent.techniques, d.incumbent.target, "idle-cores");
  const double start_ns = 1e9 * roof_value(d.profile, "thread_start");
  const double share = share_of_time(d, start_ns);
  // A call that is shorter than the start of threads starts none, however it scaled on a busy machine.
  return found(d, measured(d) && threaded && share >= kMinorShare && share <= 1.2, "thread-overhead",
               "starting the threads takes " + format_ns(start_ns) + " of " + format_ns(d.profile.time_ns) + " (" +
                   format_share(std::min(share, 1.0)) + ")",
               amdahl(share, kInfinity));
}

std::optional<Bottleneck> memory_bound(const Diagnosis& d) {
  const double bytes_ns = d.profile.metric("floor_bytes");
  const double share = share_of_time(d, bytes_ns);
  return found(d, measured(d) && share >= 0.5, "memory-bound",
               "the compulsory " + format_bytes(d.work.bytes) + " take " + format_ns(bytes_ns) +
                   " at the measured copy rate, " + format_share(share) + " of the time",
               1 / share);
}

std::optional<Bottleneck> latency_bound(const Diagnosis& d) {
  const double ipc = d.profile.metric("ipc");
  const double bytes_share = share_of_time(d, d.profile.metric("floor_bytes"));
  return found(d, measured(d) && ipc < 1 && bytes_share < 0.5, "latency-bound",
               format_g(ipc, 2) + " instructions a cycle, and copying explains only " + format_share(bytes_share) +
                   " of the time: the code waits for its own results",
               kInfinity);
}

// A scalar multiply-add is half an instruction a flop; loads and stores of its operands may triple that.
std::optional<Bottleneck> instruction_overhead(const Diagnosis& d) {
  const double per_flop = d.profile.metric("instructions_per_flop");
  return found(d, per_flop > 2, "instruction-overhead",
               format_g(per_flop, 2) + " instructions a flop; a scalar multiply-add needs 0.5", per_flop / 0.5);
}

std::optional<Bottleneck> per_step_overhead(const Diagnosis& d) {
  const bool cuda = d.incumbent.target == Target::cuda;
  const bool vectors = cuda || d.profile.metric("vector_share") >= kVectorised;
  const double arithmetic_ns = 1e9 * d.work.flops / rate(d, vectors ? "fp32_fma" : "fp32_scalar");
  const double bytes_ns = d.profile.metric("floor_bytes");
  const double explained = arithmetic_ns + special_ns(d) + (std::isfinite(bytes_ns) ? bytes_ns : 0);
  const double share = share_of_time(d, explained);
  // A family that counts bytes alone does not describe the arithmetic of its kernels.
  const bool counted = d.work.flops + d.work.special_functions > 0;
  const auto bottleneck =
      found(d, measured(d) && counted && share > 0 && share < 0.7, "per-step-overhead",
            std::string(vectors ? "arithmetic" : "scalar arithmetic") + ", special functions and copies explain " +
                format_ns(explained) + " of " + format_ns(d.profile.time_ns) + " (" + format_share(share) +
                "); the rest is conversion, addressing, calls or waiting",
            1 / share);
  return cuda ? as(BottleneckKind::remainder, bottleneck) : bottleneck;
}

std::optional<Bottleneck> segment_cache_traffic(const Diagnosis& d) {
  const double llc = rate(d, "llc_copy");
  const double copy_rate = std::isfinite(llc) ? llc : rate(d, "memory_copy");
  // The scratch is written once and read once at least; how often a segment's part is used again is not known here.
  const double traffic_ns = 1e9 * 2 * d.scratch_bytes / copy_rate;
  const double share = share_of_time(d, traffic_ns);
  return found(d,
               measured(d) && d.scratch_bytes > static_cast<double>(d.l2_bytes) * effective_threads(d) &&
                   d.l2_bytes > 0 && share >= kMinorShare,
               "segment-cache-traffic",
               format_bytes(d.scratch_bytes) + " of scratch leave the L2 (" +
                   format_bytes(static_cast<double>(d.l2_bytes)) +
                   (d.incumbent.target == Target::cuda ? "" : " a core") + "); writing and reading them once takes " +
                   format_ns(traffic_ns) + ", " + format_share(std::min(share, 1.0)) + " of the time",
               amdahl(share, kInfinity));
}

std::optional<Bottleneck> launch_overhead(const Diagnosis& d) {
  const bool cuda = d.incumbent.target == Target::cuda;
  const double each_ns = 1e9 * roof_value(d.profile, cuda ? "launch_latency" : "call_overhead");
  const double launches = std::max<double>(1, static_cast<double>(d.incumbent.launches.size()));
  const double share = share_of_time(d, each_ns * launches);
  const auto bottleneck =
      found(d, measured(d) && share >= kMinorShare, "launch-overhead",
            std::string(cuda ? "an empty launch takes " : "an empty call takes ") + format_ns(each_ns) +
                (launches > 1 ? ", " + format_g(launches) + " of them " : ", ") + format_share(std::min(share, 1.0)) +
                " of " + format_ns(d.profile.time_ns),
            amdahl(share, kInfinity));
  return cuda ? as(BottleneckKind::cause, bottleneck) : bottleneck;
}

std::optional<Bottleneck> page_faults(const Diagnosis& d) {
  const double faults = d.profile.metric("page_faults");
  const double share = share_of_time(d, 1e9 * faults * roof_value(d.profile, "page_fault"));
  return found(d, measured(d) && share >= 0.05, "page-faults",
               format_g(faults) + " page faults a call, " + format_share(std::min(share, 1.0)) +
                   " of the time at this machine's rate: memory is mapped anew in each call",
               amdahl(share, kInfinity));
}

std::optional<Bottleneck> near_floor(const Diagnosis& d) {
  return found(d, measured(d) && d.profile.floor_fraction >= kNearFloor, "near-floor",
               format_share(d.profile.floor_fraction) + " of the " + d.profile.floor_roof + " roof: little is left",
               1 / d.profile.floor_fraction);
}

std::vector<Bottleneck> diagnose(const Diagnosis& diagnosis) {
  // Of two with the same bound the earlier one comes first: what the work itself needs, then units, then waits.
  static constexpr Rule* kRules[] = {
      not_vectorised, libm_special_functions, recomputed_special_functions, idle_cores, thread_overhead, memory_bound,
      latency_bound, instruction_overhead, per_step_overhead, segment_cache_traffic, launch_overhead, page_faults,
      fp32_bound, special_function_bound, near_floor,
      // causes on a GPU
      uncoalesced_access, excess_dram_traffic, bank_conflicts, register_spills, divergent_branches, idle_lanes, atomics,
      double_precision, integer_arithmetic, constant_serialisation, instruction_fetch_stalls, fence_stalls,
      sleeping_warps, uneven_warps, uneven_blocks, tail_wave, low_occupancy, tiny_blocks,
      // its units
      dram_bound, l2_bound, shared_bandwidth, special_function_pipe, fp32_pipe, tensor_pipe, shuffle_bound, issue_bound,
      // its warps' states
      barrier_stalls, memory_latency_stalls, shared_memory_stalls, unused_occupancy, waiting_steps};
  std::vector<Bottleneck> bottlenecks;
  for (Rule* const rule : kRules) {
    if (auto bottleneck = rule(diagnosis); bottleneck && bottleneck->bound >= kLeastBound) {
      bottlenecks.push_back(std::move(*bottleneck));
    }
  }
  // At the roof no cause is worth more than the little that is left, and waits there are waits for the roof.
  const bool at_the_roof = measured(diagnosis) && diagnosis.profile.floor_fraction >= kAtTheRoof;
  for (Bottleneck& bottleneck : bottlenecks) {
    if (at_the_roof && bottleneck.kind == BottleneckKind::cause) {
      bottleneck.kind = BottleneckKind::limit;
    }
  }
  std::stable_sort(bottlenecks.begin(), bottlenecks.end(), [](const Bottleneck& a, const Bottleneck& b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.bound > b.bound;
  });
  return bottlenecks;
}

}  // namespace apo
