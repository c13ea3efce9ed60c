// kernels/e88/forward.cpp - the family `e88_forward`: outputs, checkpoints, pre-gate outputs and the final state.
#include <utility>

#include "kernels/e88/e88.h"
#include "kernels/e88/inputs.h"
#include "kernels/e88/sequence.h"
#include "kernels/e88/shape.h"
#include "kernels/e88/tolerance.h"
#include "kernels/e88/workloads.h"
#include "kernels/parallel.h"

namespace apo {
namespace {

using namespace e88;

const std::vector<std::string_view> kInputs = {"k", "q", "v", "g", "decay", "s0"};
const std::vector<std::string_view> kOutputs = {"output", "checkpoints", "y_cache", "s_final"};

template <class Real>
Sequence<Real> gather_inputs(const Shape& shape, const TensorMap& inputs, std::int64_t unit) {
  const auto rows = [&](std::string_view name) { return gather<Real>(shape, inputs, name, unit); };
  return {.k = rows("k"), .q = rows("q"), .v = rows("v"), .g = rows("g"), .decay = rows("decay"), .s0 = rows("s0")};
}

template <class Arithmetic>
TensorMap run(const Axes& axes, const TensorMap& inputs, const std::vector<std::int64_t>& units, int threads) {
  using Real = typename Arithmetic::Real;
  const Shape shape = shape_of(axes);
  TensorMap outputs = allocate(shape, kOutputs, threads);
  const auto store = [](Real value) {
    return static_cast<double>(Arithmetic::kRoundsCache ? round_bf16(value) : value);
  };
  for_each_unit(units_or_all(shape, units), threads, [&](std::int64_t unit) {
    const auto rows = [&](std::string_view name) { return gather<Real>(shape, inputs, name, unit); };
    const Sequence<Real> in = {
        .k = rows("k"), .q = rows("q"), .v = rows("v"), .g = rows("g"), .decay = rows("decay"), .s0 = rows("s0")};
    const ForwardResult<Real> result = e88::forward(Arithmetic(), shape, in);
    scatter(shape, "output", unit, result.output, outputs, store);
    scatter(shape, "checkpoints", unit, result.checkpoints, outputs, store);
    scatter(shape, "y_cache", unit, result.y_cache, outputs, store);
    scatter(shape, "s_final", unit, result.s_final, outputs, store);
  });
  return outputs;
}

TensorMap noise(const Axes& axes, const TensorMap& inputs, const TensorMap& expected,
                const std::vector<std::int64_t>& units, int threads) {
  const Shape shape = shape_of(axes);
  TensorMap sigma = allocate(shape, kOutputs, threads);
  const std::vector<std::int64_t> all = units_or_all(shape, units);
  const int of_each = threads_of_each(threads, all.size());
  for_each_unit(all, threads, [&](std::int64_t unit) {
    const Sequence<float> in = gather_inputs<float>(shape, inputs, unit);
    Spread output(shape, expected, "output", unit), checkpoints(shape, expected, "checkpoints", unit),
        y_cache(shape, expected, "y_cache", unit), s_final(shape, expected, "s_final", unit);
    const auto run = [&](Perturbed arithmetic) { return e88::forward(arithmetic, shape, in); };
    for (ForwardResult<float>& result : perturbed_runs(of_each, run)) {
      output.add(std::move(result.output));
      checkpoints.add(std::move(result.checkpoints));
      y_cache.add(std::move(result.y_cache));
      s_final.add(std::move(result.s_final));
    }
    store_all({&output, &checkpoints, &y_cache, &s_final}, sigma, of_each);
  });
  return sigma;
}

// Per step: retrieve 2 N V, update 3 N V, query 2 N V, delta V; the gate y*g/(1+exp(-g)) 3 V with exp and division;
// a norm is 2 N for the sum with its epsilon and N for the scaling, of k and of q, with rsqrt.
Work work(const Axes& axes) {
  const Shape shape = shape_of(axes);
  const auto N = static_cast<double>(shape.N), V = static_cast<double>(shape.V);
  const double steps = static_cast<double>(shape.units()) * static_cast<double>(shape.T);
  Work total;
  total.flops = steps * (7 * N * V + V + (shape.gate ? 3 * V : 0) + (shape.norm ? 6 * N : 0));
  total.special_functions = steps * (N * V + (shape.gate ? 2 * V : 0) + (shape.norm ? 2 : 0));
  total.bytes = compulsory_bytes(shape, kInputs) + compulsory_bytes(shape, kOutputs);
  total.serial_steps = static_cast<double>(shape.T);
  total.serial_flops = total.serial_steps * serial_step(shape);
  total.serial_special_functions = total.serial_steps;
  return total;
}

}  // namespace

Family e88_forward_family() {
  Family family;
  family.name = "e88_forward";
  family.summary =
      "S_t = tanh(a_t S_{t-1} + k_t (v_t - S_{t-1}^T k_t)^T), output_t = (S_t^T q_t) silu(g_t), with checkpoints";
  family.axes = axis_specs();
  family.tensors = {
      tensor_spec("k", Role::input, "keys"),
      tensor_spec("q", Role::input, "queries"),
      tensor_spec("v", Role::input, "values"),
      tensor_spec("g", Role::input, "raw gate"),
      tensor_spec("decay", Role::input, "decay a_t of the state"),
      tensor_spec("s0", Role::input, "state before the first step"),
      tensor_spec("output", Role::output, "y*silu(g), or y where GATE=0"),
      tensor_spec("checkpoints", Role::output, "slot c: state before step 16c; slot 0 is s0"),
      tensor_spec("y_cache", Role::output, "y before the gate"),
      tensor_spec("s_final", Role::output, "state after the last step"),
  };
  family.regimes = regime_names();
  family.workloads = workloads();
  family.invalid = [](const Axes&) { return std::string(); };
  family.legal = "1";
  family.classes = workload_classes();
  family.unit_count = [](const Axes& axes) { return shape_of(axes).units(); };
  family.unit_elements = unit_elements;
  family.redraw = Redraw::units;
  family.fill = [](const Axes& axes, std::uint64_t seed, std::string_view regime, int threads) {
    return draw(shape_of(axes), kInputs, seed, regime, threads);
  };
  family.derive = [](const Axes&, const TensorMap&, int) { return TensorMap(); };
  family.reference = run<Exact>;
  family.honest = run<Honest>;
  family.noise = noise;
  family.tolerance = tolerance;
  family.work = work;
  return family;
}

}  // namespace apo
