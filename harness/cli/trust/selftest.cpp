// harness/cli/trust/selftest.cpp - `apo selftest`: runs the judge on known differences on this machine.
#include "harness/loop/selftest/selftest.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/target_choice.h"
#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/selftest_summary.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

struct SelftestOptions {
  std::string target = "auto";
  std::vector<std::string> kernels;
  std::string cache = "cold";
  std::string judge = "auto";
  std::string layout = "random";
  std::vector<std::string> parts = {"identical", "known"};
  std::string seconds;
  std::string round_time;
  std::string differences;
  int comparisons = 0;
  int rounds = 0;
  bool quick = false;
};

constexpr double kQuickSeconds = 60;
constexpr int kMostAsked = 1'000'000'000;

void read_parts(const std::vector<std::string>& parts, SelftestRequest& request) {
  request.same_code = false;
  request.known_pairs = false;
  for (const std::string& part : parts) {
    if (part == "identical") {
      request.same_code = true;
    } else if (part == "known") {
      request.known_pairs = true;
    } else if (part != "noise") {
      throw UserError("unknown part '" + part + "' of a selftest",
                      did_you_mean(part, {"identical", "known", "noise"}) + "\nknown: identical, known, noise");
    }
  }
}

// "0.3,-1" percent, as thousandths.
std::vector<int> differences_of(const std::string& text) {
  std::vector<int> thousandths;
  for (const std::string& part : text.empty() ? std::vector<std::string>() : split(text, ',')) {
    const std::optional<double> percent = parse_double(part);
    const double wanted = std::round(10 * percent.value_or(0));
    if (!percent || std::fabs(wanted - 10 * *percent) > 1e-6 ||
        std::ranges::find(kSpinThousandths, std::fabs(wanted)) == std::end(kSpinThousandths)) {
      throw UserError("--differences '" + part + "' is not a difference that the spin kernels have",
                      "known: 0.1, 0.2, 0.3, 0.5, 1, 2 and 5 percent, gains or losses, such as 0.3,1,-1");
    }
    thousandths.push_back(static_cast<int>(wanted));
  }
  return thousandths;
}

// ---------------------------------------------------------------- the document; effects are natural logs

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
          {"smallest_claim", selftest.smallest_claim},
          {"remarks", result.remarks},
          {"seconds", selftest.seconds}};
}

// ---------------------------------------------------------------- for people

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
  for (const std::string& remark : result.remarks) {
    text += "\n" + remark + "\n";
  }
  return text + "\nclaims below " + percent(selftest.smallest_claim) +
         " are refused on this machine, and on the kernels above those below their own limit\n";
}

// ---------------------------------------------------------------- all together

int selftest(const SelftestOptions& options, const Globals& globals) {
  SelftestRequest request{.kernels = options.kernels,
                          .cache_policy = checked_cache_policy(options.cache),
                          .judge_preset = options.judge,
                          .layout = checked_layout(options.layout),
                          .comparisons = options.comparisons,
                          .rounds = options.rounds,
                          .quick = options.quick};
  read_parts(options.parts, request);
  request.differences = differences_of(options.differences);
  request.seconds = options.quick ? kQuickSeconds : request.seconds;
  request.seconds = options.seconds.empty()
                        ? request.seconds
                        : checked_duration("--seconds", options.seconds + (parse_double(options.seconds) ? "s" : ""));
  request.round_s = options.round_time.empty() ? 0 : checked_duration("--round-time", options.round_time);
  Workspace workspace(make_paths(globals.journal));
  request.target = resolve_target(options.target, workspace);
  ConsoleObserver observer(globals);
  const InterruptNote note("the journal keeps its comparisons, but verdicts use finished selftests only",
                           "measure anew with", globals.words);
  const SelftestResult result = run_selftest(workspace, request, observer);
  print_answer(globals, selftest_document(result), selftest_text(result));
  return kDone;
}

}  // namespace

Action define_selftest(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<SelftestOptions>();
  app.add_option("--target", options->target, "host, cuda or auto, a GPU when one is usable (default: auto)");
  app.add_option("--kernels", options->kernels, "VARIANT@WORKLOAD to measure; may repeat (default: built-in ones)")
      ->allow_extra_args(false);
  app.add_option("--parts", options->parts,
                 "part to run: identical (code against itself), known (a known difference), or noise for none of them; "
                 "may repeat, or be a list with commas (default: identical,known)")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_layout(app, options->layout);
  app.add_option("--differences", options->differences,
                 "known differences to judge, in percent, for example 0.3,-1 (default: several)");
  app.add_option("--seconds", options->seconds, "total time allowed, for example 90s (default: 10m)");
  app.add_option("--comparisons", options->comparisons,
                 "run this many judgements of identical code, whatever time they take")
      ->check(CLI::Range(1, kMostAsked));
  app.add_option("--rounds", options->rounds, "start no judgement after this many rounds")
      ->check(CLI::Range(1, kMostAsked));
  app.add_flag("--quick", options->quick, "take one minute in all, with a third of the processes for the noise");
  app.add_option("--round-time", options->round_time,
                 "kernel time of a round, for example 30ms (default: the judge preset's)");
  app.add_option("--cache", options->cache, "cold (flush the caches before every sample) or warm (default: cold)");
  app.add_option(
      "--judge", options->judge,
      "judge preset: auto (from each kernel's noise), standard, extended, strict or precise (default: auto)");
  app.footer(
      "The result is kept in the journal. From then on 'apo run', 'apo compare' and 'apo gate' with that journal\n"
      "claim no effect smaller than the apparent effect of identical code on this machine.");
  return [options, &globals] { return selftest(*options, globals); };
}

}  // namespace apo
