// harness/exchange/torch_cases.cpp - draws the cases, and asks the family what is right.
#include "harness/exchange/torch_cases.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/npy.h"
#include "harness/runtime/tensor_data.h"
#include "kernels/closeness.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kCaseSeed = 1;

// scale_i of every element; the larger one where units share it.
std::vector<double> scales_of(const Family& family, const Axes& axes, const std::string& tensor,
                              const std::vector<double>& noise) {
  const Tolerance tolerance = family.tolerance(tensor, axes);
  std::vector<double> scales(noise.size());
  for (std::int64_t unit = 0; unit < family.unit_count(axes); ++unit) {
    const std::vector<ElementRun> runs = family.unit_elements(axes, tensor, unit);
    std::vector<double> of_unit;
    for (const ElementRun& run : runs) {
      of_unit.insert(of_unit.end(), noise.begin() + run.offset, noise.begin() + run.offset + run.count);
    }
    of_unit = error_scales(tolerance, of_unit);
    auto next = of_unit.begin();
    for (const ElementRun& run : runs) {
      for (std::int64_t i = run.offset; i < run.offset + run.count; ++i, ++next) {
        scales[static_cast<std::size_t>(i)] = std::max(scales[static_cast<std::size_t>(i)], *next);
      }
    }
  }
  return scales;
}

Axes axes_of(const Family& family, const Axes& all) {
  Axes axes;
  for (const AxisSpec& axis : family.axes) {
    axes[axis.name] = all.at(axis.name);
  }
  return axes;
}

// Writes a workload's files into its folder.
class CaseFiles {
 public:
  CaseFiles(fs::path folder, int threads, std::vector<NamedText>& files)
      : folder_(std::move(folder)), threads_(threads), files_(files) {}

  // The family's inputs but those of the names in `but`.
  void add_inputs(const Family& family, const InputSet& inputs, const TensorMap& but) {
    for (const TensorSpec& tensor : family.tensors) {
      if (tensor.role != Role::output && !but.contains(tensor.name)) {
        add(tensor.name, npy_text(tensor.shape(inputs.axes), inputs.values.at(tensor.name), tensor.dtype));
      }
    }
  }

  // In fp64, with the scale of its error at each element. Returns the tolerances.
  nlohmann::ordered_json add_expected(const Family& family, const InputSet& inputs) {
    const Axes& axes = inputs.axes;
    const TensorMap expected = family.reference(axes, inputs.values, {}, threads_);
    const TensorMap noise = family.noise(axes, inputs.values, expected, {}, threads_);
    nlohmann::ordered_json tolerances;
    for (const TensorSpec& tensor : family.tensors) {
      if (tensor.role == Role::output) {
        const std::string& name = tensor.name;
        const std::vector<std::int64_t> shape = tensor.shape(axes);
        add(name + ".expected", npy_text(shape, expected.at(name)));
        add(name + ".scale", npy_text(shape, scales_of(family, axes, name, noise.at(name))));
        const Tolerance tolerance = family.tolerance(name, axes);
        tolerances[name] = {{"output_rounding", tolerance.output_rounding},
                            {"output_spacing", tolerance.output_spacing},
                            {"element_sigmas", tolerance.element_sigmas},
                            {"rms_factor", tolerance.rms_factor},
                            {"rms_spread", tolerance.rms_spread}};
      }
    }
    return tolerances;
  }

 private:
  void add(const std::string& name, std::string contents) {
    files_.push_back({folder_ / (name + ".npy"), std::move(contents)});
  }

  fs::path folder_;
  int threads_;
  std::vector<NamedText>& files_;
};

}  // namespace

std::vector<NamedText> torch_cases(const Family& family, const Family* gradient, int threads) {
  const fs::path folder = family.name + "_cases";
  std::vector<NamedText> files;
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  for (const Workload& workload : family.workloads) {
    if (!is_small(workload)) {
      continue;
    }
    CaseFiles of_case(folder / workload.name, threads, files);
    const InputSet inputs = make_inputs(family, workload.axes, kCaseSeed, family.regimes.front(), threads);
    of_case.add_inputs(family, inputs, {});
    nlohmann::ordered_json tolerances = of_case.add_expected(family, inputs);
    const Axes axes = gradient == nullptr ? Axes() : axes_of(*gradient, workload.axes);
    const bool differentiable = gradient != nullptr && gradient->invalid(axes).empty();
    if (differentiable) {
      // The gradient's family gets the inputs, what an honest forward gives, and what it draws itself for the gradients
      // that arrive.
      TensorMap known = inputs.values;
      known.merge(family.honest(inputs.axes, inputs.values, {}, threads));
      TensorMap values = gradient->fill(axes, kCaseSeed, gradient->regimes.front(), threads);
      for (const TensorSpec& tensor : gradient->tensors) {
        if (tensor.role != Role::output && known.contains(tensor.name)) {
          values[tensor.name] = known.at(tensor.name);
        }
      }
      const InputSet of_gradient = inputs_from(*gradient, axes, std::move(values), threads);
      of_case.add_inputs(*gradient, of_gradient, known);
      tolerances.update(of_case.add_expected(*gradient, of_gradient));
    }
    cases.push_back({{"name", workload.name},
                     {"axes", workload.axes},
                     {"differentiable", differentiable},
                     {"tolerances", tolerances}});
  }
  files.push_back({folder / "cases.json", cases.dump(2) + "\n"});
  return files;
}

}  // namespace apo
