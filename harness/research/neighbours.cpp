// harness/research/neighbours.cpp - one step along one tunable.
#include "harness/research/neighbours.h"

#include <algorithm>
#include <iterator>

#include "kernels/random.h"

namespace apo {
namespace {

Settings completed(const Settings& settings, const std::vector<Tunable>& tunables) {
  Settings full = settings;
  for (const Tunable& tunable : tunables) {
    if (!tunable.values.empty()) {
      full.try_emplace(tunable.name, tunable.values.front());
    }
  }
  return full;
}

// The next smaller and the next larger value; a value that is not in the list has neighbours too.
std::vector<std::int64_t> neighbours(std::vector<std::int64_t> values, std::int64_t value) {
  std::sort(values.begin(), values.end());
  std::vector<std::int64_t> found;
  const auto above = std::upper_bound(values.begin(), values.end(), value);
  if (above != values.end()) {
    found.push_back(*above);
  }
  const auto not_below = std::lower_bound(values.begin(), values.end(), value);
  if (not_below != values.begin()) {
    found.push_back(*std::prev(not_below));
  }
  return found;
}

}  // namespace

std::vector<Settings> neighbours_of_best(const std::vector<Tunable>& tunables, const Settings& centre,
                                         const std::vector<MeasuredSettings>& measured, std::uint64_t seed, int count) {
  std::vector<MeasuredSettings> known = {{.settings = completed(centre, tunables), .effect = 0}};
  for (const MeasuredSettings& one : measured) {
    const Settings settings = completed(one.settings, tunables);
    if (settings == known.front().settings) {
      known.front().effect = one.effect;
    } else {
      known.push_back({.settings = settings, .effect = one.effect});
    }
  }
  const auto best =
      std::max_element(known.begin(), known.end(), [](const auto& a, const auto& b) { return a.effect < b.effect; });
  std::vector<Settings> proposed;
  for (const Tunable& tunable : tunables) {
    if (tunable.values.empty()) {
      continue;
    }
    for (const std::int64_t value : neighbours(tunable.values, best->settings.at(tunable.name))) {
      Settings step = best->settings;
      step[tunable.name] = value;
      const bool tried = std::any_of(known.begin(), known.end(), [&](const auto& one) { return one.settings == step; });
      if (!tried && std::find(proposed.begin(), proposed.end(), step) == proposed.end()) {
        proposed.push_back(std::move(step));
      }
    }
  }
  Random random(derive_seed(seed, "neighbourhood"));
  shuffle(proposed, random);
  proposed.resize(std::min(proposed.size(), static_cast<std::size_t>(std::max(0, count))));
  return proposed;
}

}  // namespace apo
