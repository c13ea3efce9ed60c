// tests/loop/cuda_research_test.cpp - what the research stage makes of the E88 variants on a GPU whose rates and times
// were recorded: no GPU is needed to ask.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/implement/variant/catalogue.h"
#include "harness/implement/variant/settings.h"
#include "harness/profile/host/host_profile.h"
#include "harness/research/research.h"

namespace apo {
namespace {

Roof roof(const char* name, double value) {
  return {.name = name, .value = value, .lower = value, .upper = value, .samples = 20};
}

// 16.0, 6.5, 121.8 and 31.8 lanes a cycle on each of an H200's 132 SMs at 1.98 GHz; the latencies are round.
std::vector<Roof> h200() {
  return {roof("memory_copy", 4.25e12),   roof("fp32_fma", 6.37e13),      roof("special_tanh", 4.17e12),
          roof("libm_tanh", 1.70e12),     roof("shuffle", 8.3e12),        roof("fma_latency", 2.1e-9),
          roof("special_latency", 15e-9), roof("shuffle_latency", 12e-9), roof("shared_latency", 15e-9),
          roof("barrier", 15e-9),         roof("launch_latency", 1.5e-6)};
}

// `incumbent` took `time_ns` on b8_t128_h83_n32, cold.
ResearchBrief brief_of(const std::string& incumbent, double time_ns) {
  Catalogue catalogue;
  catalogue.load({std::string(APO_SOURCE_FOLDER) + "/variants"});
  const Variant& variant = catalogue.get(incumbent);
  const Family& family = *find_family(variant.family);
  const Axes& axes = find_workload(family, "b8_t128_h83_n32")->axes;
  ResearchInputs inputs;
  inputs.incumbent = {.variant = incumbent, .settings = default_settings(variant)};
  inputs.diagnosis = {.profile = assemble_profile({.target = Target::cuda,
                                                   .configuration = inputs.incumbent,
                                                   .workload = "b8_t128_h83_n32",
                                                   .work = family.work(axes),
                                                   .times = {{.threads = 1, .ns = {time_ns}}},
                                                   .roofs = h200()}),
                      .work = family.work(axes),
                      .axes = axes,
                      .incumbent = variant,
                      .units = family.unit_count(axes),
                      .l2_bytes = 60 << 20};
  inputs.machine = "GPU-0";
  inputs.workload_class = "n32";
  const DeviceFacts device{.sms = 132, .threads_per_block = 1024, .shared_per_block = 232448};
  for (const Variant* one : catalogue.of_family(family.name)) {
    RegisteredVariant registered{.variant = *one};
    registered.supported = one->target == Target::cuda && supports(*one, family, axes, default_settings(*one),
                                                                   &registered.why_not, device_symbols(device));
    inputs.variants.push_back(registered);
  }
  return research(inputs);
}

void expect_bands(const ResearchBrief& brief) {
  for (const Candidate& candidate : brief.ranked) {
    EXPECT_GE(candidate.prediction.high, 1.02 * candidate.prediction.low) << candidate.why;
  }
}

TEST(CudaResearch, TheBaselinesOfTheE88FamiliesAreDiagnosedAndCandidatesGetBands) {
  for (const auto& [variant, time_ns] :
       {std::pair{"e88_backward/cuda_simple", 1.2e6}, std::pair{"e88_forward/cuda_simple", 4.2e5}}) {
    const ResearchBrief brief = brief_of(variant, time_ns);
    for (const char* name : {"latency-bound", "per-step-overhead"}) {
      EXPECT_TRUE(std::any_of(brief.bottlenecks.begin(), brief.bottlenecks.end(),
                              [&](const Bottleneck& one) { return one.name == name; }))
          << name << " of " << variant;
    }
    EXPECT_GE(brief.ranked.size(), 5u) << variant;
    EXPECT_FALSE(brief.ranked.front().attacks.empty()) << brief.ranked.front().why;
    expect_bands(brief);
  }
}

// It was measured at 224 us; nothing that follows may promise more than its distance to the floor.
TEST(CudaResearch, NearTheFloorNoPromiseExceedsWhatIsLeft) {
  const ResearchBrief brief = brief_of("e88_backward/cuda_best", 2.24e5);
  EXPECT_FALSE(brief.ranked.empty());
  for (const Candidate& candidate : brief.ranked) {
    EXPECT_LE(candidate.prediction.high, 2.24e5 / 3.2e4) << candidate.why;
  }
  expect_bands(brief);
}

}  // namespace
}  // namespace apo
