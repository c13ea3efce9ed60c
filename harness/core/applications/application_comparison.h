// harness/core/applications/application_comparison.h - one judgement of two dispatches by an application, from what was
// asked to its verdict.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/applications/declared_application.h"
#include "harness/core/records/outcome.h"
#include "harness/core/words.h"

namespace apo {

enum class ApplicationView : std::uint8_t {
  fixed_steps,  // as many steps on both sides, after the warm-up: it decides
  fixed_time,   // what is done in a time, the start-up within it: it is shown
};
APO_WORDS(ApplicationView, application_view_from, fixed_steps, fixed_time)

// One fresh run. What apo's clock and the lines of its steps gave; nothing where the outcome is not valid.
struct ApplicationRun {
  ApplicationView view = ApplicationView::fixed_steps;
  int pair = 0;
  bool of_b = false;
  std::int64_t seed = 0;
  Outcome outcome = Outcome::valid;
  std::string evidence;
  double start_up_s = 0;                 // until the line of its first step
  int steps = 0;                         // that count
  double seconds = 0;                    // that they took
  double wall_s = 0;                     // of the whole run
  std::map<std::string, double> values;  // of each metric
};

// The speeds of A and B in one view. The effect is the log of their ratio: > 0 means that B is faster.
struct SpeedEffect {
  ApplicationView view = ApplicationView::fixed_steps;
  double value_a = 0;  // medians over the pairs
  double value_b = 0;
  double start_up_a_s = 0;
  double start_up_b_s = 0;
  int pairs = 0;
  double effect = 0;
  double lower = 0;
  double upper = 0;
  double confidence = 0.98;
};

enum class QualityFinding : std::uint8_t {
  equivalent,  // both one-sided tests: no further off than the margin
  better,      // by more than the margin
  worse,       // by more than the margin
  inconclusive,
};
APO_WORDS(QualityFinding, quality_finding_from, equivalent, better, worse, inconclusive)

// B less A, paired by seed.
struct QualityChange {
  ApplicationView view = ApplicationView::fixed_steps;
  std::string metric;
  double value_a = 0;  // means over the seeds
  double value_b = 0;
  double change = 0;
  double lower = 0;
  double upper = 0;
  double confidence = 0.9;
  double margin = 0;  // in the unit of the metric
  int seeds = 0;
  int seeds_needed = 0;  // to be conclusive, where it is not; 0: no number is known
  QualityFinding finding = QualityFinding::inconclusive;
};

// The effect on the application that Amdahl's law predicts from the kernel's effect.
struct ApplicationExpectation {
  std::string missing;       // why nothing can be expected; the rest is empty then
  std::int64_t profile = 0;  // of the application, in the journal
  double share = 0;          // of its time that the kernels take
  std::string kernel;        // "row_softmax any: row_softmax/polynomial_exp over row_softmax/simple"
  double kernel_effect = 0;  // logs of ratios
  double kernel_lower = 0;
  double kernel_upper = 0;
  double effect = 0;  // of a step
  double lower = 0;
  double upper = 0;
  bool agrees = false;  // its interval and the measured one have something in common
};

struct ApplicationComparison {
  std::int64_t id = 0;
  std::int64_t campaign = 0;  // that it ended; 0: it was asked for alone
  DeclaredApplication application;
  std::string folder;                   // it runs in
  std::array<std::string, 2> dispatch;  // A and B, as they were named
  std::string machine;                  // Machine::id
  std::string started_at;
  std::string finished_at;

  std::vector<ApplicationRun> runs;  // as they ran
  Outcome outcome = Outcome::valid;  // of the first that failed
  bool failed_a = false;
  bool failed_b = false;
  std::vector<SpeedEffect> speeds;       // of each view
  std::vector<QualityChange> qualities;  // of each view and metric
  std::optional<Verdict> verdict;        // absent while under way
  Reason reason = Reason::interrupted;
  std::string sentence;
  std::optional<ApplicationExpectation> expectation;
  double seconds = 0;
  std::string rule_version;
};

// Returns the speed in the view that decides; nullptr where it was not measured.
const SpeedEffect* deciding_speed(const ApplicationComparison& comparison);

// "a", "b", "both" or "".
std::string_view failed_arms(const ApplicationComparison& comparison);

// "1.03x faster [1.02x, 1.04x]" with its pairs; "loss +0.0003 [-0.001, +0.002], equivalent within 0.01, 5 seeds"; and
// what was expected, as one sentence each.
std::string speed_text(const ApplicationComparison& comparison, const SpeedEffect& speed);
std::string quality_text(const QualityChange& quality);
std::string expectation_text(const ApplicationExpectation& expectation);
// "12.3 ms", or the number with its unit.
std::string metric_text(const ApplicationMetric& metric, double value);

}  // namespace apo
