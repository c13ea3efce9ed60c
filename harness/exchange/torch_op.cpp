// harness/exchange/torch_op.cpp - gives torch_op.py the families and how sources are compiled; adds what is called and
// the cases of the test.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/json/records_json.h"
#include "harness/core/npy.h"
#include "harness/core/sources.h"
#include "harness/exchange/exchange.h"
#include "harness/implement/plain_call.h"
#include "harness/implement/variant/headers.h"
#include "harness/loop/export/dispatch_document.h"
#include "harness/runtime/tensor_data.h"
#include "kernels/closeness.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
using Document = nlohmann::ordered_json;

// ---------------------------------------------------------------- the cases of the test

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

NamedText tensor_file(const fs::path& folder, const std::string& name, std::string contents) {
  return {folder / (name + ".npy"), std::move(contents)};
}

// Adds the family's inputs but those of the names in `but`.
void add_inputs(const Family& family, const InputSet& inputs, const TensorMap& but, const fs::path& folder,
                std::vector<NamedText>& files) {
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role != Role::output && !but.contains(tensor.name)) {
      files.push_back(tensor_file(folder, tensor.name,
                                  npy_text(tensor.shape(inputs.axes), inputs.values.at(tensor.name), tensor.dtype)));
    }
  }
}

Document tolerance_document(const Tolerance& record) {
  return APO_DOCUMENT(output_rounding, output_spacing, element_sigmas, rms_factor, rms_spread);
}

// Adds what is expected in fp64, with the scale of its error at each element. Returns the tolerances.
Document add_expected(const Family& family, const InputSet& inputs, int threads, const fs::path& folder,
                      std::vector<NamedText>& files) {
  const Axes& axes = inputs.axes;
  const TensorMap expected = family.reference(axes, inputs.values, {}, threads);
  const TensorMap noise = family.noise(axes, inputs.values, expected, {}, threads);
  Document tolerances;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::output) {
      const std::string& name = tensor.name;
      const std::vector<std::int64_t> shape = tensor.shape(axes);
      files.push_back(tensor_file(folder, name + ".expected", npy_text(shape, expected.at(name))));
      files.push_back(
          tensor_file(folder, name + ".scale", npy_text(shape, scales_of(family, axes, name, noise.at(name)))));
      tolerances[name] = tolerance_document(family.tolerance(name, axes));
    }
  }
  return tolerances;
}

// <family>_cases/cases.json, and for each small or ragged workload a folder with NAME.npy of each input, and
// NAME.expected.npy (fp64) and NAME.scale.npy (scale_i of struct Tolerance) of each output. Where `gradient`
// computes the gradient, also what arrives at the outputs, and what is expected of its outputs.
std::vector<NamedText> torch_cases(const Family& family, const Family* gradient, int threads) {
  const fs::path folder = family.name + "_cases";
  std::vector<NamedText> files;
  Document cases = Document::array();
  for (const Workload& workload : family.workloads) {
    if (!is_small(workload)) {
      continue;
    }
    const fs::path place = folder / workload.name;
    const InputSet inputs = make_inputs(family, workload.axes, kCaseSeed, family.regimes.front(), threads);
    add_inputs(family, inputs, {}, place, files);
    Document tolerances = add_expected(family, inputs, threads, place, files);
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
      add_inputs(*gradient, of_gradient, known, place, files);
      tolerances.update(add_expected(*gradient, of_gradient, threads, place, files));
    }
    cases.push_back({{"name", workload.name},
                     {"axes", workload.axes},
                     {"differentiable", differentiable},
                     {"tolerances", tolerances}});
  }
  files.push_back({folder / "cases.json", cases.dump(2) + "\n"});
  return files;
}

// ---------------------------------------------------------------- the sources

// Absolute where they are: the export lies elsewhere.
std::vector<std::string> include_paths(const Variant& variant) {
  std::vector<std::string> paths;
  for (const std::string& named : variant.includes) {
    const fs::path found = named == "cccl" ? fs::path() : include_folder(named, variant.path);
    paths.push_back(found.empty() ? named : found.string());
  }
  return paths;
}

// The compilation of a row's source.
Document source_document(const DispatchTable& table, const DispatchRow& row) {
  return {{"file", source_file(row)},
          {"plain", plain_call(*table.family, row.variant).source.name},
          {"target", to_string(row.variant.target)},
          {"arch", row.variant.arch},
          {"kernels", is_device_variant(row.variant)},
          {"flags", row.variant.flags},
          {"libraries", row.variant.libraries},
          {"includes", include_paths(row.variant)}};
}

}  // namespace

std::vector<NamedText> torch_files(const DispatchTable& table, const fs::path& home, int threads) {
  Document sources = Document::object();
  std::set<std::string> devices;
  std::vector<NamedText> calls;
  for (const DispatchRow* row : all_rows(table)) {
    devices.insert(row->variant.target == Target::host ? "cpu" : "cuda");
    const std::string folder = source_folder(*row);
    if (!sources.contains(folder) && !is_device_variant(row->variant)) {
      const SourceFile plain = plain_call(*table.family, row->variant).source;
      calls.push_back({fs::path(folder) / plain.name, plain.text});
    }
    sources[folder] = source_document(table, *row);
  }
  Converted converted = convert(home, "torch_op.py",
                                {{"family", table.family->name},
                                 {"families", to_documents(families())},
                                 {"sources", sources},
                                 {"devices", devices}});
  const Document& gradient = converted.report.at("gradient");
  std::vector<NamedText> files = std::move(converted.files);
  std::ranges::move(calls, std::back_inserter(files));
  std::ranges::move(
      torch_cases(*table.family, gradient.is_null() ? nullptr : find_family(gradient.get<std::string>()), threads),
      std::back_inserter(files));
  return files;
}

}  // namespace apo
