// harness/families/extrapolate.cpp - least squares over products of axes, held against shapes that took no part.
#include "harness/families/extrapolate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "kernels/random.h"
#include "kernels/small_shape.h"

namespace apo {
namespace {

using Column = std::vector<long double>;

// Shapes to fit, then shapes to hold the fit against, then the one that is wanted. Where squares are fitted, two more
// for each axis that is longer in this than in all counted ones: with 0 and with the longest counted value in its
// place.
struct Shapes {
  std::vector<Axes> all;
  std::size_t fitted = 0;
  std::size_t counted = 0;
};

// The axes that can be shorter.
std::vector<std::string> scaled_axes(const Family& family, const Axes& axes) {
  std::vector<std::string> names;
  const Axes least = small_shape(family, axes, 1);
  for (const auto& [name, value] : axes) {
    if (least.at(name) < value) {
      names.push_back(name);
    }
  }
  return names;
}

using Monomials = std::vector<std::vector<std::string>>;

// Products of different axes and, where it is asked for, these times one of their axes; those of few factors first.
Monomials monomials(const std::vector<std::string>& axes, bool with_squares) {
  Monomials all = {{}};
  for (const std::string& axis : axes) {
    for (std::size_t i = 0, known = all.size(); i < known; ++i) {
      all.push_back(all[i]);
      all.back().push_back(axis);
    }
  }
  for (std::size_t i = 0, products = with_squares ? all.size() : 0; i < products; ++i) {
    for (std::size_t f = 0; f < all[i].size(); ++f) {
      all.push_back(all[i]);
      all.back().push_back(all[i][f]);
    }
  }
  std::ranges::stable_sort(all, {}, &std::vector<std::string>::size);
  return all;
}

// The shape with all other axes as short as they can be, and this one as long as is still cheap to count where the
// count grows with its square.
Axes long_shape(const Family& family, const Axes& axes, const std::string& name) {
  constexpr std::int64_t kLongest = 1 << 12;
  const Axes least = small_shape(family, axes, 1);
  Axes shape = least;
  for (std::int64_t& value = shape.at(name) = std::min(kLongest, axes.at(name)); value > least.at(name); value /= 2) {
    if (check_axes(family, shape).empty() && element_count(family, shape) <= kSmallElements) {
      return shape;
    }
  }
  return least;
}

Shapes draw_shapes(const Family& family, const Axes& axes, const std::vector<std::string>& names, bool with_squares,
                   std::size_t wanted) {
  constexpr std::int64_t kFewest = 1 << 6;
  constexpr std::int64_t kMost = 1 << 12;
  constexpr std::int64_t kRoom = 16;  // above the smallest shape, for several values of each axis
  constexpr double kSpread = 8;       // of the order in which axes are halved
  const std::int64_t least = std::max(kFewest, element_count(family, small_shape(family, axes, 1)));
  const std::int64_t most = std::clamp(kRoom * least, kMost, kSmallElements);
  Random random(1);
  std::set<Axes> known;
  Shapes shapes;
  const auto add = [&](std::int64_t elements, const std::map<std::string, double>& weights) {
    Axes shape = small_shape(family, axes, elements, weights);
    if (element_count(family, shape) <= kSmallElements && known.insert(shape).second) {
      shapes.all.push_back(std::move(shape));
    }
  };
  // Each set of axes is long in some shape, so that what they count for together shows.
  for (std::size_t i = 0; i < 16 * wanted && shapes.all.size() < wanted; ++i) {
    std::map<std::string, double> weights;
    for (std::size_t a = 0; a < names.size(); ++a) {
      weights[names[a]] = std::exp(random.uniform(-1, 1) - (i >> a & 1 ? kSpread : 0));
    }
    const double part = i >> names.size() == 0 ? 1 : random.uniform();
    add(static_cast<std::int64_t>(std::exp(std::lerp(std::log(least), std::log(most), part))), weights);
  }
  shapes.fitted = shapes.all.size();
  for (const std::string& name : names) {
    add(std::max(most, kScaledElements), {{name, 1e-12}});  // halved last
    if (Axes shape = long_shape(family, axes, name); with_squares && known.insert(shape).second) {
      shapes.all.push_back(std::move(shape));
    }
  }
  shapes.counted = shapes.all.size();
  shapes.all.push_back(axes);
  for (const std::string& name : names) {
    std::int64_t longest = 0;
    for (std::size_t i = 0; i < shapes.counted; ++i) {
      longest = std::max(longest, shapes.all[i].at(name));
    }
    if (with_squares && longest < axes.at(name)) {
      for (const std::int64_t value : {std::int64_t{0}, longest}) {
        shapes.all.push_back(axes);
        shapes.all.back().at(name) = value;
      }
    }
  }
  return shapes;
}

// Functions of the axes as columns of their values at all shapes. On the shapes that are fitted they are orthogonal and
// of length 1 (modified Gram-Schmidt). A function that is a sum of others at all shapes is left out; none at all where
// it is that of the fitted ones alone, which then do not tell what it counts for.
std::vector<Column> orthogonal_columns(const Shapes& shapes, const Monomials& functions) {
  constexpr long double kDependent = 1e-9L;
  constexpr long double kSame = 1e-6L;
  const auto dot = [&](const Column& a, const Column& b) {
    return std::inner_product(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(shapes.fitted), b.begin(), 0.0L);
  };
  std::vector<Column> columns;
  for (const std::vector<std::string>& monomial : functions) {
    Column column;
    for (const Axes& shape : shapes.all) {
      column.push_back(1);
      for (const std::string& axis : monomial) {
        column.back() *= static_cast<long double>(shape.at(axis));
      }
    }
    const long double before = std::sqrt(dot(column, column));
    const long double wanted = column[shapes.counted];
    for (int pass = 0; pass < 2; ++pass) {  // once leaves rounding errors, which grow with the axes
      for (const Column& other : columns) {
        const long double part = dot(column, other);
        std::ranges::transform(column, other, column.begin(), [&](auto a, auto b) { return a - part * b; });
      }
    }
    const long double length = std::sqrt(dot(column, column));
    if (length > kDependent * before) {
      std::ranges::transform(column, column.begin(), [&](auto value) { return value / length; });
      columns.push_back(std::move(column));
    } else if (std::abs(column[shapes.counted]) > kSame * wanted) {
      return {};
    }
  }
  return columns;
}

// The values at all shapes of the function that fits the counts best.
Column fit(const std::vector<Column>& columns, std::size_t fitted, Column rest) {
  constexpr long double kNoise = 1e-13L;  // a term that small is a rounding error, and grows with the axes
  Column values(columns.front().size());
  const long double most = std::abs(*std::ranges::max_element(rest, {}, [](auto count) { return std::abs(count); }));
  for (const Column& column : columns) {
    const long double part =
        std::inner_product(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(fitted), column.begin(), 0.0L);
    if (std::abs(part) > kNoise * most * static_cast<long double>(fitted)) {
      std::ranges::transform(values, column, values.begin(), [&](auto a, auto b) { return a + part * b; });
      std::ranges::transform(rest, column, rest.begin(), [&](auto a, auto b) { return a - part * b; });
    }
  }
  return values;
}

// At the wanted shape. A count that grew with the square of an axis may grow with the axis alone from where it is
// longer than what was counted: as far as a window reaches.
long double lowest_count(const Shapes& shapes, const Axes& axes, const Column& values) {
  long double lowest = values[shapes.counted];
  for (std::size_t i = shapes.counted + 1; i < values.size(); i += 2) {
    const auto longer = std::ranges::mismatch(axes, shapes.all[i + 1]);
    const long double times = static_cast<long double>(longer.in1->second) / longer.in2->second;
    lowest = std::min(lowest, values[i] + times * (values[i + 1] - values[i]));
  }
  return lowest;
}

// nullopt where the functions do not give the counts.
std::optional<Counts> fitted_counts(const Family& family, const Axes& axes, bool with_squares,
                                    const std::function<Counts(const Axes&)>& count) {
  constexpr std::size_t kMore = 16;  // shapes than there are functions: conditions make some alike
  constexpr long double kExact = 1e-9L;
  const std::vector<std::string> names = scaled_axes(family, axes);
  const Monomials functions = monomials(names, with_squares);
  const Shapes shapes = draw_shapes(family, axes, names, with_squares, functions.size() + kMore);
  if (shapes.fitted == 0) {
    return std::nullopt;
  }
  std::map<std::string, Column> counted;
  for (std::size_t i = 0; i < shapes.counted; ++i) {
    for (const auto& [what, number] : count(shapes.all[i])) {
      Column& column = counted[what];
      column.resize(shapes.counted);  // 0 where another shape has none
      column[i] = number;
    }
  }
  const std::vector<Column> columns = orthogonal_columns(shapes, functions);
  if (columns.empty()) {
    return std::nullopt;
  }
  Counts result;
  for (const auto& [what, column] : counted) {
    const Column values = fit(columns, shapes.fitted, column);
    const bool holds = std::equal(column.begin(), column.end(), values.begin(), [](auto number, auto value) {
      return std::abs(value - number) <= kExact * std::max(std::abs(number), 1.0L);
    });
    if (!holds) {
      return std::nullopt;
    }
    result[what] = std::round(static_cast<double>(lowest_count(shapes, axes, values)));
  }
  return result;
}

}  // namespace

Extrapolated extrapolate(const Family& family, const Axes& axes, const std::function<Counts(const Axes&)>& count) {
  for (const bool with_squares : {false, true}) {
    if (std::optional<Counts> counts = fitted_counts(family, axes, with_squares, count)) {
      return {.counts = std::move(*counts), .is_estimate = false};
    }
  }
  const Axes small = small_shape(family, axes);
  const double ratio =
      static_cast<double>(element_count(family, axes)) / static_cast<double>(element_count(family, small));
  Counts counts = count(small);
  for (auto& [what, number] : counts) {
    number *= ratio;
  }
  return {.counts = std::move(counts), .is_estimate = true};
}

}  // namespace apo
