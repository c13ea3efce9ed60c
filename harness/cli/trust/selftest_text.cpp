// harness/cli/trust/selftest_text.cpp - the tables of a selftest for people.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "harness/cli/console.h"
#include "harness/cli/trust/selftest_document.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/selftest_summary.h"

namespace apo {
namespace {

using Row = std::vector<std::string>;

std::string percent(double log_effect) {
  return format_g(100 * log_effect, 3) + " %";
}

std::string resolved(const std::optional<double>& effect) {
  return effect ? format_percent(*effect) : "nothing";
}

std::string kernel_name(const Configuration& configuration, const std::string& workload) {
  return configuration.variant.empty() ? "all together" : configuration.label() + "@" + workload;
}

std::string noise_table(const SelftestResult& result) {
  std::vector<Row> rows = {{"kernel", "one call", "sample", "block", "round", "layout", "process", "sd of a round",
                            "judge preset", "rounds a process"}};
  for (const SelftestKernel& kernel : result.selftest.kernels) {
    rows.push_back({kernel_name(kernel.configuration, kernel.workload), format_ns(kernel.call_ns),
                    percent(kernel.sample_sd), percent(kernel.block_sd), percent(kernel.within_sd),
                    percent(kernel.layout_sd), percent(kernel.process_sd), percent(kernel.round_sd), kernel.preset,
                    std::to_string(kernel.rounds_per_process)});
  }
  return "noise, standard deviation that each level adds:\n" + format_table(rows);
}

std::string resolution_table(const SelftestResult& result) {
  std::vector<Row> rows = {
      {"kernel", "in 1 s", "in 10 s", "in 60 s", "a round: kernel", "wall", "process start", "claims refused below"}};
  for (const SelftestKernel& kernel : result.selftest.kernels) {
    rows.push_back({kernel_name(kernel.configuration, kernel.workload), resolved(kernel.resolves_1s),
                    resolved(kernel.resolves_10s), resolved(kernel.resolves_60s), format_seconds(kernel.kernel_s),
                    format_seconds(kernel.round_s), format_seconds(kernel.start_s), percent(kernel.smallest_claim)});
  }
  return "smallest effect found in 95 of 100 cases, by kernel time:\n" + format_table(rows);
}

Row identical_row(const SelftestRate& rate) {
  return {kernel_name(rate.incumbent, rate.workload),
          std::to_string(rate.comparisons),
          std::to_string(rate.accepted),
          percent(rate.accepted_upper),
          std::to_string(rate.regressions),
          percent(rate.median_size),
          percent(rate.p90_size),
          percent(rate.p99_size),
          percent(rate.largest_size),
          format_seconds(rate.mean_seconds)};
}

std::string identical_table(const SelftestResult& result) {
  std::vector<Row> rows = {{"identical code", "judged", "accepted", "at most (95 %)", "called slower",
                            "apparent: median", "90 %", "99 %", "largest", "a decision"}};
  for (const SelftestRate& rate : selftest_rates(result.comparisons, SelftestKind::aa)) {
    rows.push_back(identical_row(rate));
  }
  rows.push_back(identical_row(selftest_total(result.comparisons, SelftestKind::aa)));
  return format_table(rows);
}

std::string power_table(const SelftestResult& result) {
  std::vector<Row> rows = {{"known difference", "truth", "judged", "accepted", "rate (95 %)", "called slower",
                            "mean claim", "inside its interval", "a decision"}};
  for (const SelftestRate& rate : selftest_rates(result.comparisons, SelftestKind::power)) {
    rows.push_back({kernel_name(rate.incumbent, rate.workload), format_percent(rate.truth),
                    std::to_string(rate.comparisons), std::to_string(rate.accepted),
                    "[" + percent(rate.accepted_bounds.lower) + ", " + percent(rate.accepted_bounds.upper) + "]",
                    std::to_string(rate.regressions),
                    std::isfinite(rate.mean_claim) ? format_percent(rate.mean_claim) : "none",
                    std::to_string(rate.covered), format_seconds(rate.mean_seconds)});
  }
  const SelftestRate all = selftest_total(result.comparisons, SelftestKind::power);
  return format_table(rows) +
         fmt::format("intervals of 98 %: {} of {} known differences are inside theirs\n", all.covered, all.comparisons);
}

std::string layout_table(const SelftestResult& result) {
  std::vector<Row> rows = {{"two layouts of one code", "layouts", "judged", "accepted", "at most (95 %)", "largest",
                            "sd of the effects", "expected from the rounds"}};
  for (const SelftestRate& rate : selftest_rates(result.comparisons, SelftestKind::layout)) {
    rows.push_back({kernel_name(rate.incumbent, rate.workload), rate.random_layout ? "drawn anew" : "kept",
                    std::to_string(rate.comparisons), std::to_string(rate.accepted), percent(rate.accepted_upper),
                    percent(rate.largest_size), percent(rate.effect_sd), percent(rate.within_sd)});
  }
  return format_table(rows);
}

std::string control_text(const SelftestResult& result) {
  const PositiveControl control = positive_control(result.comparisons);
  if (control.gains == 0 || control.losses == 0) {
    return "";
  }
  return fmt::format(
      "positive control {}: a gain of 1 % was accepted in {} of {}, a loss of 1 % called slower in {} of {}\n",
      control.holds() ? "holds" : "FAILS", control.accepted, control.gains, control.called_slower, control.losses);
}

bool has(const SelftestResult& result, SelftestKind kind) {
  return selftest_total(result.comparisons, kind).comparisons > 0;
}

}  // namespace

std::string selftest_text(const SelftestResult& result) {
  const Selftest& selftest = result.selftest;
  std::string text = fmt::format("selftest {} on {}, {} caches, rule {}, {}\n\n{}\n{}", selftest.id,
                                 result.machine.model, to_string(selftest.cache_policy), selftest.rule_version,
                                 format_seconds(selftest.seconds), noise_table(result), resolution_table(result));
  if (has(result, SelftestKind::aa)) {
    text += "\n" + identical_table(result);
  }
  if (has(result, SelftestKind::power)) {
    text += "\n" + power_table(result) + control_text(result);
  }
  if (has(result, SelftestKind::layout)) {
    text += "\n" + layout_table(result);
  }
  for (const std::string& remark : result.remarks) {
    text += "\n" + remark + "\n";
  }
  return text + "\nclaims below " + percent(selftest.smallest_claim) +
         " are refused on this machine, and on the kernels above those below their own limit\n";
}

}  // namespace apo
