// kernels/e88/backward.cpp - the family `e88_backward`: the six gradients, from the forward's checkpoints and y_cache.
#include <bit>
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

const std::vector<std::string_view> kInputs = {"k", "q", "v", "g", "decay", "d_output", "d_s_final"};
const std::vector<std::string_view> kDerived = {"checkpoints", "y_cache"};
const std::vector<std::string_view> kOutputs = {"dk", "dq", "dv", "dg", "ddecay", "ds0"};

template <class Real>
Sequence<Real> gather_inputs(const Shape& shape, const TensorMap& inputs, std::int64_t unit) {
  const auto rows = [&](std::string_view name) { return gather<Real>(shape, inputs, name, unit); };
  return {.k = rows("k"), .q = rows("q"), .v = rows("v"), .g = rows("g"), .decay = rows("decay")};
}

// No tensor of the contract holds s0 but slot 0 of the checkpoints, and `derive` has no seed: the state is drawn from
// the content of d_s_final, so that it changes with the inputs and with nothing else.
std::vector<float> draw_s0(const Shape& shape, const TensorMap& inputs, std::int64_t unit) {
  std::uint64_t content = 0;
  for (const double value : gather<double>(shape, inputs, "d_s_final", unit)) {
    content = mix64(content ^ std::bit_cast<std::uint64_t>(value));
  }
  Random random(derive_seed(content, "s0"));
  std::vector<double> values(static_cast<std::size_t>(shape.state()));
  fill_normal(random, 0.3, values.data(), shape.state());
  std::vector<float> state(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    state[i] = static_cast<float>(round_to_bf16(values[i]));
  }
  return state;
}

// What the forward leaves for the backward, in the contract's own precision.
TensorMap derive(const Axes& axes, const TensorMap& inputs, int threads) {
  const Shape shape = shape_of(axes);
  TensorMap derived = allocate(shape, kDerived, threads);
  const auto store = [](float value) { return static_cast<double>(round_bf16(value)); };
  for_each_unit(units_or_all(shape, {}), threads, [&](std::int64_t unit) {
    Sequence<float> in = gather_inputs<float>(shape, inputs, unit);
    in.s0 = draw_s0(shape, inputs, unit);
    const ForwardResult<float> result = e88::forward(Honest(), shape, in);
    scatter(shape, "checkpoints", unit, result.checkpoints, derived, store);
    scatter(shape, "y_cache", unit, result.y_cache, derived, store);
  });
  return derived;
}

// Without y_cache, which the reference does not read.
template <class Real>
Sequence<Real> gather_all(const Shape& shape, const TensorMap& inputs, std::int64_t unit) {
  Sequence<Real> in = gather_inputs<Real>(shape, inputs, unit);
  in.d_output = gather<Real>(shape, inputs, "d_output", unit);
  in.d_s_final = gather<Real>(shape, inputs, "d_s_final", unit);
  in.checkpoints = gather<Real>(shape, inputs, "checkpoints", unit);
  return in;
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
    Sequence<Real> in = gather_all<Real>(shape, inputs, unit);
    if constexpr (Arithmetic::kRoundsCache) {
      in.y_cache = gather<Real>(shape, inputs, "y_cache", unit);
    } else {
      // The exact trajectory from s0, not the rounded one that the later checkpoints hold.
      in.s0.assign(in.checkpoints.begin(), in.checkpoints.begin() + shape.state());
      in.checkpoints = e88::forward(Exact(), shape, in).checkpoints;
    }
    const BackwardResult<Real> result = e88::backward(Arithmetic(), shape, in);
    scatter(shape, "dk", unit, result.dk, outputs, store);
    scatter(shape, "dq", unit, result.dq, outputs, store);
    scatter(shape, "dv", unit, result.dv, outputs, store);
    scatter(shape, "dg", unit, result.dg, outputs, store);
    scatter(shape, "ddecay", unit, result.ddecay, outputs, store);
    scatter(shape, "ds0", unit, result.ds0, outputs, store);
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
    Sequence<float> in = gather_all<float>(shape, inputs, unit);
    in.y_cache = gather<float>(shape, inputs, "y_cache", unit);
    Spread dk(shape, expected, "dk", unit), dq(shape, expected, "dq", unit), dv(shape, expected, "dv", unit),
        dg(shape, expected, "dg", unit), ddecay(shape, expected, "ddecay", unit), ds0(shape, expected, "ds0", unit);
    const auto run = [&](Perturbed arithmetic) { return e88::backward(arithmetic, shape, in); };
    for (BackwardResult<float>& result : perturbed_runs(of_each, run)) {
      dk.add(std::move(result.dk));
      dq.add(std::move(result.dq));
      dv.add(std::move(result.dv));
      dg.add(std::move(result.dg));
      ddecay.add(std::move(result.ddecay));
      ds0.add(std::move(result.ds0));
    }
    store_all({&dk, &dq, &dv, &dg, &ddecay, &ds0}, sigma, of_each);
  });
  return sigma;
}

// Per step, with S_t and delta kept from the replay: replay 5 N V (retrieve 2, update 3) and delta V; reverse 18 N V
// (1-S^2 2, dq 2, G 2, P' 1, dd 2, dk 4, ddecay 2, D 3); the gate 9 V (1+exp 1, derivative 4, dg 2, dy 2) with exp and
// division; a norm 3 N and its chain rule 5 N, of k and of q, with rsqrt.
Work work(const Axes& axes) {
  const Shape shape = shape_of(axes);
  const auto N = static_cast<double>(shape.N), V = static_cast<double>(shape.V);
  const double steps = static_cast<double>(shape.units()) * static_cast<double>(shape.T);
  Work total;
  total.flops = steps * (23 * N * V + V + (shape.gate ? 9 * V : 0) + (shape.norm ? 16 * N : 0));
  total.special_functions = steps * (N * V + (shape.gate ? 2 * V : 0) + (shape.norm ? 2 : 0));
  total.bytes =
      compulsory_bytes(shape, kInputs) + compulsory_bytes(shape, kDerived) + compulsory_bytes(shape, kOutputs);
  // The segments can be replayed side by side, so that only the last one's replay delays the reverse pass.
  const double last_segment = static_cast<double>(shape.T - kSegment * (shape.segments() - 1));
  total.serial_steps = static_cast<double>(shape.T);
  total.serial_flops = (last_segment + total.serial_steps) * serial_step(shape);
  total.serial_special_functions = last_segment;
  return total;
}

}  // namespace

Family e88_backward_family() {
  Family family;
  family.name = "e88_backward";
  family.summary = "the gradient of e88_forward in k, q, v, g, decay and s0, from its checkpoints and y_cache";
  family.axes = axis_specs();
  family.tensors = {
      tensor_spec("k", Role::input, "keys"),
      tensor_spec("q", Role::input, "queries"),
      tensor_spec("v", Role::input, "values"),
      tensor_spec("g", Role::input, "raw gate"),
      tensor_spec("decay", Role::input, "decay a_t of the state"),
      tensor_spec("d_output", Role::input, "gradient arriving at output"),
      tensor_spec("d_s_final", Role::input, "gradient arriving at s_final"),
      tensor_spec("checkpoints", Role::derived_input, "slot c: state before step 16c, as the forward wrote it"),
      tensor_spec("y_cache", Role::derived_input, "y before the gate, as the forward wrote it"),
      tensor_spec("dk", Role::output, "gradient of k, through the norm where NORM=1"),
      tensor_spec("dq", Role::output, "gradient of q, through the norm where NORM=1"),
      tensor_spec("dv", Role::output, "gradient of v"),
      tensor_spec("dg", Role::output, "gradient of g; 0 where GATE=0"),
      tensor_spec("ddecay", Role::output, "gradient of decay"),
      tensor_spec("ds0", Role::output, "gradient of s0"),
  };
  family.regimes = regime_names();
  family.workloads = workloads();
  family.invalid = [](const Axes& axes) {
    const bool direction = axes.at("NORM") == 0 || axes.at("N") > 1;
    return std::string(direction ? "" : "NORM = 1 needs N >= 2: one number has no direction, so dk and dq vanish");
  };
  family.legal = "NORM == 0 || N > 1";
  family.classes = workload_classes();
  family.unit_count = [](const Axes& axes) { return shape_of(axes).units(); };
  family.unit_elements = unit_elements;
  family.redraw = Redraw::units;
  family.fill = [](const Axes& axes, std::uint64_t seed, std::string_view regime, int threads) {
    return draw(shape_of(axes), kInputs, seed, regime, threads);
  };
  family.derive = derive;
  family.reference = run<Exact>;
  family.honest = run<Honest>;
  family.noise = noise;
  family.tolerance = tolerance;
  family.work = work;
  return family;
}

}  // namespace apo
