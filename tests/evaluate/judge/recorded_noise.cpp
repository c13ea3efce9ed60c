// tests/evaluate/judge/recorded_noise.cpp - reads the rounds of journals and of misjudged cases, and deals them to the
// judge.
#include "tests/evaluate/judge/recorded_noise.h"

#include <cmath>
#include <map>
#include <utility>

#include "harness/core/json/codec.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/round.h"
#include "journal/journal.h"
#include "tests/evaluate/judge/rounds.h"

namespace apo::simulation {
namespace {

constexpr std::size_t kLeastRounds = 8;

// Multiplies the times of the candidate by exp(-gain).
void shorten(Round& round, double gain) {
  for (Block& block : round.workloads.front().blocks) {
    for (Sample& sample : block.samples) {
      if ((sample.slot == 0) == round.candidate_in_slot0) {
        sample.ns = std::llround(static_cast<double>(sample.ns) * std::exp(-gain));
      }
    }
  }
}

bool is_of_windows(const Round& round) {
  return round.void_why.empty() && round.workloads.size() == 1 && round.environment.empty_window_ns;
}

void take_effect_out(std::vector<Round>& rounds) {
  double mean = 0;
  for (Round& round : rounds) {
    summarise_round(round);
    mean += round.effect / static_cast<double>(rounds.size());
  }
  for (Round& round : rounds) {
    shorten(round, -mean);
  }
}

double seconds_of(const Round& round) {
  double ns = 0;
  for (const Block& block : round.workloads.front().blocks) {
    for (const Sample& sample : block.samples) {
      ns += static_cast<double>(sample.ns);
    }
  }
  return 1e-9 * ns;
}

Trial run_recorded_trial(const std::vector<Round>& rounds, double effect, const JudgePreset& preset,
                         std::uint64_t seed) {
  Judge judge({.preset = preset});
  Random random(derive_seed(seed, "rounds"));
  double kernel_s = 0;
  for (NextStep step = judge.next(); !step.finished; step = judge.next()) {
    Round round = rounds[random.below(rounds.size())];
    round.stage = step.stage;
    round.index = step.index;
    round.seed = round_seed(seed, "trial", step.stage, step.index);
    round.candidate_in_slot0 = draw_round(round.seed, 1).candidate_in_slot0;
    round.workloads.front().checks = {};
    shorten(round, effect);
    kernel_s += seconds_of(round);
    judge.add(std::move(round));
  }
  return trial_of(judge, kernel_s);
}

}  // namespace

std::vector<MisjudgedCase> misjudged_cases(const std::string& path) {
  std::vector<MisjudgedCase> cases;
  for (const std::string& line : split(trim(read_file(path)), '\n')) {
    cases.push_back(from_json_text<MisjudgedCase>(line));
  }
  return cases;
}

RecordedNoise recorded_noise(std::string name, std::vector<std::vector<Round>> comparisons) {
  std::erase_if(comparisons, [](const std::vector<Round>& rounds) { return rounds.size() < kLeastRounds; });
  for (std::vector<Round>& rounds : comparisons) {
    take_effect_out(rounds);
  }
  return {.name = std::move(name), .comparisons = std::move(comparisons)};
}

std::vector<RecordedNoise> recorded_noise(const std::vector<std::string>& journals) {
  std::map<std::string, std::map<std::string, std::vector<Round>>> by_workload;
  for (const std::string& path : journals) {
    if (path.ends_with(".jsonl")) {
      for (const MisjudgedCase& one : misjudged_cases(path)) {
        for (const double effect : one.effects) {
          by_workload[one.name][one.from].push_back(make_round({}, {effect}));
        }
      }
      continue;
    }
    Journal journal = Journal::open(path, Access::read_only);
    journal.visit_rounds([&](const std::string& owner, const Round& round) {
      if (is_of_windows(round)) {
        by_workload[round.workloads.front().workload][path + ", " + owner].push_back(round);
      }
    });
  }
  std::vector<RecordedNoise> noises;
  for (auto& [workload, of_owner] : by_workload) {
    std::vector<std::vector<Round>> comparisons;
    for (auto& [owner, rounds] : of_owner) {
      comparisons.push_back(std::move(rounds));
    }
    if (RecordedNoise noise = recorded_noise(workload, std::move(comparisons)); !noise.comparisons.empty()) {
      noises.push_back(std::move(noise));
    }
  }
  return noises;
}

Tally run_recorded_trials(const RecordedNoise& noise, double effect, const JudgePreset& preset, int trials,
                          std::uint64_t seed) {
  Tally tally{.trials = trials};
  for (int i = 0; i < trials; ++i) {
    const std::uint64_t own = derive_seed(seed, noise.name, static_cast<std::uint64_t>(i));
    const auto& rounds = noise.comparisons[Random(own).below(noise.comparisons.size())];
    add_to(tally, run_recorded_trial(rounds, effect, preset, own));
  }
  return tally;
}

}  // namespace apo::simulation
