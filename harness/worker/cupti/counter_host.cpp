// harness/worker/cupti/counter_host.cpp - CUPTI's host interface, which works without a GPU and without a driver.
#include "harness/worker/cupti/counter_host.h"

#include <cmath>
#include <utility>

#include "harness/core/text.h"
#include "harness/worker/cupti/metric_names.h"

namespace apo {

std::vector<const char*> c_names(const std::vector<std::string>& names) {
  std::vector<const char*> pointers;
  for (const std::string& name : names) {
    pointers.push_back(name.c_str());
  }
  return pointers;
}

CounterHost::CounterHost(const cupti::Library& library, const cupti::Profiler& profiler, std::string chip,
                         const std::vector<std::uint8_t>& availability)
    : library_(library), profiler_(profiler), chip_(std::move(chip)) {
  cupti::HostInitialize asked{.chip = chip_.c_str(),
                              .availability = availability.empty() ? nullptr : availability.data()};
  const cupti::Result result = profiler_.host_initialize(&asked);
  if (result != cupti::kSuccess || asked.host == nullptr) {
    missing_ = cupti::explain_trouble(library_, result, "asking for the counters of '" + chip_ + "'");
    return;
  }
  host_ = asked.host;
}

CounterHost::~CounterHost() {
  if (host_ != nullptr) {
    cupti::HostDeinitialize asked{.host = host_};
    profiler_.host_deinitialize(&asked);  // nothing can be done about an error, and nothing uses the object any more
  }
}

std::vector<std::string> CounterHost::base_metrics() const {
  std::vector<std::string> names;
  for (int type = 0; host_ != nullptr && type < cupti::kMetricTypes; ++type) {
    cupti::GetBaseMetrics asked{.host = host_, .type = type};
    if (profiler_.base_metrics(&asked) == cupti::kSuccess) {  // only help with names depends on it
      names.insert(names.end(), asked.names, asked.names + asked.count);
    }
  }
  return names;
}

std::vector<std::string> CounterHost::rollups(const std::string& base) const {
  for (int type = 0; host_ != nullptr && type < cupti::kMetricTypes; ++type) {
    cupti::GetSubMetrics asked{.host = host_, .type = type, .metric = base.c_str()};
    if (profiler_.sub_metrics(&asked) == cupti::kSuccess && asked.count > 0) {
      return {asked.names, asked.names + asked.count};
    }
  }
  return {};
}

cupti::Result CounterHost::configure(const std::vector<std::string>& metrics, CounterConfig& config) {
  std::vector<const char*> names = c_names(metrics);
  cupti::ConfigAddMetrics added{.host = host_, .names = names.data(), .count = names.size()};
  if (const auto result = profiler_.add_metrics(&added); result != cupti::kSuccess) {
    return result;
  }
  cupti::GetConfigImageSize sized{.host = host_};
  if (const auto result = profiler_.config_image_size(&sized); result != cupti::kSuccess) {
    return result;
  }
  config.image.assign(sized.bytes, 0);
  cupti::GetConfigImage filled{.host = host_, .bytes = config.image.size(), .image = config.image.data()};
  if (const auto result = profiler_.config_image(&filled); result != cupti::kSuccess) {
    return result;
  }
  cupti::GetNumOfPasses counted{.bytes = config.image.size(), .image = config.image.data()};
  const auto result = profiler_.passes(&counted);
  config.passes = counted.passes;
  return result;
}

cupti::Result CounterHost::evaluate(const std::vector<std::uint8_t>& data, std::size_t range,
                                    const std::vector<std::string>& metrics, std::vector<double>& values) const {
  std::vector<const char*> names = c_names(metrics);
  values.assign(metrics.size(), std::nan(""));
  cupti::EvaluateToGpuValues asked{.host = host_,
                                   .data = data.data(),
                                   .bytes = data.size(),
                                   .range = range,
                                   .names = names.data(),
                                   .count = names.size(),
                                   .values = values.data()};
  return profiler_.evaluate(&asked);
}

namespace {

// Asks for each metric by itself, and says of the refused ones why.
void sort_out(const cupti::Library& library, const cupti::Profiler& profiler, const std::string& chip,
              const std::vector<std::uint8_t>& availability, const std::vector<std::string>& wanted,
              CounterSchedule& schedule) {
  std::vector<std::string> bases;  // asked for at the first refusal
  for (const std::string& metric : wanted) {
    CounterHost alone(library, profiler, chip, availability);
    CounterConfig config;
    if (alone.missing().empty() && alone.configure({metric}, config) == cupti::kSuccess && config.passes > 0) {
      schedule.metrics.push_back(metric);
      continue;
    }
    const CounterHost names(library, profiler, chip, availability);
    bases = bases.empty() ? names.base_metrics() : bases;
    schedule.refused.push_back(
        {.metric = metric, .why = explain_refused(metric, bases, names.rollups(base_metric(metric)))});
  }
}

}  // namespace

CounterSchedule schedule_counters(const cupti::Library& library, const cupti::Profiler& profiler,
                                  const std::string& chip, const std::vector<std::uint8_t>& availability,
                                  const std::vector<std::string>& wanted) {
  CounterSchedule schedule;
  const std::vector<std::string> once = each_once(wanted);
  const auto new_host = [&] {
    schedule.host = std::make_unique<CounterHost>(library, profiler, chip, availability);
    schedule.missing = schedule.host->missing();
    return schedule.missing.empty();
  };
  if (!new_host()) {
    return schedule;
  }
  // Nearly always all of them exist, which this one object then tells, instead of one for each.
  if (!once.empty() && schedule.host->configure(once, schedule.config) == cupti::kSuccess &&
      schedule.config.passes > 0) {
    schedule.metrics = once;
    return schedule;
  }
  sort_out(library, profiler, chip, availability, once, schedule);
  if (schedule.metrics.empty()) {
    schedule.missing = "none of the metrics exists on this GPU";
  } else if (new_host()) {
    const auto result = schedule.host->configure(schedule.metrics, schedule.config);
    schedule.missing =
        result == cupti::kSuccess ? "" : cupti::explain_trouble(library, result, "scheduling the counters");
  }
  return schedule;
}

}  // namespace apo
