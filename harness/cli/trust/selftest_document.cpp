// harness/cli/trust/selftest_document.cpp - the JSON document of a selftest; effects are natural logs.
#include "harness/cli/trust/selftest_document.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/core/json/records_json.h"
#include "harness/evaluate/judge/selftest_summary.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const SelftestKernel& kernel) {
  return {{"configuration", kernel.configuration.label()},
          {"workload", kernel.workload},
          {"judge_preset", kernel.preset},
          {"call_ns", kernel.call_ns},
          {"round_seconds", kernel.round_s},
          {"round_kernel_seconds", kernel.kernel_s},
          {"process_start_seconds", kernel.start_s},
          {"rounds_per_process", kernel.rounds_per_process},
          {"round_sd", kernel.round_sd},
          {"levels",
           {{"sample", kernel.sample_sd},
            {"block", kernel.block_sd},
            {"round", kernel.within_sd},
            {"layout", kernel.layout_sd},
            {"process", kernel.process_sd}}},
          {"resolves",
           {{"1s", number_or_null(kernel.resolves_1s)},
            {"10s", number_or_null(kernel.resolves_10s)},
            {"60s", number_or_null(kernel.resolves_60s)}}},
          {"smallest_claim", kernel.smallest_claim}};
}

Json to_json(const SelftestRate& rate) {
  return {{"configuration", rate.incumbent.variant.empty() ? Json(nullptr) : Json(rate.incumbent.label())},
          {"workload", rate.workload.empty() ? Json(nullptr) : Json(rate.workload)},
          {"truth", rate.truth},
          {"layout", to_string(rate.random_layout ? Layout::random : Layout::fixed)},
          {"comparisons", rate.comparisons},
          {"accepted", rate.accepted},
          {"regressions", rate.regressions},
          {"inside_interval", rate.covered},
          {"accepted_upper_95", rate.accepted_upper},
          {"accepted_interval_95", {rate.accepted_bounds.lower, rate.accepted_bounds.upper}},
          {"error_quantiles",
           {{"0.5", rate.median_size}, {"0.9", rate.p90_size}, {"0.99", rate.p99_size}, {"1", rate.largest_size}}},
          {"mean_claim", number_or_null(rate.mean_claim)},
          {"effect_sd", rate.effect_sd},
          {"effect_sd_expected", rate.within_sd},
          {"seconds_per_decision", rate.mean_seconds}};
}

Json rates(const SelftestResult& result, SelftestKind kind) {
  Json list = Json::array();
  for (const SelftestRate& rate : selftest_rates(result.comparisons, kind)) {
    list.push_back(to_json(rate));
  }
  const SelftestRate total = selftest_total(result.comparisons, kind);
  return {{"total", total.comparisons > 0 ? to_json(total) : Json(nullptr)}, {"by_kernel", list}};
}

}  // namespace

Json selftest_document(const SelftestResult& result) {
  const Selftest& selftest = result.selftest;
  const PositiveControl control = positive_control(result.comparisons);
  return {{"selftest", selftest.id},
          {"machine", to_document(result.machine)},
          {"cache_policy", to_string(selftest.cache_policy)},
          {"rule_version", selftest.rule_version},
          {"kernels", list_of(selftest.kernels, [](const SelftestKernel& one) { return to_json(one); })},
          {"identical_code", rates(result, SelftestKind::aa)},
          {"known_differences", rates(result, SelftestKind::power)},
          {"positive_control",
           {{"gains", control.gains},
            {"accepted", control.accepted},
            {"losses", control.losses},
            {"called_slower", control.called_slower}}},
          {"layouts", rates(result, SelftestKind::layout)},
          {"smallest_claim", selftest.smallest_claim},
          {"remarks", result.remarks},
          {"seconds", selftest.seconds}};
}

}  // namespace apo
