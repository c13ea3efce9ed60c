// tests/evaluate/judge/judge_simulation.cpp - prints the table of false accepts and power of the judge for every noise
// model. Usage: judge_simulation [A/A trials = 4000] [power trials = 1000] [preset = standard] [seed = 1]
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "tests/evaluate/judge/simulation.h"

namespace {

using apo::simulation::NoiseModel;
using apo::simulation::Tally;

int whole_number(const std::vector<std::string>& arguments, std::size_t index, int otherwise) {
  if (index >= arguments.size()) {
    return otherwise;
  }
  const auto value = apo::parse_int(arguments[index]);
  if (!value || *value < 1 || *value > 100000000) {
    throw apo::UserError("'" + arguments[index] + "' is not a number of trials");
  }
  return static_cast<int>(*value);
}

std::string rate(const Tally& tally) {
  const auto interval = apo::simulation::wilson(tally.accepted, tally.trials);
  return apo::format_g(100 * tally.accept_rate(), 3) + " % [" + apo::format_g(100 * interval.low, 3) + ", " +
         apo::format_g(100 * interval.high, 3) + "]";
}

std::string mean_seconds(const Tally& tally) {
  return apo::format_g(tally.kernel_s_sum / tally.trials, 2);
}

std::string share(const Tally& tally, apo::Reason reason) {
  const auto found = tally.reasons.find(reason);
  return apo::format_g(100.0 * (found == tally.reasons.end() ? 0 : found->second) / tally.trials, 3);
}

void print_ends(const Tally& tally) {
  for (const apo::Reason reason : {apo::Reason::regression, apo::Reason::equivalent, apo::Reason::no_gain,
                                   apo::Reason::confirm_failed, apo::Reason::guard_failed, apo::Reason::unresolved}) {
    std::printf("%s%s", reason == apo::Reason::regression ? "" : " / ", share(tally, reason).c_str());
  }
}

void print_row(const NoiseModel& model, const apo::JudgePreset& preset, int null_trials, int power_trials,
               std::uint64_t seed) {
  const Tally null = run_trials(model, 0.0, preset, null_trials, seed);
  std::printf("| %s | %s | %s | ", model.name.c_str(), rate(null).c_str(), mean_seconds(null).c_str());
  print_ends(null);
  for (const double effect : {0.005, 0.01, 0.02}) {
    const Tally power = run_trials(model, effect, preset, power_trials, seed + 1);
    std::printf(" | %s", rate(power).c_str());
    if (effect == 0.01) {
      std::printf(" | %s | %s | ", mean_seconds(power).c_str(),
                  power.accepted == 0 ? "-" : apo::format_percent(power.claimed_sum / power.accepted).c_str());
      print_ends(power);
    }
  }
  std::printf(" |\n");
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** values) try {
  const std::vector<std::string> arguments(values + 1, values + count);
  const int null_trials = whole_number(arguments, 0, 4000);
  const int power_trials = whole_number(arguments, 1, 1000);
  const apo::JudgePreset preset = apo::preset_named(arguments.size() > 2 ? arguments[2] : "standard");
  const auto seed = static_cast<std::uint64_t>(whole_number(arguments, 3, 1));
  std::printf(
      "| noise | A/A accepted, 95 %% interval | kernel s | A/A ends * | +0.5 %% accepted | +1 %% accepted | kernel s | "
      "mean claim | +1 %% ends * | +2 %% accepted |\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (const NoiseModel& model : apo::simulation::noise_models()) {
    print_row(model, preset, null_trials, power_trials, seed);
  }
  std::printf(
      "\n* percent: regression / equivalent / no gain / confirm failed / guard failed / unresolved. Profile %s, rule "
      "%s, "
      "seed %d, %d A/A and %d power trials a model.\n",
      preset.name.c_str(), std::string(apo::kRuleVersion).c_str(), static_cast<int>(seed), null_trials, power_trials);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "judge_simulation: %s\n", error.what());
  return 1;
}
