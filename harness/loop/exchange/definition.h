// harness/loop/exchange/definition.h - a problem of FlashInfer-Trace and SOL-ExecBench: definition.json and
// workload.jsonl as plain data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/families/family_record.h"
#include "kernels/family.h"

namespace apo {

enum class AxisRole : std::uint8_t { fixed, variable, computed };

struct DefinitionAxis {
  std::string name;
  AxisRole role = AxisRole::variable;
  std::int64_t value = 0;  // fixed
  std::string expression;  // computed: Python over the names of other axes
  std::string meaning;
};

struct DefinitionTensor {
  std::string name;
  DType dtype = DType::f32;
  bool is_scalar = false;          // a number of Python
  std::vector<std::string> shape;  // names of axes, or numbers
  std::string meaning;
};

struct Definition {
  std::string path;
  std::string name;
  std::string meaning;
  std::vector<DefinitionAxis> axes;
  std::vector<std::string> constraints;  // Python
  std::vector<DefinitionTensor> inputs;  // scalars among them, in the order of run()
  std::vector<DefinitionTensor> outputs;
  std::string reference;      // Python source that defines run()
  std::string custom_inputs;  // the function in it that draws them; empty: none
};

enum class InputSource : std::uint8_t { random, scalar, recorded, custom };

struct WorkloadInput {
  InputSource source = InputSource::random;
  double value = 0;       // scalar
  std::string path, key;  // recorded: a .safetensors file, and the tensor in it
};

struct DefinitionWorkload {
  int line = 0;
  std::string uuid;
  Axes axes;  // the variable ones
  std::map<std::string, WorkloadInput, std::less<>> inputs;
  FileTolerance tolerance;  // where the workload says nothing: that of the projects
};

// "bfloat16"; throws UserError for one that definitions do not have.
std::string dtype_name(DType dtype);
// Returns a scalar as its author wrote it: 1e-05, not 9.999999747378752e-06.
double as_written(const ScalarSpec& scalar);

// Throw UserError naming the file, the line of a text that is no JSON and of a workload, and the field.
Definition read_definition(const std::filesystem::path& path);
std::vector<DefinitionWorkload> read_workloads(const Definition& definition, const std::filesystem::path& path);

}  // namespace apo
