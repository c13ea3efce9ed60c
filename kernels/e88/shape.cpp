// kernels/e88/shape.cpp - axes, tensor shapes and unit layout of the E88 families.
#include "kernels/e88/shape.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "kernels/parallel.h"

namespace apo::e88 {
namespace {

enum class Form : std::uint8_t { step_n, step_v, step, state, checkpoints };

Form form_of(std::string_view tensor) {
  static const std::map<std::string_view, Form> forms = {
      {"k", Form::step_n},        {"q", Form::step_n},       {"dk", Form::step_n},
      {"dq", Form::step_n},       {"v", Form::step_v},       {"g", Form::step_v},
      {"output", Form::step_v},   {"y_cache", Form::step_v}, {"d_output", Form::step_v},
      {"dv", Form::step_v},       {"dg", Form::step_v},      {"decay", Form::step},
      {"ddecay", Form::step},     {"s0", Form::state},       {"s_final", Form::state},
      {"d_s_final", Form::state}, {"ds0", Form::state},      {"checkpoints", Form::checkpoints}};
  const auto found = forms.find(tensor);
  if (found == forms.end()) {
    throw std::out_of_range("the E88 families have no tensor '" + std::string(tensor) + "'");
  }
  return found->second;
}

std::vector<std::int64_t> extents(Form form, const Shape& shape) {
  switch (form) {
    case Form::step_n:
      return {shape.B, shape.T, shape.H, shape.N};
    case Form::step_v:
      return {shape.B, shape.T, shape.H, shape.V};
    case Form::step:
      return {shape.B, shape.T, shape.H};
    case Form::state:
      return {shape.B, shape.H, shape.N, shape.V};
    case Form::checkpoints:
      break;
  }
  return {shape.segments(), shape.B, shape.H, shape.N, shape.V};
}

std::string extents_text(Form form) {
  switch (form) {
    case Form::step_n:
      return "[B,T,H,N]";
    case Form::step_v:
      return "[B,T,H,V]";
    case Form::step:
      return "[B,T,H]";
    case Form::state:
      return "[B,H,N,V]";
    case Form::checkpoints:
      break;
  }
  return "[ceil_div(T,16),B,H,N,V]";
}

}  // namespace

Shape shape_of(const Axes& axes) {
  return {.B = axes.at("B"),
          .T = axes.at("T"),
          .H = axes.at("H"),
          .N = axes.at("N"),
          .V = axes.at("V"),
          .gate = axes.at("GATE") != 0,
          .norm = axes.at("NORM") != 0};
}

std::vector<AxisSpec> axis_specs() {
  return {{.name = "B", .meaning = "batch", .min = 1, .max = 65536},
          {.name = "T", .meaning = "time steps", .min = 1, .max = std::int64_t{1} << 20},
          {.name = "H", .meaning = "heads", .min = 1, .max = 65536},
          {.name = "N", .meaning = "rows of the state: width of k and q", .min = 1, .max = 128, .specialised = true},
          {.name = "V", .meaning = "columns of the state: width of v", .min = 1, .max = 128, .specialised = true},
          {.name = "GATE", .meaning = "1: output = y*silu(g), 0: output = y", .min = 0, .max = 1, .specialised = true},
          {.name = "NORM", .meaning = "1: k and q are L2-normalised here", .min = 0, .max = 1, .specialised = true}};
}

Layout layout_of(const Shape& shape, std::string_view tensor, std::int64_t unit) {
  const std::int64_t b = unit / shape.H;
  const std::int64_t h = unit % shape.H;
  const auto steps = [&](std::int64_t width) {
    return Layout{.rows = shape.T,
                  .width = width,
                  .row_stride = shape.H * width,
                  .unit_offset = (b * shape.T * shape.H + h) * width};
  };
  switch (form_of(tensor)) {
    case Form::step_n:
      return steps(shape.N);
    case Form::step_v:
      return steps(shape.V);
    case Form::step:
      return steps(1);
    case Form::state:
      return {.rows = 1, .width = shape.state(), .row_stride = 0, .unit_offset = unit * shape.state()};
    case Form::checkpoints:
      break;
  }
  return {.rows = shape.segments(),
          .width = shape.state(),
          .row_stride = shape.units() * shape.state(),
          .unit_offset = unit * shape.state()};
}

std::vector<ElementRun> unit_elements(const Axes& axes, std::string_view tensor, std::int64_t unit) {
  const Layout layout = layout_of(shape_of(axes), tensor, unit);
  std::vector<ElementRun> runs(static_cast<std::size_t>(layout.rows));
  for (std::int64_t row = 0; row < layout.rows; ++row) {
    runs[static_cast<std::size_t>(row)] = {.offset = layout.unit_offset + row * layout.row_stride,
                                           .count = layout.width};
  }
  return runs;
}

std::int64_t tensor_elements(const Shape& shape, std::string_view tensor) {
  const Layout layout = layout_of(shape, tensor, 0);
  return shape.units() * layout.rows * layout.width;
}

std::vector<std::int64_t> units_or_all(const Shape& shape, const std::vector<std::int64_t>& units) {
  if (!units.empty()) {
    return units;
  }
  std::vector<std::int64_t> all(static_cast<std::size_t>(shape.units()));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return all;
}

TensorSpec tensor_spec(std::string name, Role role, std::string meaning) {
  const Form form = form_of(name);
  return {.name = std::move(name),
          .dtype = DType::bf16,
          .role = role,
          .shape_text = extents_text(form),
          .shape = [form](const Axes& axes) { return extents(form, shape_of(axes)); },
          .meaning = std::move(meaning)};
}

double serial_step(const Shape& shape) {
  return 2 + std::ceil(std::log2(static_cast<double>(shape.N)));
}

std::string workload_class(std::int64_t N, std::int64_t V) {
  const std::int64_t widest = std::max(N, V);
  if (widest <= 16) {
    return "n16";
  }
  if (widest <= 32) {
    return "n32";
  }
  if (widest <= 64) {
    return "n64";
  }
  return "n128";
}

std::vector<WorkloadClass> workload_classes() {
  return {{.name = "n16", .condition = "max(N,V) <= 16"},
          {.name = "n32", .condition = "max(N,V) > 16 && max(N,V) <= 32"},
          {.name = "n64", .condition = "max(N,V) > 32 && max(N,V) <= 64"},
          {.name = "n128", .condition = "max(N,V) > 64"}};
}

// The system clears the pages of gigabytes in seconds: those of each tensor in a thread of its own.
TensorMap allocate(const Shape& shape, const std::vector<std::string_view>& names, int threads) {
  TensorMap tensors;
  std::vector<std::vector<double>*> values;
  for (const std::string_view name : names) {
    values.push_back(&tensors[std::string(name)]);
  }
  for_each_index(names.size(), threads,
                 [&](std::size_t i) { values[i]->resize(static_cast<std::size_t>(tensor_elements(shape, names[i]))); });
  return tensors;
}

}  // namespace apo::e88
