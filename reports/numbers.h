// reports/numbers.h - formats numbers with unit, interval and sample count; a missing value reads "not measured".
#pragma once

#include <string>

#include "reports/model.h"

namespace apo::report {

inline constexpr const char* kNotMeasuredText = "not measured";

std::string fixed(double value, int decimals);  // "1.50", the same in every locale
std::string ratio_text(double log_effect);      // "1.53x"
// Prints as many decimals as the interval deserves: "1.53x [1.50x, 1.56x]".
std::string effect_text(double effect, double lower, double upper);
std::string measured_text(const Experiment& experiment);           // "1.53x [1.50x, 1.56x] n=22" or "not measured"
std::string certified_figure(const Certification& certification);  // the same for a certification
std::string band_text(const Prediction& prediction);               // "1.50x to 1.80x" or "not predicted"
std::string percent_text(double fraction);                         // 0.51 -> "51 %"
std::string time_text(double ns);                                  // zero and NaN are "not measured"
std::string metric_text(const Metric& metric);                     // "0.712 ms [0.709, 0.716] n=240"
std::string roof_text(const Roof& roof);                           // "98.1 Gflop/s [97.9, 98.3] n=20"

}  // namespace apo::report
