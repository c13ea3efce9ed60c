// kernels/e88/shape.h - the axes of the E88 families as a struct, and which elements of a tensor belong to a (b,h)
// unit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/family.h"

namespace apo::e88 {

// A checkpoint of the state is kept every so many steps; the backward replays one such segment at a time.
constexpr std::int64_t kSegment = 16;

struct Shape {
  std::int64_t B = 1, T = 1, H = 1, N = 1, V = 1;
  bool gate = true;
  bool norm = true;

  std::int64_t units() const { return B * H; }
  std::int64_t segments() const { return (T + kSegment - 1) / kSegment; }
  std::int64_t state() const { return N * V; }
};

Shape shape_of(const Axes& axes);
std::vector<AxisSpec> axis_specs();

// Where a tensor's elements lie: B*H units, each with `rows` rows of `width` elements.
struct Layout {
  std::int64_t rows = 0;
  std::int64_t width = 0;
  std::int64_t row_stride = 0;   // elements from a unit's row to its next one
  std::int64_t unit_offset = 0;  // of the unit's first row
};

// Throws std::out_of_range for a name that is no tensor of an E88 family.
Layout layout_of(const Shape& shape, std::string_view tensor, std::int64_t unit);
std::vector<ElementRun> unit_elements(const Axes& axes, std::string_view tensor, std::int64_t unit);
std::int64_t tensor_elements(const Shape& shape, std::string_view tensor);

// Every unit when `units` is empty.
std::vector<std::int64_t> units_or_all(const Shape& shape, const std::vector<std::int64_t>& units);

TensorSpec tensor_spec(std::string name, Role role, std::string meaning);

// Dependent operations of a step, forward or reverse: the products of the state's rows with k, whose first one takes in
// what else is added, their sum, and the update of the state. The rest of a step can be ready before.
double serial_step(const Shape& shape);

// "n16", "n32", "n64", "n128": the larger of N and V, rounded up.
std::string workload_class(std::int64_t N, std::int64_t V);
std::vector<WorkloadClass> workload_classes();  // the same as conditions, the smallest first

// A unit's elements of a tensor, row by row.
template <class Real>
std::vector<Real> gather(const Shape& shape, const TensorMap& tensors, std::string_view name, std::int64_t unit) {
  const std::vector<double>& values = tensors.find(name)->second;
  const Layout layout = layout_of(shape, name, unit);
  std::vector<Real> rows(static_cast<std::size_t>(layout.rows * layout.width));
  for (std::int64_t row = 0; row < layout.rows; ++row) {
    const double* from = values.data() + layout.unit_offset + row * layout.row_stride;
    Real* to = rows.data() + row * layout.width;
    for (std::int64_t i = 0; i < layout.width; ++i) {
      to[i] = static_cast<Real>(from[i]);
    }
  }
  return rows;
}

// The opposite of gather, through `round` (Real -> double).
template <class Real, class Round>
void scatter(const Shape& shape, std::string_view name, std::int64_t unit, const std::vector<Real>& rows,
             TensorMap& tensors, Round round) {
  std::vector<double>& values = tensors.find(name)->second;
  const Layout layout = layout_of(shape, name, unit);
  for (std::int64_t row = 0; row < layout.rows; ++row) {
    const Real* from = rows.data() + row * layout.width;
    double* to = values.data() + layout.unit_offset + row * layout.row_stride;
    for (std::int64_t i = 0; i < layout.width; ++i) {
      to[i] = round(from[i]);
    }
  }
}

// Full-size vectors of zeros for the named tensors, so that threads can write their own units.
TensorMap allocate(const Shape& shape, const std::vector<std::string_view>& names, int threads);

}  // namespace apo::e88
