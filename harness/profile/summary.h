// harness/profile/summary.h - summarises repeated measurements: centre, spread, and an interval for the centre.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "harness/core/records/records.h"

namespace apo {

struct SampleSummary {
  int count = 0;
  double median = 0;
  double lower = 0;  // interval of the median, as of QuantileInterval
  double upper = 0;
  double mad_sigma = 0;  // 1.4826 MAD, which is sigma for normal data (Iglewicz & Hoaglin 1993)
  double p10 = 0;
  double p90 = 0;
};

// A quantile with its distribution-free 95 % interval: the order statistics that enclose it with that probability for
// any distribution, or the ends of the samples where there are too few.
struct QuantileInterval {
  int count = 0;
  double value = 0;
  double lower = 0;
  double upper = 0;
};

// Both drop non-finite values, keep the first thousand, and return all zeros for an empty list.
QuantileInterval quantile_interval(std::vector<double> values, double p);
SampleSummary summarise(std::vector<double> values);

// Adds metrics, leaving out what has no finite value.
class MetricList {
 public:
  explicit MetricList(std::vector<Metric>& metrics) : metrics_(metrics) {}
  void add(const std::string& name, double value, const std::string& unit, int samples = 1) {
    if (std::isfinite(value)) {
      metrics_.push_back({.name = name, .value = value, .unit = unit, .samples = samples});
    }
  }
  void add_time(const std::string& name, const SampleSummary& summary) {
    metrics_.push_back({.name = name,
                        .value = summary.median,
                        .unit = "ns",
                        .lower = summary.lower,
                        .upper = summary.upper,
                        .samples = summary.count});
  }

 private:
  std::vector<Metric>& metrics_;
};

}  // namespace apo
