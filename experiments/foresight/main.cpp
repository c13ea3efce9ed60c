// experiments/foresight/main.cpp - scores predictions on recorded journals: foresight JOURNAL... [--past JOURNAL...]
// Built by `cmake --build build/release --target foresight`; docs/research.md has its table and what the rows mean.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "experiments/foresight/foresight.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/families/known_families.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/research/prediction/prediction.h"

namespace apo {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string number(double value) {
  return format_g(value, 3);
}

std::string count_text(int count, int all) {
  return fmt::format("{} of {}", count, all);
}

std::string pairs_text(double right, double wrong) {
  return fmt::format("{} : {}", right, wrong);
}

std::string error_text(double error, int count) {
  return count > 0 ? fmt::format("{} ({})", number(error), count) : "-";
}

std::string inside_text(const BandScore& score) {
  return score.bands > 0 ? count_text(score.inside, score.bands) : "-";
}

std::string interval_text(const BandScore& score) {
  return score.bands > 0 ? number(score.interval_score()) : "-";
}

std::string score_table(const ForesightReport& report, const Baseline& baseline) {
  const Foresight &then = report.recorded, &now = report.now;
  const double half = 0.5 * (now.right_pairs + now.wrong_pairs);
  const Rows rows = {
      {"measure", "recorded", "now", "baseline"},
      {"pairs of later candidates in the right order", pairs_text(then.right_pairs, then.wrong_pairs),
       pairs_text(now.right_pairs, now.wrong_pairs), pairs_text(half, half)},
      {"experiments until the final incumbent", number(then.until_final), number(now.until_final),
       number(baseline.until_final)},
      {"effects inside the 80 % band", inside_text(then.bands), inside_text(now.bands), inside_text(baseline.bands)},
      {"... of later candidates", inside_text(then.later_bands), inside_text(now.later_bands),
       inside_text(baseline.later_bands)},
      {"interval score of the bands, in logs", interval_text(then.bands), interval_text(now.bands),
       interval_text(baseline.bands)},
      {"... of later candidates", interval_text(then.later_bands), interval_text(now.later_bands),
       interval_text(baseline.later_bands)},
      {"standard deviations that a band reaches", "-",
       fmt::format("{}; these journals ask for {}", number(kBandReach), number(report.reach)), "-"},
      {"mean error of later predictions, in logs", error_text(then.later_error, then.later),
       error_text(now.later_error, now.later), error_text(baseline.later_error, baseline.later)},
      {"experiments after the last accept", count_text(then.after_last_accept, report.experiments),
       count_text(now.after_last_accept, report.experiments), "-"},
      {"accepts that would not have been tried", "-", count_text(report.lost_accepts, report.accepted), "-"},
      {"accepts above all that they attack together", "-", count_text(report.above_attacked, report.attacked), "-"}};
  return format_table(rows);
}

void score(const std::vector<std::string>& words) {
  const Paths paths = make_paths("");
  add_known_families(paths.families, oracle_with_notice(paths));
  const auto past = std::ranges::find(words, "--past");
  const std::vector<std::filesystem::path> journals(words.begin(), past);
  const std::vector<std::filesystem::path> known(past == words.end() ? past : past + 1, words.end());
  const RecordedCampaigns campaigns = recorded_campaigns(journals, known);
  if (campaigns.scored.empty()) {
    throw UserError("none of these journals has a campaign that timed a candidate", "give journals of 'apo run'");
  }
  print(fmt::format("{} campaigns of {} journals, each journal left out in turn{}\n{}", campaigns.scored.size(),
                    journals.size(), known.empty() ? "" : fmt::format("; known beside them: {}", known.size()),
                    score_table(score_foresight(campaigns.scored), score_baseline(campaigns.scored, campaigns.known))));
}

}  // namespace
}  // namespace apo

int main(int argc, char** argv) {
  try {
    apo::score({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "foresight: {}\n", error.what());
    return 1;
  }
}
