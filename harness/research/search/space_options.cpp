// harness/research/search/space_options.cpp - turns a variant's tunables into a space and asks its model.
#include "harness/research/search/space_options.h"

#include <algorithm>
#include <utility>

#include "harness/research/search/search_space.h"
#include "harness/research/search/space_model.h"

namespace apo {
namespace {

Levels levels_of(const Variant& variant, const Settings& settings) {
  Levels levels;
  for (const Tunable& tunable : variant.tunables) {
    const auto stated = settings.find(tunable.name);
    const std::int64_t value = stated == settings.end() ? tunable.values.front() : stated->second;
    levels.push_back(static_cast<std::size_t>(
        std::ranges::count_if(tunable.values, [&](std::int64_t other) { return other < value; })));
  }
  return levels;
}

SearchSpace search_space_of(const Variant& variant, const std::vector<Settings>& legal) {
  Levels counts;
  for (const Tunable& tunable : variant.tunables) {
    counts.push_back(tunable.values.size());
  }
  std::vector<Levels> levels;
  for (const Settings& settings : legal) {
    levels.push_back(levels_of(variant, settings));
  }
  return {std::move(counts), std::move(levels)};
}

// Each suggestion counts as the fastest one when the next is asked for, so that suggestions spread.
std::vector<Settings> suggested(const Variant& variant, const std::vector<Settings>& legal,
                                const std::vector<KnownSettings>& known, std::uint64_t seed) {
  const SearchSpace space = search_space_of(variant, legal);
  std::vector<Evaluated> history;
  for (const KnownSettings& one : known) {
    if (const auto point = space.find(levels_of(variant, one.settings))) {
      history.push_back({.point = *point, .cost = -one.effect});
    }
  }
  const auto best = std::ranges::min_element(history, {}, &Evaluated::cost);
  std::vector<std::size_t> points = best == history.end() ? std::vector<std::size_t>() : space.neighbours(best->point);
  const double lowest = best == history.end() ? 0 : best->cost;
  for (std::size_t i = 0; i < kSuggestions; ++i) {
    const auto next = next_point(space, history, seed);
    if (!next) {
      break;
    }
    history.push_back({.point = *next, .cost = lowest});
    points.push_back(*next);
  }
  std::vector<Settings> options;
  for (const std::size_t point : points) {
    if (std::ranges::find(options, legal[point]) == options.end()) {
      options.push_back(legal[point]);
    }
  }
  return options;
}

}  // namespace

std::vector<Settings> space_options(const Variant& variant, const std::function<bool(const Settings&)>& is_legal,
                                    const std::vector<KnownSettings>& known, std::uint64_t seed) {
  std::vector<Settings> legal = settings_space(variant);
  std::erase_if(legal, [&](const Settings& settings) { return !is_legal(settings); });
  return legal.size() <= kWholeSpace ? legal : suggested(variant, legal, known, seed);
}

}  // namespace apo
