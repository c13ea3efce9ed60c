// tests/research/fixtures.h - a machine with round numbers, and short ways to say variants, results and lessons.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "harness/research/diagnosis/rules.h"
#include "harness/research/inputs.h"

namespace apo::fixtures {

inline Roof roof(const std::string& name, double value) {
  return {.name = name, .value = value, .lower = value, .upper = value, .samples = 9};
}

inline std::vector<Roof> round_roofs() {
  return {roof("fp32_fma_1", 1e11),    roof("fp32_scalar_1", 1e10), roof("special_tanh_1", 5e9),
          roof("libm_tanh_1", 1e8),    roof("llc_copy_1", 1e10),    roof("memory_copy_1", 5e9),
          roof("thread_start", 50e-6), roof("page_fault", 1e-6),    roof("call_overhead", 20e-9)};
}

// A call of `ms` on one thread of a machine with two cores; its floor is a hundredth of the time unless said otherwise.
inline Diagnosis diagnosis(double ms, Work work = {}) {
  Diagnosis d;
  d.profile.time_ns = 1e6 * ms;
  d.profile.workload = "w";
  d.profile.roofs = round_roofs();
  d.profile.floor_fraction = 0.01;
  d.profile.floor_ns = 0.01 * d.profile.time_ns;
  d.profile.floor_roof = "fp32_fma";
  d.profile.metrics = {{.name = "threads", .value = 1}};
  d.work = work;
  d.incumbent.family = "toy";
  d.incumbent.name = "simple";
  d.incumbent.techniques = {"segment-replay"};
  d.incumbent.source_hash = "hash-simple";
  d.l2_bytes = 1 << 20;
  return d;
}

inline void set_metric(Diagnosis& d, const std::string& name, double value) {
  for (Metric& metric : d.profile.metrics) {
    if (metric.name == name) {
      metric.value = value;
      return;
    }
  }
  d.profile.metrics.push_back({.name = name, .value = value});
}

inline Diagnosis with(Diagnosis d, const std::vector<std::pair<std::string, double>>& metrics) {
  for (const auto& [name, value] : metrics) {
    set_metric(d, name, value);
  }
  return d;
}

inline Diagnosis by(Diagnosis d, const std::string& technique) {
  d.incumbent.techniques = {technique};
  return d;
}

// What a rule says of a profile: the bound worked out by hand, and a part of its evidence. Without a bound it is
// silent.
struct RuleCase {
  const char* why = "";
  Rule* rule = nullptr;
  Diagnosis profile;
  double bound = 0;
  const char* evidence = "";
};

inline void expect_rules(const std::vector<RuleCase>& cases) {
  for (const RuleCase& one : cases) {
    const auto found = one.rule(one.profile);
    ASSERT_EQ(found.has_value(), one.bound > 0) << one.why << (found ? ": " + found->evidence : "");
    if (found) {
      EXPECT_NEAR(found->bound, one.bound, 1e-9) << one.why;
      EXPECT_NE(found->evidence.find(one.evidence), std::string::npos) << one.why << ": " << found->evidence;
    }
  }
}

inline RegisteredVariant variant(const std::string& name, const std::string& technique, double low = 0, double high = 0,
                                 const std::string& parent = "toy/simple") {
  RegisteredVariant registered;
  registered.variant.family = "toy";
  registered.variant.name = name;
  registered.variant.techniques = {technique};
  registered.variant.parent = parent;
  registered.variant.source_hash = "hash-" + name;
  if (low > 0) {
    registered.variant.prediction = Prediction{.low = low, .high = high};
  }
  return registered;
}

// One experiment of toy/<candidate> against toy/<incumbent>; the effect is given as a speed-up with a 1 % half-width.
inline PastResult result(std::int64_t id, const std::string& candidate, const std::string& incumbent, double speedup,
                         Verdict verdict) {
  PastResult past;
  past.experiment = id;
  past.machine = "machine";
  past.workload_class = "class";
  past.candidate = {.variant = "toy/" + candidate, .settings = {}};
  past.incumbent = {.variant = "toy/" + incumbent, .settings = {}};
  past.candidate_source_hash = "hash-" + candidate;
  past.incumbent_source_hash = "hash-" + incumbent;
  past.verdict = verdict;
  past.timed = true;
  past.effect = std::log(speedup);
  past.lower = past.effect - 0.01;
  past.upper = past.effect + 0.01;
  return past;
}

// A scan of toy/<candidate> beside toy/<incumbent>.
inline Scanned scan(const std::string& candidate, const std::string& incumbent, double speedup) {
  return {
      .configuration = {.variant = "toy/" + candidate, .settings = {}},
      .source_hash = "hash-" + candidate,
      .incumbent = {.variant = "toy/" + incumbent, .settings = {}},
      .incumbent_source_hash = "hash-" + incumbent,
      .times = {.pairs = 9, .time_ns = 1e6 / speedup, .incumbent_ns = 1e6, .effect = std::log(speedup), .sd = 0.01}};
}

inline Lesson lesson(const PastResult& past) {
  Lesson lesson;
  lesson.id = past.experiment;
  lesson.experiment = past.experiment;
  lesson.workload_class = past.workload_class;
  lesson.machine = past.machine;
  lesson.configuration = past.candidate;
  lesson.source_hash = past.candidate_source_hash;
  lesson.incumbent = past.incumbent;
  lesson.incumbent_source_hash = past.incumbent_source_hash;
  lesson.verdict = past.verdict;
  lesson.speedup = std::exp(past.effect);
  return lesson;
}

// toy/simple is the incumbent: 10 ms, 0.9 M special functions that libm would do in 9 ms, little else.
inline ResearchInputs inputs(std::vector<RegisteredVariant> variants) {
  ResearchInputs in;
  in.diagnosis = diagnosis(10, {.flops = 1e6, .bytes = 1e5, .special_functions = 9e5});
  in.incumbent = {.variant = "toy/simple", .settings = {}};
  in.machine = "machine";
  in.workload_class = "class";
  in.variants = std::move(variants);
  in.variants.push_back({.variant = in.diagnosis.incumbent});
  return in;
}

}  // namespace apo::fixtures
