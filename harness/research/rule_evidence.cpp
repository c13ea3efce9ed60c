// harness/research/rule_evidence.cpp - the arithmetic behind the rules' evidence.
#include "harness/research/rule_evidence.h"

#include <algorithm>
#include <cmath>

#include "harness/core/text.h"
#include "harness/research/catalogue.h"

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

std::optional<Bottleneck> found(const Diagnosis& d, const char* name, const std::string& evidence, double bound) {
  if (!std::isfinite(bound) && !std::isfinite(floor_bound(d.profile))) {
    return std::nullopt;  // nothing bounds it, so nothing can be said
  }
  return Bottleneck{
      .name = name, .evidence = evidence, .bound = std::max(1.0, std::min(bound, floor_bound(d.profile)))};
}

std::string percent(double share) {
  return format_g(100 * share, 2) + " %";
}
std::string per_second(double value, const char* unit) {
  return format_si(value, unit);
}

// The backward in the seeds' formulation evaluates each tanh in the replay and once more in the reverse phase; a
// variant that carries S_t does not. A counter, where there is one, knows better.
double executed_special(const Diagnosis& d) {
  const double counted = d.profile.metric("special_executed");
  if (std::isfinite(counted)) {
    return counted;
  }
  const bool recomputes = d.incumbent.family == "e88_backward" &&
                          !any_attacks(d.incumbent.techniques, d.incumbent.target, "recomputed-special-functions");
  return (recomputes ? 2.0 : 1.0) * d.work.special_functions;
}

double libm_share(const Diagnosis& d) {
  if (!measured(d) || any_attacks(d.incumbent.techniques, d.incumbent.target, "libm-special-functions")) {
    return 0;
  }
  const double share = share_of_time(d, 1e9 * executed_special(d) / rate(d, "libm_tanh"));
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
