// harness/evaluate/programs/step_lines.cpp - checks that each step has one line, finite numbers and agreeing
// clocks.
#include "harness/evaluate/programs/step_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "harness/core/pattern.h"
#include "harness/core/text.h"
#include "harness/worker/parent/evidence.h"

namespace apo {
namespace {

using Json = nlohmann::json;

constexpr const char* kStepKey = "apo_step";
constexpr const char* kSecondsKey = "seconds";
constexpr std::size_t kQuotedLine = 200;
// A line comes later than its step ended by what writing and reading it take, on a busy machine some milliseconds.
constexpr double kClockShare = 1.05;
constexpr double kClockSlackS = 0.05;

bool is_step(std::string_view line) {
  const std::string text = trim(line);
  return text.starts_with('{') && text.find("\"apo_step\"") != std::string::npos;
}

// Programs write numbers that JSON lacks in the form of their language: "nan", "-inf", "NaN", "Infinity".
std::string with_nulls(const std::string& line) {
  constexpr std::size_t kLongestReplaced = 65536;  // the library's expressions recurse once a character
  static const Pattern kNotNumbers(R"(([:,\[]\s*)[-+]?(nan|inf|infinity)\b)", PatternCase::ignored);
  return line.size() > kLongestReplaced ? line : kNotNumbers.replace(line, "$1null");
}

// `twice`: a key that the object has more than once.
Json parse_step(const std::string& line, std::string& twice) {
  std::set<std::string> keys;
  const auto note_keys = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth == 1 && event == Json::parse_event_t::key && !keys.insert(parsed.get<std::string>()).second) {
      twice = parsed.get<std::string>();
    }
    return true;
  };
  return Json::parse(with_nulls(line), note_keys, false);
}

// Returns the key of a value that is not finite, which null stands for; "" if there is none.
std::string not_finite_key(const Json& json) {
  for (const auto& entry : json.items()) {
    if (entry.value().is_null() || (entry.value().is_number_float() && !std::isfinite(entry.value().get<double>()))) {
      return entry.key();
    }
  }
  return "";
}

Failure no_metric_because(const std::string& why) {
  return {.outcome = Outcome::no_metric, .evidence = why};
}

// Of steps [begin, end).
struct Window {
  std::size_t begin = 0;  // behind the warm-up
  std::size_t end = 0;
  double seconds = 0;
};

using Windowed = Result<Window>;

Windowed window_of(const DeclaredApplication& application, const std::vector<StepLine>& steps) {
  const auto warmup = static_cast<std::size_t>(application.warmup_steps);
  const std::size_t wanted = warmup + static_cast<std::size_t>(application.steps);
  if (steps.size() != wanted) {
    return no_metric_because(
        fmt::format("it printed the lines of {} steps, and APO_STEPS asked for {}", steps.size(), wanted));
  }
  const double seconds = steps.back().arrived_s - steps[warmup - 1].arrived_s;
  return Window{.begin = warmup, .end = wanted, .seconds = seconds};
}

// Lines that a program keeps in a buffer all come at once, and apo's clock would see no time between them. So do those
// of a few milliseconds where a busy machine holds up their reader.
std::optional<Failure> check_clocks(const std::vector<StepLine>& steps, const Window& window) {
  double said = 0;
  for (std::size_t i = window.begin; i < window.end; ++i) {
    said += steps[i].seconds;
  }
  const double seen = steps[window.end - 1].arrived_s - steps[window.begin - 1].arrived_s;
  const bool late = seen < kShortestRunS && said >= kShortestRunS;
  if (!late && said <= kClockShare * seen + kClockSlackS) {
    return std::nullopt;
  }
  return Failure{.outcome = Outcome::unstable_clock,
                 .evidence = fmt::format("its steps say that they took {}, and their lines came within {}: each line "
                                         "has to be flushed when its step ends",
                                         format_seconds(said), format_seconds(seen))};
}

// Of the steps that have it.
std::vector<double> values_of(const std::vector<StepLine>& steps, std::size_t first, std::size_t end,
                              const std::string& name) {
  std::vector<double> values;
  for (std::size_t i = first; i < end; ++i) {
    if (const auto found = steps[i].values.find(name); found != steps[i].values.end()) {
      values.push_back(found->second);
    }
  }
  return values;
}

Result<double> speed_value(const ApplicationMetric& metric, const std::vector<StepLine>& steps, const Window& window) {
  const std::size_t count = window.end - window.begin;
  if (!metric.higher_is_better) {
    return window.seconds / static_cast<double>(count);
  }
  const std::vector<double> amounts = values_of(steps, window.begin, window.end, metric.name);
  const double sum = std::accumulate(amounts.begin(), amounts.end(), 0.0);
  if (amounts.size() != count || !(sum > 0)) {
    return no_metric_because(fmt::format("{} of {} steps have '{}', and their sum is {}", amounts.size(), count,
                                         metric.name, format_g(sum)));
  }
  return sum / window.seconds;
}

Result<double> quality_value(const ApplicationMetric& metric, const std::vector<StepLine>& steps,
                             const Window& window) {
  const std::size_t count = window.end - window.begin;
  const std::size_t kept = metric.last == 0 ? count : std::min(count, static_cast<std::size_t>(metric.last));
  const std::vector<double> values = values_of(steps, window.end - kept, window.end, metric.name);
  if (values.empty()) {
    return no_metric_because(fmt::format("none of the last {} steps has '{}'", kept, metric.name));
  }
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

bool StepReader::refuse(Outcome outcome, const std::string& evidence) {
  failure_ = Failure{.outcome = outcome, .evidence = evidence};
  return false;
}

bool StepReader::add(std::string_view line, double arrived_s) {
  if (failure_ || !is_step(line)) {
    return !failure_;
  }
  std::string twice;
  const Json json = parse_step(std::string(line), twice);
  const std::string quoted = printable_tail(line, kQuotedLine);
  if (!json.is_object() || !json.contains(kStepKey) || !json.at(kStepKey).is_number_integer()) {
    return refuse(Outcome::no_metric, "a line of a step is no JSON object with a number of a step: " + quoted);
  }
  StepLine step{.step = json.at(kStepKey).get<std::int64_t>(), .arrived_s = arrived_s};
  if (const std::string key = not_finite_key(json); !key.empty()) {
    return refuse(Outcome::not_finite, fmt::format("'{}' of step {} is no finite number: {}", key, step.step, quoted));
  }
  if (!twice.empty()) {
    return refuse(Outcome::no_metric, fmt::format("step {} has '{}' twice: {}", step.step, twice, quoted));
  }
  if (!steps_.empty() && step.step != steps_.back().step + 1) {
    return refuse(Outcome::no_metric, step.step == steps_.back().step
                                          ? fmt::format("step {} has two lines", step.step)
                                          : fmt::format("step {} follows step {}", step.step, steps_.back().step));
  }
  for (const auto& entry : json.items()) {
    if (entry.value().is_number()) {
      step.values[entry.key()] = entry.value().get<double>();
    }
  }
  const auto seconds = step.values.find(kSecondsKey);
  if (seconds == step.values.end() || !(seconds->second >= 0)) {
    return refuse(Outcome::no_metric, "a line of a step has no \"seconds\": " + quoted);
  }
  step.seconds = seconds->second;
  steps_.push_back(std::move(step));
  return true;
}

std::optional<Failure> summarise_steps(const DeclaredApplication& application, const std::vector<StepLine>& steps,
                                       ApplicationRun& run) {
  if (steps.empty()) {
    return no_metric_because(
        "it printed no line of a step, {\"apo_step\": 1, \"seconds\": ...}, on its standard output");
  }
  const Windowed window = window_of(application, steps);
  if (!window) {
    return window.failure();
  }
  if (auto wrong = check_clocks(steps, *window)) {
    return wrong;
  }
  run.start_up_s = steps.front().arrived_s;
  run.steps = static_cast<int>(window->end - window->begin);
  run.seconds = window->seconds;
  if (run.seconds < kShortestRunS) {
    return no_metric_because(fmt::format("its {} steps took {}, too little to be timed by their lines", run.steps,
                                         format_seconds(run.seconds)));
  }
  for (const ApplicationMetric& metric : application.metrics) {
    const auto value =
        metric.role == MetricRole::speed ? speed_value(metric, steps, *window) : quality_value(metric, steps, *window);
    if (!value) {
      return value.failure();
    }
    run.values[metric.name] = *value;
  }
  return std::nullopt;
}

}  // namespace apo
