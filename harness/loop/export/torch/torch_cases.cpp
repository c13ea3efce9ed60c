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
          {"rms_factor", tolerance.rms_factor}};
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

void add_case(const TorchContract& contract, const Workload& workload, const std::filesystem::path& folder, int threads,
              std::vector<NamedText>& files) {
  const Family& family = *contract.family;
  const InputSet inputs = make_inputs(family, workload.axes, kSeed, family.regimes.front(), threads);
  for (const TorchTensor& input : contract.inputs) {
    files.push_back(
        {folder / (input.spec->name + ".npy"),
         npy_text(input.spec->shape(workload.axes), inputs.values.at(input.spec->name), input.spec->dtype)});
  }
  const TensorMap expected = family.reference(workload.axes, inputs.values, {}, threads);
  const TensorMap noise = family.noise(workload.axes, inputs.values, expected, {}, threads);
  for (const TorchTensor& output : contract.outputs) {
    const std::string& name = output.spec->name;
    const std::vector<std::int64_t> shape = output.spec->shape(workload.axes);
    files.push_back({folder / (name + ".expected.npy"), npy_text(shape, expected.at(name))});
    files.push_back(
        {folder / (name + ".scale.npy"), npy_text(shape, scales_of(family, workload.axes, name, noise.at(name)))});
  }
}

Document case_document(const TorchContract& contract, const Workload& workload) {
  Document tolerances = Document::object();
  for (const TorchTensor& output : contract.outputs) {
    tolerances[output.spec->name] = tolerance_document(contract.family->tolerance(output.spec->name, workload.axes));
  }
  return {
      {"name", workload.name}, {"arguments", arguments_document(contract, workload.axes)}, {"tolerances", tolerances}};
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

std::vector<NamedText> torch_cases(const TorchContract& contract, const DispatchTable& table, int threads) {
  const Family& family = *contract.family;
  const std::filesystem::path folder = family.name + "_cases";
  std::vector<NamedText> files;
  Document cases = Document::array();
  for (const Workload& workload : family.workloads) {
    if (is_small(workload)) {
      add_case(contract, workload, folder / workload.name, threads, files);
      cases.push_back(case_document(contract, workload));
    }
  }
  const Document document = {{"family", family.name},
                             {"devices", device_names(table)},
                             {"inputs", tensor_documents(contract.inputs)},
                             {"outputs", tensor_documents(contract.outputs)},
                             {"cases", cases}};
  files.push_back({folder / "cases.json", document.dump(2) + "\n"});
  return files;
}

}  // namespace apo
