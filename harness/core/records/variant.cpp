// harness/core/records/variant.cpp - settings of a variant, and what its author predicted.
#include "harness/core/records/variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/core/text.h"

namespace apo {

Settings default_settings(const Variant& variant) {
  Settings settings;
  for (const Tunable& tunable : variant.tunables) {
    settings[tunable.name] = tunable.values.front();
  }
  return stated_settings(variant, std::move(settings));
}

Settings stated_settings(const Variant& variant, Settings settings) {
  for (const Tunable& tunable : variant.tunables) {
    if (const auto value = settings.find(tunable.name);
        !tunable.technique.empty() && value != settings.end() && value->second == 0) {
      settings.erase(value);
    }
  }
  return settings;
}

std::vector<Settings> settings_space(const Variant& variant) {
  std::vector<Settings> space(1);
  for (const Tunable& tunable : variant.tunables) {
    if (space.size() * tunable.values.size() > static_cast<std::size_t>(kMaxConfigurations)) {
      return {};
    }
    std::vector<Settings> larger;
    larger.reserve(space.size() * tunable.values.size());
    for (const Settings& settings : space) {
      for (const std::int64_t value : tunable.values) {
        larger.push_back(settings);
        larger.back()[tunable.name] = value;
      }
    }
    space = std::move(larger);
  }
  return space;
}

std::vector<std::string> techniques_of(const Variant& variant, const Settings& settings) {
  std::vector<std::string> techniques = variant.techniques;
  for (const Tunable& tunable : variant.tunables) {
    const auto value = settings.find(tunable.name);
    const bool on = value != settings.end() && value->second != 0;
    if (on && !tunable.technique.empty() && std::ranges::find(techniques, tunable.technique) == techniques.end()) {
      techniques.push_back(tunable.technique);
    }
  }
  return techniques;
}

std::string Configuration::label() const {
  if (settings.empty()) {
    return variant;
  }
  std::vector<std::string> parts;
  for (const auto& [name, value] : settings) {
    parts.push_back(fmt::format("{}={}", name, value));
  }
  return variant + "[" + join(parts, ",") + "]";
}

bool is_band(const Prediction& prediction) {
  return std::isfinite(prediction.low) && std::isfinite(prediction.high) && prediction.low > 0 &&
         prediction.high >= prediction.low;
}

bool has_prediction(const Prediction& prediction) {
  const bool untouched = prediction.low == 1.0 && prediction.high == 1.0 && prediction.because.empty();
  return is_band(prediction) && !untouched;
}

}  // namespace apo
