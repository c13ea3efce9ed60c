// harness/research/diagnosis/rule_evidence.cpp - computes the numbers of the rules' evidence.
#include "harness/research/diagnosis/rule_evidence.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "harness/core/techniques/techniques.h"
#include "harness/core/text.h"

namespace apo::diagnosis {

double roof_value(const Profile& profile, const std::string& name) {
  for (const Roof& roof : profile.roofs) {
    if (roof.name == name && roof.value > 0) {
      return roof.value;
    }
  }
  return std::nan("");
}

double effective_threads(const Diagnosis& d) {
  const double scaling = d.profile.metric("scaling");
  const double threads = d.profile.metric("threads");
  return scaling > 1 && threads > 1 ? std::min(scaling, threads) : 1.0;
}

double rate(const Diagnosis& d, const std::string& roof) {
  return d.incumbent.target == Target::cuda ? roof_value(d.profile, roof)
                                            : roof_value(d.profile, roof + "_1") * effective_threads(d);
}

bool measured(const Diagnosis& d) {
  return d.profile.time_ns > 0 && std::isfinite(d.profile.time_ns);
}

double share_of_time(const Diagnosis& d, double ns) {
  return ns / d.profile.time_ns;
}

std::optional<Bottleneck> found(const Diagnosis& d, bool fires, const char* name, const std::string& evidence,
                                double bound) {
  if (!fires || (!std::isfinite(bound) && !std::isfinite(floor_bound(d.profile)))) {
    return std::nullopt;  // nothing bounds it, so nothing can be said
  }
  return Bottleneck{
      .name = name, .evidence = evidence, .bound = std::max(1.0, std::min(bound, floor_bound(d.profile)))};
}

namespace {

constexpr const char* kUnitsOfMemory[] = {"dram_utilisation", "pipe_lsu"};
constexpr const char* kUnitsOfShared[] = {"pipe_shared", "pipe_lsu", "pipe_special", "pipe_constant"};
constexpr const char* kPipes[] = {"pipe_fp32", "pipe_tensor", "pipe_fp64", "pipe_alu"};

template <std::size_t n>
double largest(const Diagnosis& d, const char* const (&metrics)[n]) {
  double most = 0;
  for (const char* metric : metrics) {
    const double share = d.profile.metric(metric);
    most = std::isfinite(share) ? std::max(most, std::min(share, 1.0)) : most;
  }
  return most;
}

using Place = std::pair<std::string, int>;

// Other files are headers that the variant includes.
bool is_own(const std::string& file, int line) {
  return line > 0 && (file.ends_with(".cu") || file.ends_with(".py"));
}

bool contains(const std::vector<std::string>& list, const std::string& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

// A warp is sampled at the instruction behind the one that it has executed.
bool stands_behind(const std::string& stall) {
  return stall == "barrier" || stall == "membar" || stall == "sleeping";
}

std::optional<Place> largest_count(const Diagnosis& d, const std::string& what) {
  const LineCount* most = nullptr;
  for (const LineCount& one : d.profile.counts) {
    const bool counts = one.what == what && is_own(one.file, one.line);
    most = counts && (most == nullptr || one.count > most->count) ? &one : most;
  }
  return most == nullptr ? std::nullopt : std::optional(Place{most->file, most->line});
}

std::optional<Place> most_sampled(const Diagnosis& d, const Where& where) {
  std::map<Place, std::int64_t> lines;
  for (const StallSample& one : d.profile.stalls) {
    if (!where.states.empty() && !contains(where.states, one.stall)) {
      continue;
    }
    if (!where.opcodes.empty() && !contains(where.opcodes, one.opcode)) {
      continue;
    }
    const bool by_cause =
        (!where.opcodes.empty() || stands_behind(one.stall)) && is_own(one.cause_file, one.cause_line);
    if (by_cause) {
      lines[{one.cause_file, one.cause_line}] += one.samples;
    } else if (is_own(one.file, one.line)) {
      lines[{one.file, one.line}] += one.samples;
    }
  }
  const auto most =
      std::max_element(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == lines.end() ? std::nullopt : std::optional(most->first);
}

}  // namespace

std::optional<Bottleneck> at_line(const Diagnosis& d, std::optional<Bottleneck> bottleneck, const Where& where) {
  auto place = largest_count(d, where.count);
  place = place ? place : most_sampled(d, where);
  if (!place && !where.opcodes.empty()) {
    place = most_sampled(d, {.count = "", .states = where.states, .opcodes = {}});
  }
  if (bottleneck && place) {
    std::tie(bottleneck->file, bottleneck->line) = *place;
  }
  return bottleneck;
}

std::optional<Bottleneck> as(BottleneckKind kind, std::optional<Bottleneck> bottleneck) {
  if (bottleneck) {
    bottleneck->kind = kind;
  }
  return bottleneck;
}

std::optional<Bottleneck> cause(const Diagnosis& d, bool fires, const char* name, const std::string& evidence,
                                double bound, const Where& where) {
  return as(BottleneckKind::cause, at_line(d, found(d, fires, name, evidence, bound), where));
}

bool counted(const Diagnosis& d) {
  return d.incumbent.target == Target::cuda && measured(d);
}

double stall_share(const Diagnosis& d, const std::vector<std::string>& states) {
  double sum = 0;
  for (const std::string& state : states) {
    const double share = d.profile.metric("stall_" + state);
    sum += std::isfinite(share) ? share : 0;
  }
  return sum;
}

bool sampled(const Diagnosis& d) {
  return std::isfinite(d.profile.metric("stall_selected"));
}

double l2_bytes_moved(const Diagnosis& d) {
  constexpr double kSectorBytes = 32;
  return kSectorBytes *
         (d.profile.metric("lts__t_sectors_op_read.sum") + d.profile.metric("lts__t_sectors_op_write.sum"));
}

double l2_share(const Diagnosis& d) {
  const double of_roof = share_of_time(d, 1e9 * l2_bytes_moved(d) / roof_value(d.profile, "l2_copy"));
  return std::min(1.0, std::fmax(0.0, std::fmax(d.profile.metric("l2_utilisation"), of_roof)));
}

double memory_units(const Diagnosis& d) {
  return std::max(largest(d, kUnitsOfMemory), l2_share(d));
}

double shared_units(const Diagnosis& d) {
  const double shuffles = share_of_time(d, 1e9 * d.profile.metric("shuffled_lanes") / roof_value(d.profile, "shuffle"));
  return std::max(largest(d, kUnitsOfShared), std::isfinite(shuffles) ? std::min(shuffles, 1.0) : 0.0);
}

double busiest_unit(const Diagnosis& d) {
  return std::max({memory_units(d), shared_units(d), largest(d, kPipes)});
}

double at_most(double bound, double share) {
  return share > 0 ? std::min(bound, 1 / share) : bound;
}

// The backward in the E88 journal's formulation evaluates each tanh in the replay and once more in the reverse phase; a
// variant that carries S_t does not. A counter, if there is one, takes precedence.
double executed_special(const Diagnosis& d) {
  const double counted = d.profile.metric("special_executed");
  if (std::isfinite(counted)) {
    return counted;
  }
  const bool recomputes = d.incumbent.family == "e88_backward" &&
                          !any_attacks(d.incumbent.techniques, d.incumbent.target, "recomputed-special-functions");
  return (recomputes ? 2.0 : 1.0) * d.work.special_functions;
}

namespace {

// The share of the special functions for which a library takes much longer than the special-function unit. On a GPU
// these few are some instructions round one of the unit; a family without their names may call others.
double share_of_long_ones(const Diagnosis& d) {
  if (d.incumbent.target != Target::cuda || !(d.work.special_functions > 0)) {
    return 1;
  }
  double quick = 0;
  for (const char* name : {"exp", "exp2", "rsqrt", "sqrt"}) {
    const double count = d.profile.metric(std::string(kSpecialCount) + name);
    quick += std::isfinite(count) ? count : 0;
  }
  return std::max(0.0, 1 - quick / d.work.special_functions);
}

// On a host an exponential of the library takes a fraction of its tanh; older roofs lack that measurement.
double share_of_exp(const Diagnosis& d) {
  const double count = d.profile.metric(std::string(kSpecialCount) + "exp");
  const bool known = std::isfinite(count) && d.work.special_functions > 0 && std::isfinite(rate(d, "libm_exp")) &&
                     rate(d, "libm_exp") > 0;
  return known && d.incumbent.target == Target::host ? std::min(1.0, count / d.work.special_functions) : 0;
}

}  // namespace

double libm_rate(const Diagnosis& d) {
  const double exp = share_of_exp(d);
  return 1 / ((1 - exp) / rate(d, "libm_tanh") + (exp > 0 ? exp / rate(d, "libm_exp") : 0));
}

double libm_share(const Diagnosis& d) {
  if (!measured(d) || any_attacks(d.incumbent.techniques, d.incumbent.target, "libm-special-functions")) {
    return 0;
  }
  const double share = share_of_time(d, 1e9 * share_of_long_ones(d) * executed_special(d) / libm_rate(d));
  // 1.15: libm's rate varies that much with its arguments.
  return share <= 1.15 ? std::min(share, 1.0) : 0;
}

double special_ns(const Diagnosis& d) {
  const double libm = libm_share(d);
  if (libm >= kMinorShare) {
    return libm * d.profile.time_ns;
  }
  const double ns = 1e9 * executed_special(d) / rate(d, "special_tanh");
  return std::isfinite(ns) ? ns : 0;
}

}  // namespace apo::diagnosis
