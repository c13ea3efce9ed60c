// harness/profile/host/host_profile.cpp - rates, scaling, floor and roofline position from samples, work and roofs.
#include "harness/profile/host/host_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "harness/profile/roofs/roofs.h"
#include "harness/profile/summary.h"

namespace apo {
namespace {

struct TimedThreads {
  int threads = 1;
  SampleSummary summary;
};

// Sorts by threads and drops counts without a usable sample.
std::vector<TimedThreads> summarise_times(const std::vector<CallTimes>& times) {
  std::vector<TimedThreads> timed;
  for (const CallTimes& calls : times) {
    std::vector<double> positive = calls.ns;
    std::erase_if(positive, [](double ns) { return !(ns > 0); });
    const SampleSummary summary = summarise(positive);
    if (summary.count > 0 && calls.threads >= 1) {
      timed.push_back({.threads = calls.threads, .summary = summary});
    }
  }
  std::sort(timed.begin(), timed.end(), [](const auto& a, const auto& b) { return a.threads < b.threads; });
  return timed;
}

// NaN when the roof is absent or not positive.
double roof_value(const std::vector<Roof>& roofs, const std::string& name) {
  const Roof* roof = find_roof(roofs, name);
  return roof != nullptr && roof->value > 0 ? roof->value : std::nan("");
}

struct Floor {
  double ns = 0;
  std::string roof;
};

// The shortest time that `work` can take; NaN without a usable roof.
double shortest_ns(double work, const Roof* roof) {
  const double ceiling = roof != nullptr ? std::max(roof->value, roof->upper) : 0;
  return ceiling > 0 && work >= 0 ? 1e9 * work / ceiling : std::nan("");
}

// The named copy roof; where that level was not measured, a faster one, so that the floor is not too high.
const Roof* copy_roof(const ProfileInputs& inputs, int threads) {
  const std::string wanted = copy_roof_for(inputs.work.bytes, threads, inputs.l2_bytes, inputs.l3_bytes);
  for (const std::string& name : {wanted, std::string("l2_copy"), std::string("memory_copy")}) {
    if (const Roof* roof = find_roof(inputs.roofs, name)) {
      return roof;
    }
  }
  return nullptr;
}

// Arithmetic in vectors; matrices only where the call proves that it uses them.
const Roof* flop_roof(const ProfileInputs& inputs, double time_ns) {
  const Roof* vectors = find_roof(inputs.roofs, "fp32_fma");
  const Roof* tensors = find_roof(inputs.roofs, "tensor_bf16");
  return tensors != nullptr && time_ns > 0 && shortest_ns(inputs.work.flops, vectors) > time_ns ? tensors : vectors;
}

// The chain of dependent operations at the lower ends of their latencies; NaN where those were not measured.
double serial_ns(const ProfileInputs& inputs) {
  const Roof* flop = find_roof(inputs.roofs, "fma_latency");
  const Roof* special = find_roof(inputs.roofs, "special_latency");
  if (flop == nullptr || special == nullptr || !(inputs.work.serial_flops > 0)) {
    return std::nan("");
  }
  return 1e9 * (inputs.work.serial_flops * flop->lower + inputs.work.serial_special_functions * special->lower);
}

Floor add_floors(MetricList& list, const ProfileInputs& inputs, int threads, double time_ns) {
  struct Part {
    std::string name;
    double ns;
    std::string roof;
  };
  const auto part = [](const char* name, double work, const Roof* roof) {
    return Part{name, shortest_ns(work, roof), roof != nullptr ? roof->name : ""};
  };
  Floor floor;
  for (const Part& one :
       {part("flops", inputs.work.flops, flop_roof(inputs, time_ns)),
        Part{"special", shortest_ns(inputs.work.special_functions, find_roof(inputs.roofs, "special_tanh")),
             "special functions"},  // the work counts tanh, exp, rsqrt, ... as one
        part("bytes", inputs.work.bytes, copy_roof(inputs, threads)),
        Part{"serial", serial_ns(inputs), "serial chain"}}) {
    list.add("floor_" + one.name, one.ns, "ns", 1);
    list.add("busy_" + one.name, time_ns > 0 ? one.ns / time_ns : std::nan(""), "ratio", 1);
    if (one.ns > floor.ns) {
      floor = {.ns = one.ns, .roof = one.roof};
    }
  }
  return floor;
}

void add_spread(MetricList& list, const TimedThreads& timed, Target target) {
  const SampleSummary& summary = timed.summary;
  list.add_time("time", summary);
  list.add("time_mad_sigma", summary.mad_sigma, "ns", summary.count);
  list.add("time_p10", summary.p10, "ns", summary.count);
  list.add("time_p90", summary.p90, "ns", summary.count);
  list.add("spread", summary.mad_sigma / summary.median, "ratio", summary.count);
  if (target == Target::host) {
    list.add("threads", timed.threads, "threads", 1);
  }
}

void add_rates(MetricList& list, const ProfileInputs& inputs, const TimedThreads& timed) {
  const Work& work = inputs.work;
  const double ns = timed.summary.median;
  const int n = timed.summary.count;
  list.add("gflops", work.flops / ns, "Gflop/s", n);
  list.add("gb_per_s", work.bytes / ns, "Gbyte/s", n);
  list.add("special_per_s", 1e9 * work.special_functions / ns, "op/s", n);
  for (const NamedCount& special : work.special_by_name) {
    list.add(std::string(kSpecialCount) + special.name, special.count, "op", 1);
  }
  const double intensity = work.flops / work.bytes;
  list.add("intensity", intensity, "flop/byte", n);
  const Roof* copy = copy_roof(inputs, timed.threads);
  const double attainable =
      std::min(roof_value(inputs.roofs, "fp32_fma"), copy != nullptr ? intensity * copy->value : std::nan(""));
  if (work.flops > 0) {
    list.add("roofline", attainable, "flop/s", n);
    list.add("roofline_fraction", 1e9 * work.flops / ns / attainable, "ratio", n);
  }
}

// Amdahl: 1 / speedup = s + (1 - s) / n, solved for s.
double serial_fraction(double speedup, int threads) {
  const double n = threads;
  return std::clamp((n / speedup - 1) / (n - 1), 0.0, 1.0);
}

void add_scaling(MetricList& list, const std::vector<TimedThreads>& timed) {
  for (const TimedThreads& one : timed) {
    list.add_time(fmt::format("time_t{}", one.threads), one.summary);
  }
  const TimedThreads& first = timed.front();
  const TimedThreads& last = timed.back();
  if (first.threads == 1 && last.threads > 1) {
    const double speedup = first.summary.median / last.summary.median;
    list.add("scaling", speedup, "ratio", last.summary.count);
    list.add("serial_fraction", serial_fraction(speedup, last.threads), "ratio", last.summary.count);
  }
}

double counter_per_call(const ProfileInputs& inputs, const std::string& name) {
  for (const Metric& counter : inputs.counters) {
    if (counter.name == name && inputs.counted_calls > 0) {
      return counter.value / inputs.counted_calls;
    }
  }
  return std::nan("");
}

void add_counters(MetricList& list, const ProfileInputs& inputs) {
  for (const Metric& counter : inputs.counters) {
    list.add(counter.name, counter_per_call(inputs, counter.name), counter.unit, inputs.counted_calls);
  }
  const double instructions = counter_per_call(inputs, "instructions");
  list.add("ipc", instructions / counter_per_call(inputs, "cycles"), "ratio", inputs.counted_calls);
  list.add("instructions_per_flop", instructions / inputs.work.flops, "ratio", inputs.counted_calls);
}

}  // namespace

std::string copy_roof_for(double bytes, int threads, std::int64_t l2_bytes, std::int64_t l3_bytes) {
  if (bytes <= static_cast<double>(l2_bytes) * std::max(1, threads)) {
    return "l2_copy";
  }
  return bytes <= static_cast<double>(l3_bytes) ? "llc_copy" : "memory_copy";
}

ProfilePlan plan_host_profile(int cores, double call_ns, double budget_s) {
  ProfilePlan plan;
  for (int threads = 1; threads < cores; threads *= 2) {
    plan.thread_counts.push_back(threads);
  }
  plan.thread_counts.push_back(std::max(1, cores));
  const double call_s = call_ns > 0 ? 1e-9 * call_ns : 1e-3;
  // With fewer threads a call can take up to cores / threads times as long.
  double seconds_per_call_of_each = 0;
  for (const int threads : plan.thread_counts) {
    seconds_per_call_of_each += call_s * std::max(1, cores) / threads;
  }
  const double calls = budget_s / (seconds_per_call_of_each + call_s / 3);
  plan.timed_calls = static_cast<int>(std::clamp(std::isfinite(calls) ? calls : 5.0, 5.0, 60.0));
  plan.counted_calls = std::max(3, plan.timed_calls / 3);
  plan.seconds = seconds_per_call_of_each * (plan.timed_calls + plan.warmup_calls) + call_s * plan.counted_calls;
  return plan;
}

Profile assemble_profile(const ProfileInputs& inputs) {
  Profile profile{.configuration = inputs.configuration,
                  .workload = inputs.workload,
                  .rung = inputs.rung,
                  .missing = inputs.missing,
                  .roofs = inputs.roofs};
  profile.conditions = inputs.conditions;
  const std::vector<TimedThreads> timed = summarise_times(inputs.times);
  const int threads = timed.empty() ? 1 : timed.back().threads;
  MetricList list(profile.metrics);
  if (!timed.empty()) {
    add_spread(list, timed.back(), inputs.target);
    add_rates(list, inputs, timed.back());
    if (inputs.target == Target::host) {
      add_scaling(list, timed);
    }
    profile.time_ns = timed.back().summary.median;
  }
  add_counters(list, inputs);
  const Floor floor = add_floors(list, inputs, threads, profile.time_ns);
  profile.floor_ns = floor.ns;
  profile.floor_roof = floor.roof;
  profile.floor_fraction = profile.time_ns > 0 ? floor.ns / profile.time_ns : 0;
  return profile;
}

double physical_floor_ns(const Work& work, const std::vector<Roof>& roofs) {
  double flops_per_s = 0;
  double bytes_per_s = 0;
  for (const Roof& roof : roofs) {
    if (roof.name == "fp32_fma") {
      flops_per_s = std::max(flops_per_s, roof.upper);
    } else if (roof.name == "tensor_bf16") {
      flops_per_s = std::max(flops_per_s, kTensorSlack * roof.upper);
    } else if (roof.name == "l2_copy" || roof.name == "llc_copy" || roof.name == "memory_copy") {
      bytes_per_s = std::max(bytes_per_s, roof.upper);
    }
  }
  const double flop_ns = flops_per_s > 0 ? 1e9 * work.flops / flops_per_s : 0;
  const double byte_ns = bytes_per_s > 0 ? 1e9 * work.bytes / bytes_per_s : 0;
  return kPhysicalSlack * std::max(flop_ns, byte_ns);
}

}  // namespace apo
