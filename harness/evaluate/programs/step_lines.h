// harness/evaluate/programs/step_lines.h - reads the lines that an application prints, one for each step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/comparisons/comparison.h"
#include "harness/worker/protocol/result.h"

namespace apo {

// {"apo_step": 17, "seconds": 0.0123, "loss": 2.31}
struct StepLine {
  std::int64_t step = 0;
  double arrived_s = 0;  // by apo's clock, since the program's start
  double seconds = 0;    // by the program's
  std::map<std::string, double> values;
};

class StepReader {
 public:
  // Ignores other lines. Returns false if the run is void, with the reason in failure().
  bool add(std::string_view line, double arrived_s);
  const std::vector<StepLine>& steps() const { return steps_; }
  const std::optional<Failure>& failure() const { return failure_; }

 private:
  bool refuse(Outcome outcome, const std::string& evidence);

  std::vector<StepLine> steps_;
  std::optional<Failure> failure_;
};

// A line comes some milliseconds late: they would time a shorter run.
inline constexpr double kShortestRunS = 0.01;

// Fills start_up_s, steps, seconds and values of a run that ended well, by its view. Without a failure its outcome
// stays valid. Of a run that is shorter than kShortestRunS all but the values are there.
std::optional<Failure> summarise_steps(const DeclaredApplication& application, const std::vector<StepLine>& steps,
                                       ApplicationRun& run);

}  // namespace apo
