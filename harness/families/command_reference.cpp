// harness/families/command_reference.cpp - one temporary folder for each run of the program.
#include "harness/families/command_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "harness/core/npy.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "kernels/random.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

constexpr int kMovedRuns = 2;
constexpr double kMove = 0x1p-24;

bool has_f64(const FamilyFile& file) {
  return std::ranges::any_of(file.tensors, [](const FileTensor& tensor) { return tensor.dtype == DType::f64; });
}

std::string describe(const FamilyFile& file, const Family& family, const Axes& axes, DType precision) {
  nlohmann::ordered_json scalars = nlohmann::ordered_json::object();
  for (const ScalarSpec& scalar : file.scalars) {
    scalars[scalar.name] = scalar.value;
  }
  nlohmann::ordered_json tensors = nlohmann::ordered_json::object();
  for (const TensorSpec& tensor : family.tensors) {
    tensors[tensor.name] = {{"dtype", std::string(to_string(tensor.dtype))},
                            {"shape", tensor.shape(axes)},
                            {"role", tensor.role == Role::output ? "output" : "input"}};
  }
  return nlohmann::ordered_json{{"axes", axes},
                                {"scalars", scalars},
                                {"precision", precision == DType::f64 ? "float64" : "float32"},
                                {"tensors", tensors}}
      .dump(2);
}

[[noreturn]] void throw_failure(const FamilyFile& file, const std::string& what) {
  throw UserError(fmt::format("the reference '{}' of family {} {}", join(file.reference_command, " "), file.name, what),
                  "run it by hand on a folder of inputs: 'apo verify' with --dump writes one");
}

std::string last_line(const std::string& text) {
  const std::vector<std::string> lines = split(trim(text), '\n');
  return trim(lines.back()).substr(0, 300);
}

void run_command(const FamilyFile& file, const fs::path& folder, double timeout_s) {
  std::vector<std::string> command = file.reference_command;
  command.push_back(folder.string());
  const ProcessResult result = run_process(command, {.timeout_s = timeout_s,
                                                     .working_folder = fs::path(file.path).parent_path().string(),
                                                     .environment = {},
                                                     .input = ""});
  if (result.timed_out) {
    throw_failure(file, "did not finish in " + format_seconds(timeout_s));
  }
  if (result.signal != 0) {
    throw_failure(file, "crashed with " + signal_name(result.signal));
  }
  if (result.exit_code != 0) {
    const std::string said = last_line(result.error.empty() ? result.output : result.error);
    throw_failure(file, fmt::format("ended with exit code {}: {}", result.exit_code, said));
  }
}

std::vector<double> read_output(const FamilyFile& file, const TensorSpec& tensor, const fs::path& folder,
                                const Axes& axes) {
  const fs::path path = folder / (tensor.name + ".npy");
  if (!fs::exists(path)) {
    throw_failure(file, "wrote no " + path.filename().string());
  }
  NpyArray array = read_npy(path);
  if (array.shape != tensor.shape(axes)) {
    throw_failure(file, fmt::format("wrote {} with shape [{}], needed [{}]", path.filename().string(),
                                    fmt::join(array.shape, ","), fmt::join(tensor.shape(axes), ",")));
  }
  const auto bad = std::ranges::find_if(array.values, [](double value) { return !std::isfinite(value); });
  if (bad != array.values.end()) {
    throw_failure(file, fmt::format("gives {} in element {} of {}", *bad, bad - array.values.begin(), tensor.name));
  }
  return std::move(array.values);
}

TensorMap run_reference(const FamilyFile& file, const Family& family, const Axes& axes, const TensorMap& inputs,
                        DType precision, double timeout_s) {
  const TemporaryFolder folder("apo-reference");
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role != Role::output) {
      write_npy(folder.path() / (tensor.name + ".npy"), tensor.shape(axes), inputs.at(tensor.name),
                is_float(tensor.dtype) ? precision : tensor.dtype);
    }
  }
  write_file_atomically(folder.path() / "axes.json", describe(file, family, axes, precision));
  run_command(file, folder.path(), timeout_s);
  TensorMap outputs;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::output) {
      outputs[tensor.name] = read_output(file, tensor, folder.path(), axes);
    }
  }
  return outputs;
}

TensorMap moved(const Family& family, const TensorMap& inputs, int run, double by) {
  TensorMap result = inputs;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::output || !is_float(tensor.dtype)) {
      continue;
    }
    Random random(derive_seed(static_cast<std::uint64_t>(run), tensor.name));
    for (double& value : result.at(tensor.name)) {
      value *= 1 + by * random.uniform(-1, 1);
    }
  }
  return result;
}

}  // namespace

void add_command_reference(Family& family, const FamilyFile& file, double timeout_s) {
  // The honest version computes in the precision of the widest tensor, and no less than binary32.
  const DType working = has_f64(file) ? DType::f64 : DType::f32;
  const double move = working == DType::f64 ? 0x1p-53 : kMove;
  const auto contract = std::make_shared<const Family>(family);  // without the functions that are set below
  family.derive = [](const Axes&, const TensorMap&, int) { return TensorMap(); };
  family.reference = [=](const Axes& axes, const TensorMap& inputs, const std::vector<std::int64_t>&, int) {
    return run_reference(file, *contract, axes, inputs, DType::f64, timeout_s);
  };
  family.honest = [=](const Axes& axes, const TensorMap& inputs, const std::vector<std::int64_t>&, int) {
    TensorMap outputs = run_reference(file, *contract, axes, inputs, working, timeout_s);
    for (auto& [name, values] : outputs) {
      const DType dtype = find_tensor(*contract, name)->dtype;
      std::ranges::transform(values, values.begin(), [&](double value) { return round_to(dtype, value); });
    }
    return outputs;
  };
  family.noise = [=](const Axes& axes, const TensorMap& inputs, const TensorMap& expected,
                     const std::vector<std::int64_t>&, int) {
    TensorMap squares;
    for (int run = 0; run <= kMovedRuns; ++run) {
      const TensorMap outputs = run_reference(
          file, *contract, axes, run == 0 ? inputs : moved(*contract, inputs, run, move), working, timeout_s);
      for (const auto& [name, values] : outputs) {
        std::vector<double>& sum = squares[name];
        sum.resize(values.size());
        const bool integer = !is_float(find_tensor(*contract, name)->dtype);
        for (std::size_t i = 0; i < values.size(); ++i) {
          const double error = values[i] - expected.at(name)[i];
          sum[i] += integer && error != 0 ? std::numeric_limits<double>::infinity() : error * error / (kMovedRuns + 1);
        }
      }
    }
    for (auto& [name, values] : squares) {
      std::ranges::transform(values, values.begin(), [](double value) { return std::sqrt(value); });
    }
    return squares;
  };
}

}  // namespace apo
