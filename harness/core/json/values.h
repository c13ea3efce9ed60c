// harness/core/json/values.h - null where nothing was measured, because JSON has no NaN; and lists.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace apo {

inline nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}
inline nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
  return value ? number_or_null(*value) : nlohmann::ordered_json(nullptr);
}
// Converts a value in which 0 means "not measured".
inline nlohmann::ordered_json positive_or_null(double value) {
  return value > 0 ? number_or_null(value) : nlohmann::ordered_json(nullptr);
}
// Converts a log effect to its ratio.
inline nlohmann::ordered_json ratio_or_null(double log_effect) {
  return number_or_null(std::exp(log_effect));
}

template <class Records, class Function>
nlohmann::ordered_json list_of(const Records& records, const Function& function) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& record : records) {
    list.push_back(function(record));
  }
  return list;
}

}  // namespace apo
