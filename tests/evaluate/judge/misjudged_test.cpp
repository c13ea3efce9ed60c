// tests/evaluate/judge/misjudged_test.cpp - today's rule on every recorded judgement that was wrong.
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "tests/evaluate/judge/recorded_noise.h"
#include "tests/evaluate/judge/rounds.h"

namespace apo::simulation {
namespace {

const std::string kFolder = APO_SOURCE_FOLDER "/experiments/misjudged/";

// Nothing where the rule asks for more rounds than there are.
std::optional<Judgement> judged_again(const MisjudgedCase& one) {
  JudgePreset preset = preset_named(one.preset);
  preset.minimum_claim = one.minimum_claim;
  Judge judge({.preset = preset});
  for (const double effect : one.effects) {
    const NextStep step = judge.next();
    if (step.finished) {
      break;
    }
    judge.add(make_round(step, {effect}));
  }
  return judge.next().finished ? std::optional(judge.judgement()) : std::nullopt;
}

bool is_wrong(const Judgement& judgement, double truth, const JudgePreset& preset) {
  const double found = 0.9 * preset.design_effect;  // what the plan is made to find
  return (judgement.verdict == Verdict::accepted && truth <= 0) ||
         (judgement.reason == Reason::regression && truth >= 0) ||
         (judgement.verdict != Verdict::accepted && truth >= found) ||
         (judgement.reason != Reason::regression && truth <= -found) ||  //
         !(judgement.lower <= truth && truth <= judgement.upper);
}

// By the name of the case: "16 of 78".
std::map<std::string, std::string> wrong_by_name() {
  std::map<std::string, std::pair<int, int>> counts;
  for (const MisjudgedCase& one : misjudged_cases(kFolder + "cases.jsonl")) {
    const auto judgement = judged_again(one);
    auto& [wrong, all] = counts[one.name];
    wrong += judgement && is_wrong(*judgement, one.truth, preset_named(one.preset)) ? 1 : 0;
    ++all;
  }
  std::map<std::string, std::string> texts;
  for (const auto& [name, count] : counts) {
    texts[name] = std::to_string(count.first) + " of " + std::to_string(count.second);
  }
  return texts;
}

// The last cell of each row whose first one is a name in backquotes.
std::map<std::string, std::string> wrong_by_the_page() {
  std::map<std::string, std::string> texts;
  for (const std::string& line : split(read_file(kFolder + "README.md"), '\n')) {
    if (line.starts_with("| `")) {
      const std::vector<std::string> cells = split(line, '|');
      texts[replace_all(trim(cells[1]), "`", "")] = trim(cells[cells.size() - 2]);
    }
  }
  return texts;
}

TEST(Misjudged, AsManyAreWrongAgainAsThePageSays) {
  EXPECT_EQ(wrong_by_name(), wrong_by_the_page());
}

}  // namespace
}  // namespace apo::simulation
