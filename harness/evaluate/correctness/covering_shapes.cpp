// harness/evaluate/correctness/covering_shapes.cpp - chooses places pair by pair, draws values in them, repairs these.
#include "harness/evaluate/correctness/covering_shapes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "harness/core/expression/expression_tree.h"
#include "harness/runtime/input_store.h"
#include "kernels/random.h"

namespace apo {

double checked_operations(const Family& family, const Axes& axes) {
  if (!check_axes(family, axes).empty()) {
    return 0;
  }
  const Work work = family.work(axes);
  const auto units = static_cast<double>(family.unit_count(axes));
  const auto most = static_cast<double>(most_checked_units(family, axes));
  return (work.flops + work.special_functions) * std::min(1.0, most / units);
}

namespace {

enum class Place : std::uint8_t { least, inside, beyond };

// An axis that no build knows, and its values in workloads that are not extreme.
struct AxisRange {
  const AxisSpec* axis;
  std::int64_t listed;  // the largest
  std::uint64_t turn;   // of the forms

  std::vector<Place> places() const {
    std::vector<Place> all = {Place::least};
    if (listed > axis->min) {
      all.push_back(Place::inside);
    }
    if (axis->max > listed) {
      all.push_back(Place::beyond);
    }
    return all;
  }
  Place place_of(std::int64_t value) const {
    return value <= axis->min ? Place::least : value <= listed ? Place::inside : Place::beyond;
  }
};

// Two axes, by their number, and a place of each.
using TwoPlaces = std::tuple<std::size_t, Place, std::size_t, Place>;

bool is_prime(std::int64_t value) {
  for (std::int64_t i = 2; i * i <= value; ++i) {
    if (value % i == 0) {
      return false;
    }
  }
  return value > 1;
}

// The power of two next to `value` in logarithms.
std::int64_t power_near(std::int64_t value) {
  const auto below = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(value)));
  return value / below * 2 >= 3 ? 2 * below : below;  // never above 2^62: axes end long before
}

// A value in [low, high], of the form whose turn it is where there is one.
std::int64_t draw_value(std::int64_t low, std::int64_t high, std::uint64_t turn, Random& random) {
  constexpr std::uint64_t kForms = 4;
  constexpr std::int64_t kNearby = 200;  // there is a prime among that many numbers, as far as axes go
  // Even in logarithms: of 1 to a million, a hundred is as good as a hundred thousand.
  const double drawn = std::exp(random.uniform(std::log(static_cast<double>(std::max<std::int64_t>(low, 1))),
                                               std::log(static_cast<double>(high) + 1)));
  const std::int64_t any = std::clamp(static_cast<std::int64_t>(drawn), low, high);
  const auto inside = [&](std::int64_t value) { return value >= low && value <= high; };
  switch (turn % kForms) {
    case 0:
      for (std::int64_t i = 0; i < kNearby; ++i) {
        for (const std::int64_t value : {any - i, any + i}) {
          if (inside(value) && is_prime(value)) {
            return value;
          }
        }
      }
      return any;
    case 1:
    case 2: {
      const std::int64_t step = turn % kForms == 1 ? -1 : 1;
      const std::int64_t power = power_near(std::max<std::int64_t>(any, 1));
      for (const std::int64_t value : {power + step, power / 2 + step, 2 * power + step}) {
        if (inside(value)) {
          return value;
        }
      }
      return any;
    }
    default:
      return any;
  }
}

class CoveringShapes {
 public:
  CoveringShapes(const Family& family, const ShapeBudget& budget, const std::function<bool(const Axes&)>& takes,
                 std::uint64_t seed)
      : family_(family), budget_(budget), takes_(takes), random_(seed) {
    for (const AxisSpec& axis : family.axes) {
      if (!axis.specialised && axis.max > axis.min) {
        ranges_.push_back({.axis = &axis, .listed = axis.min, .turn = random_.next()});
        for (const Workload& workload : family.workloads) {
          if (workload.kind != WorkloadKind::extreme) {
            ranges_.back().listed = std::max(ranges_.back().listed, workload.axes.at(axis.name));
          }
        }
      }
    }
    bases_ = base_shapes(family, takes, budget.elements);
  }

  std::vector<Axes> draw(std::size_t most, std::size_t more) {
    std::vector<Axes> shapes;
    if (ranges_.empty() || bases_.empty()) {
      return shapes;
    }
    learn_operations();
    cover(shapes, most);
    const std::size_t wanted = std::min(most, shapes.size() + more);
    for (std::size_t i = 0; i < more && shapes.size() < wanted; ++i) {
      cover(shapes, wanted);
    }
    return shapes;
  }

 private:
  // Adds shapes that have every two places, until there are `most`.
  void cover(std::vector<Axes>& shapes, std::size_t most) {
    list_pairs();
    const std::size_t tries = 3 * most;
    for (std::size_t i = 0; i < tries && shapes.size() < most && !pairs_.empty(); ++i) {
      const TwoPlaces wanted = *std::next(pairs_.begin(), static_cast<std::ptrdiff_t>(random_.below(pairs_.size())));
      std::optional<Axes> shape = draw_with(wanted);
      pairs_.erase(wanted);  // also where nothing legal has it
      if (shape && !is_listed(*shape) && std::ranges::find(shapes, *shape) == shapes.end()) {
        std::erase_if(pairs_, [&](const TwoPlaces& pair) { return has(*shape, pair); });
        shapes.push_back(std::move(*shape));
      }
    }
  }

  // How the operations of a check grow with each axis: as a power, which half of the largest workload tells, or twice
  // that where half is not legal. Counting takes as long as computing, so that shapes themselves are not counted.
  void learn_operations() {
    const Axes& largest = bases_.back();
    const double known = std::max(1.0, checked_operations(family_, largest));
    const auto power = [&](const std::string& axis, bool is_half) -> std::optional<double> {
      Axes other = largest;
      std::int64_t& value = other.at(axis);
      const auto before = static_cast<double>(std::max<std::int64_t>(1, value));
      value = is_half ? value / 2 : std::max<std::int64_t>(1, 2 * value);
      const double operations = value > 0 ? checked_operations(family_, other) : 0;
      return operations > 0 ? std::optional(std::max(
                                  0.0, std::log(operations / known) / std::log(static_cast<double>(value) / before)))
                            : std::nullopt;
    };
    for (const AxisRange& range : ranges_) {
      const std::string& axis = range.axis->name;
      const std::optional<double> of_half = power(axis, true);
      // Where neither is legal: as fast as anything known grows.
      powers_.push_back(of_half ? *of_half : power(axis, false).value_or(2));
    }
  }

  double operations(const Axes& axes) const {
    double result = known_operations_;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const auto value = static_cast<double>(std::max<std::int64_t>(1, axes.at(ranges_[i].axis->name)));
      const auto known = static_cast<double>(std::max<std::int64_t>(1, known_.at(ranges_[i].axis->name)));
      result *= std::pow(value / known, powers_[i]);
    }
    return result;
  }

  // None that has a negative size, such as a filter larger than its image.
  bool is_affordable(const Axes& axes) const {
    try {
      return element_count(family_, axes) <= budget_.elements && operations(axes) <= budget_.operations;
    } catch (const ExpressionError&) {
      return false;
    }
  }
  bool is_good(const Axes& axes) const {
    return is_affordable(axes) && check_axes(family_, axes).empty() && takes_(axes);
  }
  bool is_listed(const Axes& axes) const {
    return std::ranges::find(family_.workloads, axes, &Workload::axes) != family_.workloads.end();
  }

  void list_pairs() {
    for (std::size_t a = 0; a < ranges_.size(); ++a) {
      for (std::size_t b = ranges_.size() == 1 ? 0 : a + 1; b < ranges_.size(); ++b) {
        for (const Place of_a : ranges_[a].places()) {
          for (const Place of_b : ranges_[b].places()) {
            if (a != b || of_a == of_b) {  // a single axis is a pair with itself
              pairs_.insert({a, of_a, b, of_b});
            }
          }
        }
      }
    }
  }

  bool has(const Axes& axes, const TwoPlaces& pair) const {
    const auto& [a, of_a, b, of_b] = pair;
    return ranges_[a].place_of(axes.at(ranges_[a].axis->name)) == of_a &&
           ranges_[b].place_of(axes.at(ranges_[b].axis->name)) == of_b;
  }

  // The places of all axes: those of the pair, and of the others such that many pairs are covered at once.
  std::vector<Place> places_with(const TwoPlaces& pair) {
    std::vector<std::optional<Place>> places(ranges_.size());
    places[std::get<0>(pair)] = std::get<1>(pair);
    places[std::get<2>(pair)] = std::get<3>(pair);
    std::vector<std::size_t> order(ranges_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    shuffle(order, random_);
    for (const std::size_t i : order) {
      if (places[i]) {
        continue;
      }
      std::vector<Place> known = ranges_[i].places();
      shuffle(known, random_);
      places[i] = *std::ranges::max_element(known, {}, [&](Place place) {
        std::size_t covered = 0;
        for (std::size_t other = 0; other < places.size(); ++other) {
          if (other != i && places[other]) {
            covered += pairs_.contains(i < other ? TwoPlaces{i, place, other, *places[other]}
                                                 : TwoPlaces{other, *places[other], i, place});
          }
        }
        return covered;
      });
    }
    std::vector<Place> all;
    for (const std::optional<Place>& place : places) {
      all.push_back(*place);
    }
    return all;
  }

  std::optional<Axes> draw_with(const TwoPlaces& pair) {
    constexpr int kDraws = 8;  // a repaired shape has round values more often than a drawn one
    const std::vector<Place> places = places_with(pair);
    std::vector<std::size_t> all(ranges_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    // Any workload, the one that costs least, then the first one that is taken; first all axes change, then two: most
    // contracts take that.
    const auto taken = std::ranges::find_if(bases_, takes_);
    for (const Axes& base :
         {bases_[random_.below(bases_.size())], bases_.front(), taken == bases_.end() ? bases_.front() : *taken}) {
      known_ = base;
      known_operations_ = std::max(1.0, checked_operations(family_, known_));
      for (const std::vector<std::size_t>& changed : {all, {std::get<0>(pair), std::get<2>(pair)}}) {
        Axes axes = base;
        for (int draw = 0; draw < kDraws && (draw == 0 || !is_good(axes)); ++draw) {
          for (const std::size_t i : changed) {
            axes.at(ranges_[i].axis->name) = draw_in(ranges_[i], places[i]);
          }
          shrink(axes);
        }
        if (repair(axes)) {
          return axes;
        }
      }
    }
    return std::nullopt;
  }

  std::int64_t draw_in(AxisRange& range, Place place) {
    constexpr std::int64_t kFew = 16;
    const AxisSpec& axis = *range.axis;
    switch (place) {
      case Place::least:
        return axis.min;
      case Place::inside:
        return draw_value(axis.min + 1, range.listed, range.turn++, random_);
      case Place::beyond:
        break;
    }
    return draw_value(range.listed + 1, std::min(axis.max, std::max(2 * range.listed, range.listed + kFew)),
                      range.turn++, random_);
  }

  // Halves the axis that is the farthest from its minimum until the shape is affordable, those inside first.
  void shrink(Axes& axes) {
    while (!is_affordable(axes)) {
      AxisRange* largest = nullptr;
      double most = 0;
      for (AxisRange& range : ranges_) {
        const std::int64_t value = axes.at(range.axis->name);
        const double room = static_cast<double>(value) / static_cast<double>(range.axis->min + 1);
        const double first = range.place_of(value) == Place::inside ? 1e6 : 1;
        if (value > range.axis->min + 1 && room * first > most) {
          most = room * first;
          largest = &range;
        }
      }
      if (largest == nullptr) {
        return;  // too much even then: it is refused
      }
      std::int64_t& value = axes.at(largest->axis->name);
      const std::int64_t low = largest->axis->min + 1;
      value = draw_value(std::max(low, value / 4), std::max(low, value / 2), largest->turn++, random_);
    }
  }

  // Values near that of an axis which a contract may ask for: rounded ones, and those that others have a part in.
  std::vector<std::int64_t> nearby(const Axes& axes, const AxisSpec& axis) const {
    const std::int64_t value = axes.at(axis.name);
    std::set<std::int64_t> found;
    const auto round_to = [&](std::int64_t unit) {
      found.insert(value / unit * unit);
      found.insert((value / unit + 1) * unit);
    };
    for (const std::int64_t unit : {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 128, 256}) {
      round_to(unit);
    }
    for (const auto& [name, other] : axes) {
      if (name != axis.name && other > 0) {
        round_to(other);
        for (const std::int64_t factor : {1, 2, 3, 4, 8, 16}) {
          found.insert(other * factor);
          found.insert(other / factor);
        }
      }
    }
    found.erase(value);
    std::erase_if(found, [&](std::int64_t each) { return each < axis.min || each > axis.max; });
    return {found.begin(), found.end()};
  }

  // Moves one axis, then two, until the shape is good.
  bool repair(Axes& axes) {
    constexpr int kTries = 48;
    if (is_good(axes)) {
      return true;
    }
    std::vector<const AxisRange*> order;
    for (const AxisRange& range : ranges_) {
      order.push_back(&range);
    }
    shuffle(order, random_);
    for (const AxisRange* range : order) {
      std::vector<std::int64_t> values = nearby(axes, *range->axis);
      shuffle(values, random_);
      for (const std::int64_t value : values) {
        Axes moved = axes;
        moved.at(range->axis->name) = value;
        if (is_good(moved)) {
          axes = std::move(moved);
          return true;
        }
      }
    }
    for (int i = 0; i < kTries; ++i) {
      Axes moved = axes;
      for (int step = 0; step < 2; ++step) {
        const AxisSpec& axis = *ranges_[random_.below(ranges_.size())].axis;
        if (const std::vector<std::int64_t> values = nearby(moved, axis); !values.empty()) {
          moved.at(axis.name) = values[random_.below(values.size())];
        }
      }
      if (is_good(moved)) {
        axes = std::move(moved);
        return true;
      }
    }
    return false;
  }

  const Family& family_;
  const ShapeBudget& budget_;
  const std::function<bool(const Axes&)>& takes_;
  Random random_;
  std::vector<AxisRange> ranges_;
  std::vector<Axes> bases_;
  std::set<TwoPlaces> pairs_;  // that no shape has yet
  Axes known_;                 // the workload that changes, and its operations
  double known_operations_ = 1;
  std::vector<double> powers_;  // of each range
};

}  // namespace

std::vector<Axes> base_shapes(const Family& family, const std::function<bool(const Axes&)>& takes,
                              std::int64_t most_elements) {
  std::vector<Axes> bases;
  for (const Workload& workload : family.workloads) {
    if (is_small(workload)) {
      bases.push_back(workload.axes);
    }
  }
  const auto is_taken = [&](const Axes& axes) { return check_axes(family, axes).empty() && takes(axes); };
  const auto large = std::ranges::find_if(family.workloads, [&](const Workload& one) {
    return one.kind == WorkloadKind::production && is_taken(one.axes);
  });
  if (!bases.empty() && large != family.workloads.end() && std::ranges::none_of(bases, is_taken)) {
    Axes least = large->axes;
    for (const AxisSpec& axis : family.axes) {
      while (!axis.specialised && least.at(axis.name) % 2 == 0) {
        Axes half = least;
        half.at(axis.name) /= 2;
        if (half.at(axis.name) == 0 || !is_taken(half)) {
          break;
        }
        least = std::move(half);
      }
    }
    if (element_count(family, least) <= most_elements) {
      bases.push_back(std::move(least));
    }
  }
  std::ranges::sort(bases, {}, [&](const Axes& axes) { return element_count(family, axes); });
  return bases;
}

std::vector<Axes> covering_shapes(const Family& family, const ShapeBudget& budget, std::size_t most,
                                  const std::function<bool(const Axes&)>& takes, std::uint64_t seed, std::size_t more) {
  return CoveringShapes(family, budget, takes, seed).draw(most, more);
}

}  // namespace apo
