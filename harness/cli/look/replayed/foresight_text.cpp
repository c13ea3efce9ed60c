// harness/cli/look/replayed/foresight_text.cpp - one row a measure: as recorded, as this program would do, and knowing
// nothing.
#include "harness/cli/look/replayed/foresight_text.h"

#include <fmt/format.h>

#include "harness/cli/console.h"
#include "harness/core/text.h"
#include "harness/research/prediction/prediction.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

// Of a Foresight or a Baseline: `document`, followed by the score of its bands and of its later estimates.
template <class Score>
Json with_bands(Json document, const Score& score) {
  document.update({{"predicted", score.bands.bands},
                   {"inside", score.bands.inside},
                   {"interval_score", score.bands.interval_score()},
                   {"later_inside", score.later_bands.inside},
                   {"later_interval_score", score.later_bands.interval_score()},
                   {"later_error", score.later_error},
                   {"later", score.later}});
  return document;
}

Json to_document(const Foresight& score) {
  Json document = with_bands({{"right_pairs", score.right_pairs},
                              {"wrong_pairs", score.wrong_pairs},
                              {"until_final_incumbent", score.until_final},
                              {"seconds_until_final_incumbent", score.seconds_until_final},
                              {"improved_campaigns", score.improved}},
                             score);
  document.update({{"after_last_accept", score.after_last_accept},
                   {"lost_accepts", score.lost_accepts},
                   {"bounded", score.bounded},
                   {"above_bound", score.above_bound}});
  return document;
}

Json to_document(const Baseline& score) {
  return with_bands(
      {{"until_final_incumbent", score.until_final}, {"seconds_until_final_incumbent", score.seconds_until_final}},
      score);
}

Json to_document(const Transfer& transfer) {
  return {{"from", transfer.from},
          {"to", transfer.to},
          {"effects", transfer.effects},
          {"error", transfer.error},
          {"taken_error", transfer.taken_error}};
}

std::string number(double value) {
  return format_g(value, 3);
}

std::string error_text(double error, int count) {
  return count > 0 ? fmt::format("{} ({})", number(error), count) : "-";
}

std::string count_text(int count, int all) {
  return fmt::format("{} of {}", count, all);
}

std::string inside_text(const BandScore& score) {
  return score.bands > 0 ? count_text(score.inside, score.bands) : "-";
}

Rows order_rows(const ReplayScore& score) {
  const Foresight &then = score.report.recorded, &now = score.report.now;
  const auto pairs = [](double right, double wrong) { return fmt::format("{} : {}", right, wrong); };
  const double half = 0.5 * (now.right_pairs + now.wrong_pairs);
  return {{"pairs of later candidates in the right order", pairs(then.right_pairs, then.wrong_pairs),
           pairs(now.right_pairs, now.wrong_pairs), pairs(half, half)},
          {"experiments until the final incumbent", number(then.until_final), number(now.until_final),
           number(score.baseline.until_final)},
          {"seconds of judging until then", number(then.seconds_until_final), number(now.seconds_until_final),
           number(score.baseline.seconds_until_final)}};
}

Rows band_rows(const ReplayScore& score) {
  const Foresight &then = score.report.recorded, &now = score.report.now;
  const Baseline& baseline = score.baseline;
  const HeldOutBands& held_out = score.report.held_out;
  const auto interval = [](const BandScore& bands) { return bands.bands > 0 ? number(bands.interval_score()) : "-"; };
  return {
      {"effects inside the 80 % band", inside_text(then.bands), inside_text(now.bands), inside_text(baseline.bands)},
      {"... of later candidates", inside_text(then.later_bands), inside_text(now.later_bands),
       inside_text(baseline.later_bands)},
      {"... by the other journals' width", "-", inside_text(held_out.bands), "-"},
      {"interval score of the bands, in logs", interval(then.bands), interval(now.bands), interval(baseline.bands)},
      {"... of later candidates", interval(then.later_bands), interval(now.later_bands),
       interval(baseline.later_bands)},
      {"... by the other journals' width", "-", interval(held_out.bands), "-"},
      {"standard deviations that a band reaches", "-",
       fmt::format("{}; these journals ask for {}", number(kPredictedReach), number(held_out.reach)), "-"}};
}

Rows error_rows(const ReplayScore& score) {
  const Foresight &then = score.report.recorded, &now = score.report.now;
  Rows rows = {{"mean error of later predictions, in logs", error_text(then.later_error, then.later),
                error_text(now.later_error, now.later), error_text(score.baseline.later_error, score.baseline.later)}};
  for (const Transfer& one : score.transfers) {
    if (one.effects == 1) {
      continue;  // one effect has no mean error; --json has it
    }
    rows.push_back({fmt::format("... on {}, judged on {}", one.to, one.from), "-", error_text(one.error, one.effects),
                    error_text(one.taken_error, one.effects)});
  }
  return rows;
}

Rows end_rows(const ForesightReport& report) {
  const Foresight &then = report.recorded, &now = report.now;
  return {
      {"experiments after the last accept", count_text(then.after_last_accept, report.experiments),
       count_text(now.after_last_accept, report.experiments), "-"},
      {"accepts that would not have been tried", count_text(then.lost_accepts, report.accepted),
       count_text(now.lost_accepts, report.accepted), "-"},
      {"accepts above the first bottleneck's bound", count_text(then.above_bound, then.bounded),
       count_text(now.above_bound, now.bounded), "-"},
      {"accepts above all that they attack together", "-", count_text(report.above_attacked, report.attacked), "-"}};
}

}  // namespace

Json to_document(const ReplayScore& score) {
  const ForesightReport& report = score.report;
  Json transfers = Json::array();
  for (const Transfer& one : score.transfers) {
    transfers.push_back(to_document(one));
  }
  return {{"experiments", report.experiments},
          {"accepted", report.accepted},
          {"recorded", to_document(report.recorded)},
          {"now", to_document(report.now)},
          {"baseline", to_document(score.baseline)},
          {"transfers", transfers},
          {"attacked", report.attacked},
          {"above_attacked", report.above_attacked},
          {"held_out",
           {{"predicted", report.held_out.bands.bands},
            {"inside", report.held_out.bands.inside},
            {"interval_score", report.held_out.bands.interval_score()},
            {"reach", report.held_out.reach}}}};
}

std::string score_table(const ReplayScore& score) {
  Rows rows = {{"measure", "recorded", "now", "baseline"}};
  for (const Rows& some : {order_rows(score), band_rows(score), error_rows(score), end_rows(score.report)}) {
    rows.insert(rows.end(), some.begin(), some.end());
  }
  return format_table(rows);
}

}  // namespace apo
