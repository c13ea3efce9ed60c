// harness/evaluate/requirement/requirement_search.cpp - finds the guilty axes, the step or the end of each, and tries
// the condition on drawn shapes.
#include "harness/evaluate/requirement/requirement_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <vector>

#include "harness/core/expression/expression.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Names = std::vector<std::string>;

class RequirementSearch {
 public:
  explicit RequirementSearch(const RequirementQuestion& question) : question_(question) {
    for (const AxisSpec& axis : question.family.axes) {
      if (!axis.specialised && axis.max > axis.min) {
        free_.push_back(axis.name);
      }
    }
  }

  std::optional<Requirement> run() {
    constexpr std::size_t kMostAxes = 12;  // all sets of them are looked at
    if (free_.size() > kMostAxes || !find_base()) {
      return std::nullopt;
    }
    if (!find_conditions()) {
      most_tried_ += kMostTried;
      if (!find_relation()) {
        return std::nullopt;
      }
    }
    drop_needless();
    draw(kDrawnElsewhere, derive_seed(question_.seed, "outside"), [this](const Axes& axes) { return !holds(axes); });
    const Requirement found = summary();
    return found.right < kLeastRight || !is_wrong_again() ? std::nullopt : std::optional(found);
  }

 private:
  static constexpr std::size_t kMostTried = 64;
  static constexpr std::size_t kDrawn = 6;
  static constexpr std::size_t kDrawnElsewhere = 3;
  static constexpr int kLeastRight = 5;
  static constexpr int kWrongAgain = 4;

  bool find_conditions() {
    constexpr int kMostTurns = 6;
    std::optional<Axes> wrong = question_.failing;
    for (int turn = 0; wrong && turn < kMostTurns; ++turn) {
      if (!explain(*wrong) || !holds(question_.production)) {
        return false;
      }
      wrong = wrong_where_it_holds(derive_seed(question_.seed, "inside", static_cast<std::uint64_t>(turn)));
    }
    return !wrong && tried_.size() < most_tried_;
  }

  // One between two axes that the production sizes have and the failing ones have not, the weakest that is right.
  bool find_relation() {
    for (const char* const form : {"{0} >= {1}", "{0} % {1} == 0", "{0} == {2}{1}"}) {
      for (const std::string& a : free_) {
        for (const std::string& b : free_) {
          const std::int64_t ratio = question_.production.at(a) / std::max<std::int64_t>(1, question_.production.at(b));
          conditions_ = {fmt::format(fmt::runtime(form), a, b, ratio == 1 ? "" : fmt::format("{} * ", ratio))};
          if (a != b && holds(question_.production) && !holds(question_.failing) && is_right_related(a, b, ratio) &&
              !wrong_where_it_holds(derive_seed(question_.seed, "related"))) {
            return true;
          }
        }
      }
    }
    return false;
  }

  // Whether it is right where the condition holds, and nowhere else, on some values of both axes.
  bool is_right_related(const std::string& a, const std::string& b, std::int64_t ratio) {
    for (const std::int64_t of_b : {base_.at(b), base_.at(b) + 1, base_.at(b) / 2, std::int64_t{2}, std::int64_t{3}}) {
      for (const std::int64_t of_a : {ratio * of_b, of_b, 3 * of_b, of_b + 1, of_b - 1}) {
        const Axes axes = with(with(base_, b, of_b), a, of_a);
        if (is_legal(axes) && try_on(axes).value_or(holds(axes)) != holds(axes)) {
          return false;
        }
      }
    }
    return true;
  }

  bool holds(const Axes& axes) const {
    return std::ranges::all_of(conditions_, [&](const std::string& one) { return evaluate(one, axes) != 0; });
  }
  bool is_legal(const Axes& axes) const { return check_axes(question_.family, axes).empty() && question_.takes(axes); }

  // nullopt where it may not be tried.
  std::optional<bool> try_on(const Axes& axes) {
    if (const auto known = tried_.find(axes); known != tried_.end()) {
      return known->second;
    }
    if (tried_.size() >= most_tried_ || !is_legal(axes) ||
        element_count(question_.family, axes) > question_.most_elements) {
      return std::nullopt;
    }
    return tried_[axes] = question_.is_right(axes);
  }

  static Axes with(Axes axes, const std::string& name, std::int64_t value) {
    axes.at(name) = value;
    return axes;
  }
  static Axes with(Axes axes, const Names& names, const Axes& values) {
    for (const std::string& name : names) {
      axes.at(name) = values.at(name);
    }
    return axes;
  }

  // Halves even axes, the largest first, until the sizes are small enough. The `kept` ones count as that part of
  // themselves, and are not halved where it is 0.
  std::optional<Axes> halved(Axes axes, const Names& kept, double part,
                             const std::function<bool(const Axes&)>& is_enough) const {
    while (!is_enough(axes)) {
      std::int64_t* chosen = nullptr;
      double most = 0;
      for (const std::string& name : free_) {
        std::int64_t& value = axes.at(name);
        const bool is_kept = std::ranges::find(kept, name) != kept.end();
        const double counts = value % 2 != 0 ? 0 : static_cast<double>(value) * (is_kept ? part : 1);
        if (counts > most) {
          most = counts;
          chosen = &value;
        }
      }
      if (chosen == nullptr) {
        return std::nullopt;
      }
      *chosen /= 2;
    }
    return axes;
  }

  // Every set of so many of the names.
  static std::vector<Names> sets_of(std::size_t size, const Names& names) {
    std::vector<Names> sets;
    for (std::uint32_t bits = 0; bits < std::uint32_t{1} << names.size(); ++bits) {
      if (static_cast<std::size_t>(std::popcount(bits)) != size) {
        continue;
      }
      Names& set = sets.emplace_back();
      for (std::size_t i = 0; i < names.size(); ++i) {
        if ((bits >> i & 1) != 0) {
          set.push_back(names[i]);
        }
      }
    }
    return sets;
  }

  // Sizes on which it is right and that are like the production ones: some axes are halved less often than others.
  bool find_base() {
    constexpr std::size_t kMostKept = 2;
    constexpr std::size_t kMostBases = 24;
    const auto is_affordable = [&](const Axes& axes) {
      return element_count(question_.family, axes) <= question_.budget.elements &&
             checked_operations(question_.family, axes) <= question_.budget.operations;
    };
    for (const double part : {1.0 / 64, 1.0 / 4, 0.0}) {
      for (std::size_t size = 0; size <= std::min(kMostKept, free_.size()); ++size) {
        for (const Names& kept : sets_of(size, free_)) {
          const std::optional<Axes> axes = halved(question_.production, kept, part, is_affordable);
          if (axes && tried_.size() < kMostBases && try_on(*axes).value_or(false)) {
            base_ = *axes;
            return true;
          }
        }
      }
    }
    return false;
  }

  // The base, smaller in other axes where `names` may not be as in `wrong` otherwise; nullopt where it is wrong itself.
  std::optional<Axes> base_for(const Names& names, const Axes& wrong) {
    const std::optional<Axes> axes = halved(base_, names, 0, [&](const Axes& base) {
      return element_count(question_.family, with(base, names, wrong)) <= question_.most_elements;
    });
    return axes && try_on(*axes).value_or(false) ? axes : std::nullopt;
  }

  // Adds a condition for each smallest set of axes that makes the base wrong with the values of `wrong`.
  bool explain(const Axes& wrong) {
    Names differing;
    std::ranges::copy_if(free_, std::back_inserter(differing),
                         [&](const std::string& name) { return base_.at(name) != wrong.at(name); });
    for (std::size_t size = 1; size <= differing.size(); ++size) {
      bool any = false;
      for (const Names& names : sets_of(size, differing)) {
        const std::optional<Axes> base = base_for(names, wrong);
        if (!base || try_on(with(*base, names, wrong)).value_or(true)) {
          continue;
        }
        std::string condition = condition_on(names, *base, wrong);
        if (condition.empty()) {
          return false;
        }
        conditions_.push_back(std::move(condition));
        any = true;
      }
      if (any) {
        return true;
      }
    }
    return false;
  }

  // Moves one of the axes, while the others have the values of `wrong`.
  std::string condition_on(const Names& names, const Axes& base, const Axes& wrong) {
    for (const std::string& moved : names) {
      const Axes from = with(with(base, names, wrong), moved, base.at(moved));
      std::int64_t factor = 1;
      for (const std::string& other : names) {
        factor *= other == moved ? 1 : wrong.at(other);
      }
      if (!try_on(from).value_or(false)) {
        continue;
      }
      const std::string relation = relation_along(from, moved, wrong.at(moved), factor, names.size() == 1);
      if (!relation.empty()) {
        return fmt::format("{}{}", fmt::join(names, " * "), relation);
      }
    }
    return "";
  }

  // What the axis, times `factor`, has to be: " % 4 == 0", " <= 1024" or " >= 32"; "" for neither.
  std::string relation_along(const Axes& from, const std::string& name, std::int64_t wrong, std::int64_t factor,
                             bool alone) {
    const std::int64_t at = from.at(name);
    const auto is_right = [&](std::int64_t value) { return try_on(with(from, name, value)).value_or(false); };
    const auto may_be = [&](std::int64_t value) { return is_legal(with(from, name, value)); };
    const std::int64_t known = alone && steps_.contains(name) ? steps_.at(name) : 1;
    bool is_smallest = true;  // of the steps that the contract allows
    for (std::int64_t step = known; step <= at; step += known) {
      if (at % step != 0 || (!may_be(at - step) && !may_be(at + step))) {
        continue;
      }
      if (is_smallest && (is_right(at - step) || is_right(at + step))) {
        return end_between(at, wrong, step, factor, is_right);
      }
      if (is_right(may_be(at - step) ? at - step : at + step)) {
        if (alone) {
          steps_[name] = step;
        }
        std::int64_t common = 1;  // of the factor and powers of the step
        for (std::int64_t part = std::gcd(factor, step); part > 1; part = std::gcd(factor / common, step)) {
          common *= part;
        }
        return fmt::format(" % {} == 0", step * common);
      }
      is_smallest = false;
    }
    return wrong > at && !may_be(at - known) ? fmt::format(" <= {}", at * factor) : "";
  }

  static std::string end_between(std::int64_t right, std::int64_t wrong, std::int64_t step, std::int64_t factor,
                                 const std::function<bool(std::int64_t)>& is_right) {
    const bool above = wrong > right;
    while (std::abs(wrong - right) > step) {
      const std::int64_t middle = right + (wrong - right) / 2 / step * step;
      if (middle == right) {
        break;
      }
      (is_right(middle) ? right : wrong) = middle;
    }
    return fmt::format(" {} {}", above ? "<=" : ">=", right * factor);
  }

  void draw(std::size_t count, std::uint64_t seed, const std::function<bool(const Axes&)>& wanted) {
    const auto takes = [&](const Axes& axes) { return question_.takes(axes) && wanted(axes); };
    for (const Axes& axes : covering_shapes(question_.family, question_.budget, count, takes, seed, count)) {
      try_on(axes);
    }
  }

  std::optional<Axes> wrong_where_it_holds(std::uint64_t seed) {
    const auto is_wrong = [this](const auto& tried) { return !tried.second && holds(tried.first); };
    auto found = std::ranges::find_if(tried_, is_wrong);
    if (found == tried_.end()) {
      draw(kDrawn, seed, [this](const Axes& axes) { return holds(axes); });
      found = std::ranges::find_if(tried_, is_wrong);
    }
    return found == tried_.end() ? std::nullopt : std::optional(found->first);
  }

  // A later condition may say what an earlier one says, and more.
  void drop_needless() {
    for (std::size_t i = 0; i < conditions_.size() && conditions_.size() > 1;) {
      std::string condition = std::move(conditions_[i]);
      conditions_.erase(conditions_.begin() + static_cast<std::ptrdiff_t>(i));
      if (std::ranges::any_of(tried_, [this](const auto& one) { return !one.second && holds(one.first); })) {
        conditions_.insert(conditions_.begin() + static_cast<std::ptrdiff_t>(i++), std::move(condition));
      }
    }
  }

  // A race is right at times.
  bool is_wrong_again() const {
    int again = 0;
    for (const auto& [axes, right] : tried_) {
      if (!right && again++ < kWrongAgain && question_.is_right(axes)) {
        return false;
      }
    }
    return true;
  }

  Requirement summary() const {
    Requirement found{.condition = fmt::format("{}", fmt::join(conditions_, " && "))};
    for (const auto& [axes, right] : tried_) {
      const bool inside = holds(axes);
      found.right += inside ? 1 : 0;
      found.others += inside ? 0 : 1;
      found.wrong_elsewhere += inside || right ? 0 : 1;
    }
    return found;
  }

  const RequirementQuestion& question_;
  Names free_;
  Axes base_;
  std::map<Axes, bool> tried_;  // whether it is right there
  std::size_t most_tried_ = kMostTried;
  std::vector<std::string> conditions_;
  std::map<std::string, std::int64_t> steps_;  // that axes were found to have
};

}  // namespace

std::optional<Requirement> find_requirement(const RequirementQuestion& question) {
  return RequirementSearch(question).run();
}

}  // namespace apo
