// harness/cli/trust/selftest.cpp - `apo selftest`: runs the judge on known differences on this machine.
#include "harness/loop/selftest/selftest.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/target_choice.h"
#include "harness/cli/trust/selftest_document.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/loop/selftest/selftest_plan.h"

namespace apo {
namespace {

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
    } else if (part == "layouts") {
      request.layouts = true;
    } else if (part != "noise") {
      throw UserError(
          "unknown part '" + part + "' of a selftest",
          did_you_mean(part, {"identical", "known", "layouts", "noise"}) + "\nknown: identical, known, layouts, noise");
    }
  }
}

// "0.3,-1" percent, as thousandths.
std::vector<int> differences_of(const std::string& text) {
  std::vector<int> thousandths;
  for (const std::string& part : text.empty() ? std::vector<std::string>() : split(text, ',')) {
    double percent = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), percent);
    const bool whole = error == std::errc() && end == part.data() + part.size();
    const double wanted = std::round(10 * percent);
    if (!whole || std::fabs(wanted - 10 * percent) > 1e-6 ||
        std::ranges::find(kSpinThousandths, std::fabs(wanted)) == std::end(kSpinThousandths)) {
      throw UserError("--differences '" + part + "' is not a difference that the spin kernels have",
                      "known: 0.1, 0.2, 0.3, 0.5, 1, 2 and 5 percent, gains or losses, such as 0.3,1,-1");
    }
    thousandths.push_back(static_cast<int>(wanted));
  }
  return thousandths;
}

void read_layout(const std::string& layout, SelftestRequest& request) {
  if (layout != "random" && layout != "fixed" && layout != "both") {
    throw UserError("unknown layout '" + layout + "'", "known: random, fixed, both");
  }
  request.layout = layout == "fixed" ? Layout::fixed : Layout::random;
  request.layouts = request.layouts || layout == "both";
}

int selftest(const SelftestOptions& options, const Globals& globals) {
  SelftestRequest request{.kernels = options.kernels,
                          .cache_policy = checked_cache_policy(options.cache),
                          .judge_preset = options.judge,
                          .comparisons = options.comparisons,
                          .rounds = options.rounds,
                          .quick = options.quick};
  read_parts(options.parts, request);
  request.differences = differences_of(options.differences);
  read_layout(options.layout, request);
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
                 "part to run: identical (code against itself), known (a known difference), layouts, or noise for none "
                 "of them; may repeat, or be a list with commas (default: identical,known)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--layout", options->layout,
                 "random (a new layout of code and buffers in every round), fixed, or both, which measures the effect "
                 "of layouts (default: random)")
      ->expected(0, 1)
      ->default_str("both");
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
