// tests/evaluate/judge/judge_simulation.cpp - prints the table of false accepts and power of the judge for every noise
// model, or for the recorded rounds of each workload of journals, those of host code in windows.
// Usage: judge_simulation [A/A trials = 4000] [power trials = 1000] [preset = standard] [seed = 1] [JOURNAL...]
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "tests/evaluate/judge/recorded_noise.h"
#include "tests/evaluate/judge/simulation.h"

namespace {

using apo::simulation::NoiseModel;
using apo::simulation::RecordedNoise;
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

// `try_effect`: trials with that true effect.
using TryEffect = std::function<Tally(double effect, int trials, std::uint64_t seed)>;

void print_row(const std::string& name, const TryEffect& try_effect, int null_trials, int power_trials,
               std::uint64_t seed) {
  const Tally null = try_effect(0, null_trials, seed);
  std::printf("| %s | %s | %s | ", name.c_str(), rate(null).c_str(), mean_seconds(null).c_str());
  print_ends(null);
  for (const double effect : {0.005, 0.01, 0.02}) {
    const Tally power = try_effect(effect, power_trials, seed + 1);
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

std::string described(const RecordedNoise& noise) {
  std::size_t rounds = 0;
  for (const auto& comparison : noise.comparisons) {
    rounds += comparison.size();
  }
  return noise.name + ": " + std::to_string(rounds) + " rounds of " + std::to_string(noise.comparisons.size());
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
  const std::vector<std::string> journals(arguments.begin() + std::min<std::ptrdiff_t>(4, std::ssize(arguments)),
                                          arguments.end());
  for (const NoiseModel& model : journals.empty() ? apo::simulation::noise_models() : std::vector<NoiseModel>()) {
    print_row(
        model.name,
        [&](double effect, int trials, std::uint64_t own) { return run_trials(model, effect, preset, trials, own); },
        null_trials, power_trials, seed);
  }
  for (const RecordedNoise& noise : apo::simulation::recorded_noise(journals)) {
    print_row(
        described(noise),
        [&](double effect, int trials, std::uint64_t own) {
          return run_recorded_trials(noise, effect, preset, trials, own);
        },
        null_trials, power_trials, seed);
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
