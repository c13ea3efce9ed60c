// harness/research/prediction/relations.cpp - techniques, steps and toggles, counted.
#include "harness/research/prediction/relations.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace apo {

std::vector<std::string> added_techniques(const Variant& variant, const Variant& base) {
  std::vector<std::string> added;
  for (const std::string& technique : variant.techniques) {
    if (std::find(base.techniques.begin(), base.techniques.end(), technique) == base.techniques.end()) {
      added.push_back(technique);
    }
  }
  return added;
}

int steps_between(const std::vector<Tunable>& tunables, const Settings& from, const Settings& to) {
  std::ptrdiff_t steps = 0;
  for (const Tunable& tunable : tunables) {
    std::vector<std::int64_t> values = tunable.values;
    std::ranges::sort(values);
    const auto place = [&](const Settings& settings) {
      const auto found = settings.find(tunable.name);
      return found == settings.end() ? values.begin() : std::ranges::lower_bound(values, found->second);
    };
    const auto value = [&](const Settings& settings) {
      const auto found = settings.find(tunable.name);
      return found == settings.end() ? std::optional<std::int64_t>() : found->second;
    };
    steps += value(from) == value(to) ? 0 : std::max<std::ptrdiff_t>(1, std::abs(place(from) - place(to)));
  }
  return static_cast<int>(steps);
}

std::vector<Tunable> toggles_of(const Variant& variant) {
  std::vector<Tunable> toggles = variant.tunables;
  std::erase_if(toggles, [](const Tunable& tunable) { return tunable.technique.empty(); });
  return toggles;
}

int turned(const Tunable& toggle, const Settings& from, const Settings& to) {
  const auto is_on = [&](const Settings& settings) {
    const auto value = settings.find(toggle.name);
    return value != settings.end() && value->second != 0 ? 1 : 0;
  };
  return is_on(to) - is_on(from);
}

}  // namespace apo
