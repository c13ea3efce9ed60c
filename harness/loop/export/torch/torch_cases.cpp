// harness/loop/export/torch/torch_cases.cpp - draws the cases, and asks the family what is right.
#include "harness/loop/export/torch/torch_cases.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/npy.h"
#include "harness/runtime/tensor_data.h"
#include "kernels/closeness.h"

namespace apo {
namespace {

using Document = nlohmann::ordered_json;
constexpr std::uint64_t kSeed = 1;

Document tensor_documents(const std::vector<TorchTensor>& tensors) {
  Document documents = Document::array();
  for (const TorchTensor& tensor : tensors) {
    documents.push_back({{"name", tensor.spec->name}, {"dtype", torch_dtype(tensor.spec->dtype)}});
  }
  return documents;
}

Document arguments_document(const TorchContract& contract, const Axes& axes) {
  Document arguments = Document::object();
  for (const TorchAxis* axis : torch_arguments(contract)) {
    arguments[axis->name] = axes.at(axis->name);
  }
  return arguments;
}

Document tolerance_document(const Tolerance& tolerance) {
  return {{"output_rounding", tolerance.output_rounding},
          {"output_spacing", tolerance.output_spacing},
          {"element_sigmas", tolerance.element_sigmas},
          {"rms_factor", tolerance.rms_factor},
          {"rms_spread", tolerance.rms_spread}};
}

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

void add_inputs(const std::vector<const TensorSpec*>& tensors, const InputSet& inputs,
                const std::filesystem::path& folder, std::vector<NamedText>& files) {
  for (const TensorSpec* tensor : tensors) {
    files.push_back({folder / (tensor->name + ".npy"),
                     npy_text(tensor->shape(inputs.axes), inputs.values.at(tensor->name), tensor->dtype)});
  }
}

// In fp64, with the scale of its error at each element.
void add_expected(const TorchContract& contract, const InputSet& inputs, const std::filesystem::path& folder,
                  int threads, std::vector<NamedText>& files) {
  const Family& family = *contract.family;
  const Axes& axes = inputs.axes;
  const TensorMap expected = family.reference(axes, inputs.values, {}, threads);
  const TensorMap noise = family.noise(axes, inputs.values, expected, {}, threads);
  for (const TorchTensor& output : contract.outputs) {
    const std::string& name = output.spec->name;
    const std::vector<std::int64_t> shape = output.spec->shape(axes);
    files.push_back({folder / (name + ".expected.npy"), npy_text(shape, expected.at(name))});
    files.push_back({folder / (name + ".scale.npy"), npy_text(shape, scales_of(family, axes, name, noise.at(name)))});
  }
}

std::vector<const TensorSpec*> specs_of(const std::vector<TorchTensor>& tensors) {
  std::vector<const TensorSpec*> specs;
  for (const TorchTensor& tensor : tensors) {
    specs.push_back(tensor.spec);
  }
  return specs;
}

std::vector<const TensorSpec*> arriving(const TorchGradient& gradient) {
  std::vector<const TensorSpec*> specs;
  for (std::size_t i = 0; i < gradient.inputs.size(); ++i) {
    if (gradient.inputs[i].is == GradientInput::Is::gradient) {
      specs.push_back(gradient.contract.inputs[i].spec);
    }
  }
  return specs;
}

Axes axes_of(const Family& family, const Axes& all) {
  Axes axes;
  for (const AxisSpec& axis : family.axes) {
    axes[axis.name] = all.at(axis.name);
  }
  return axes;
}

bool is_legal(const TorchGradient& gradient, const Workload& workload) {
  const Family& family = *gradient.contract.family;
  return family.invalid(axes_of(family, workload.axes)).empty();
}

// What the gradient's family gets after this forward: its inputs, what an honest forward gives, and what it draws
// itself for the gradients that arrive.
InputSet gradient_inputs(const TorchGradient& gradient, const Family& forward, const InputSet& inputs, int threads) {
  const Family& family = *gradient.contract.family;
  const Axes axes = axes_of(family, inputs.axes);
  TensorMap values = family.fill(axes, kSeed, family.regimes.front(), threads);
  for (const TensorMap& known : {inputs.values, forward.honest(inputs.axes, inputs.values, {}, threads)}) {
    for (std::size_t i = 0; i < gradient.inputs.size(); ++i) {
      const std::string& name = gradient.contract.inputs[i].spec->name;
      const auto found = known.find(name);
      if (gradient.inputs[i].is != GradientInput::Is::gradient && found != known.end()) {
        values[name] = found->second;
      }
    }
  }
  return inputs_from(family, axes, std::move(values), threads);
}

void add_case(const TorchContract& contract, const std::optional<TorchGradient>& gradient, const Workload& workload,
              const std::filesystem::path& folder, int threads, std::vector<NamedText>& files) {
  const Family& family = *contract.family;
  const InputSet inputs = make_inputs(family, workload.axes, kSeed, family.regimes.front(), threads);
  add_inputs(specs_of(contract.inputs), inputs, folder, files);
  add_expected(contract, inputs, folder, threads, files);
  if (gradient && is_legal(*gradient, workload)) {
    const InputSet of_gradient = gradient_inputs(*gradient, family, inputs, threads);
    add_inputs(arriving(*gradient), of_gradient, folder, files);
    add_expected(gradient->contract, of_gradient, folder, threads, files);
  }
}

void add_tolerances(const TorchContract& contract, const Axes& axes, Document& tolerances) {
  for (const TorchTensor& output : contract.outputs) {
    tolerances[output.spec->name] = tolerance_document(contract.family->tolerance(output.spec->name, axes));
  }
}

Document case_document(const TorchContract& contract, const std::optional<TorchGradient>& gradient,
                       const Workload& workload) {
  const bool differentiable = gradient && is_legal(*gradient, workload);
  Document tolerances = Document::object();
  add_tolerances(contract, workload.axes, tolerances);
  if (differentiable) {
    add_tolerances(gradient->contract, axes_of(*gradient->contract.family, workload.axes), tolerances);
  }
  return {{"name", workload.name},
          {"arguments", arguments_document(contract, workload.axes)},
          {"differentiable", differentiable},
          {"tolerances", tolerances}};
}

Document arriving_document(const std::optional<TorchGradient>& gradient) {
  Document documents = Document::array();
  for (std::size_t i = 0; gradient && i < gradient->inputs.size(); ++i) {
    if (gradient->inputs[i].is == GradientInput::Is::gradient) {
      const TensorSpec& spec = *gradient->contract.inputs[i].spec;
      documents.push_back(
          {{"name", spec.name}, {"dtype", torch_dtype(spec.dtype)}, {"output", gradient->inputs[i].index}});
    }
  }
  return documents;
}

Document gradients_document(const std::optional<TorchGradient>& gradient) {
  Document documents = Document::array();
  for (std::size_t i = 0; gradient && i < gradient->outputs.size(); ++i) {
    const TensorSpec& spec = *gradient->contract.outputs[i].spec;
    documents.push_back({{"name", spec.name}, {"dtype", torch_dtype(spec.dtype)}, {"input", gradient->outputs[i]}});
  }
  return documents;
}

Document device_names(const DispatchTable& table) {
  Document names = Document::array();
  for (const Target target : {Target::host, Target::cuda}) {
    if (std::ranges::any_of(table.devices, [&](const DispatchDevice& one) { return one.machine.target == target; })) {
      names.push_back(target == Target::host ? "cpu" : "cuda");
    }
  }
  return names;
}

}  // namespace

std::vector<NamedText> torch_cases(const TorchContract& contract, const std::optional<TorchGradient>& gradient,
                                   const DispatchTable& table, int threads) {
  const Family& family = *contract.family;
  const std::filesystem::path folder = family.name + "_cases";
  std::vector<NamedText> files;
  Document cases = Document::array();
  for (const Workload& workload : family.workloads) {
    if (is_small(workload)) {
      add_case(contract, gradient, workload, folder / workload.name, threads, files);
      cases.push_back(case_document(contract, gradient, workload));
    }
  }
  const Document document = {{"family", family.name},
                             {"devices", device_names(table)},
                             {"inputs", tensor_documents(contract.inputs)},
                             {"outputs", tensor_documents(contract.outputs)},
                             {"arriving", arriving_document(gradient)},
                             {"gradients", gradients_document(gradient)},
                             {"cases", cases}};
  files.push_back({folder / "cases.json", document.dump(2) + "\n"});
  return files;
}

}  // namespace apo
