// harness/core/applications/declared_application.h - the declaration of an application in a campaign file: how it runs
// with a dispatch, and by which of its numbers it is judged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/json/fields.h"
#include "harness/core/words.h"

namespace apo {

enum class MetricRole : std::uint8_t {
  speed,    // by apo's clock: the time of a step, or a rate
  quality,  // a value of each step's line, which may not get worse by more than a margin
};
APO_WORDS(MetricRole, metric_role_from, speed, quality)

struct ApplicationMetric {
  std::string name;  // of a quality or of a rate: the key in the lines of steps
  std::string unit;
  MetricRole role = MetricRole::speed;
  bool higher_is_better = false;  // of speed: the key's sum over the steps for each second
  double margin = 0;              // of a quality
  bool margin_is_share = false;   // of what A has
  int last = 0;                   // of a quality: the mean over so many last steps; 0: over all but the warm-up
  bool operator==(const ApplicationMetric&) const = default;
};
APO_FIELDS(ApplicationMetric, name, unit, role, higher_is_better, margin, margin_is_share, last)

inline constexpr int kApplicationPairs = 14;

// The words of its commands; a text of the file is `sh -c` and that text.
struct DeclaredApplication {
  std::vector<std::string> command;
  std::vector<std::string> prepare;  // runs once for each dispatch, in which it may build; empty: nothing to do
  std::string dispatch_variable = "APO_DISPATCH";  // names the folder or the library to the program
  std::vector<ApplicationMetric> metrics;          // one of speed, one of quality or more
  int warmup_steps = 1;
  int steps = 0;  // after the warm-up
  std::vector<std::int64_t> seeds;
  int pairs = kApplicationPairs;
  double time_limit_s = 600;  // of one run

  const ApplicationMetric& speed() const;
  std::vector<ApplicationMetric> qualities() const;
  bool operator==(const DeclaredApplication&) const = default;
};
APO_FIELDS(DeclaredApplication, command, prepare, dispatch_variable, metrics, warmup_steps, steps, seeds, pairs,
           time_limit_s)

// Five show an equivalence of the quality, where each has its seed; fewer than ten cannot reach the level of the
// speed's rule, whatever they say.
inline constexpr int kLeastPairs = 5;

}  // namespace apo
