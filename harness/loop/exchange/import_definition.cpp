// harness/loop/exchange/import_definition.cpp - finds the files, and tries the precisions from the widest on.
#include "harness/loop/exchange/import_definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/families/family_file.h"
#include "harness/families/file_family.h"
#include "harness/loop/exchange/imported_family.h"
#include "harness/runtime/tensor_data.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

// definitions/OP/NAME.json has its workloads in workloads/OP/NAME.jsonl; PROBLEM/definition.json beside it.
fs::path workloads_of(const fs::path& definition) {
  const fs::path beside = definition.parent_path() / "workload.jsonl";
  fs::path other;
  for (const fs::path& part : definition) {
    other /= part == "definitions" ? fs::path("workloads") : part;
  }
  other.replace_extension(".jsonl");
  if (fs::exists(beside) || other.parent_path() == definition.parent_path()) {
    return beside;
  }
  return other;
}

// The reference and its honest version on the smallest workload: an error of the definition comes from here.
void try_once(const FamilyFile& file, const OracleOptions& options) {
  const Family family = family_of(file, options);
  const auto elements = [&](const Workload& workload) {
    std::int64_t count = 0;
    for (const TensorSpec& tensor : family.tensors) {
      count += element_count(tensor, workload.axes);
    }
    return count;
  };
  const Workload& workload = *std::ranges::min_element(family.workloads, {}, elements);
  const InputSet inputs = make_inputs(family, workload.axes, 1, family.regimes.front(), 1);
  (void)family.reference(workload.axes, inputs.values, {}, 1);
  (void)family.honest(workload.axes, inputs.values, {}, 1);
}

void write_to(const fs::path& folder, std::vector<NamedText> files) {
  for (NamedText& file : files) {
    file.path = folder / file.path;
  }
  write_files_atomically(files);
}

}  // namespace

ImportResult import_definition(const ImportRequest& request, const OracleOptions& options, const fs::path& scratch) {
  const fs::path path =
      fs::is_directory(request.definition) ? request.definition / "definition.json" : request.definition;
  const Definition definition = read_definition(path);
  const fs::path workloads = request.workloads.empty() ? workloads_of(path) : request.workloads;
  const ImportedProblem problem =
      import_problem(definition, read_workloads(definition, workloads), workloads.parent_path(), request.name);
  static constexpr std::array kFromTheBest = {
      ImportedPrecision{ReferencePrecision::float64, ReferencePrecision::declared},
      ImportedPrecision{ReferencePrecision::float64, ReferencePrecision::float32},
      ImportedPrecision{ReferencePrecision::float32, ReferencePrecision::declared},
      ImportedPrecision{ReferencePrecision::float32, ReferencePrecision::float32},
      ImportedPrecision{ReferencePrecision::declared, ReferencePrecision::declared}};
  std::string failure;
  int same_failures = 0;
  for (const ImportedPrecision& precision : kFromTheBest) {
    ImportResult result{.family = problem.family,
                        .files = family_texts(problem, request.python, precision),
                        .remarks = problem.remarks,
                        .workloads = problem.workloads.size()};
    write_to(scratch, result.files);
    const FamilyFile file = load_family_file((scratch / result.files.front().path).string());
    const auto start = std::chrono::steady_clock::now();
    try {
      try_once(file, options);
      if (!failure.empty()) {
        result.remarks.push_back(fmt::format("apo:precision is {} {}: {}", to_string(precision.widest),
                                             to_string(precision.honest), failure));
      }
      return result;
    } catch (const UserError& error) {
      same_failures = failure == error.what() ? same_failures + 1 : 1;
      failure = error.what();
      // What does not finish, or fails in float64 and in float32 alike, is no matter of precision.
      if (seconds_since(start) >= options.timeout_s || same_failures > 2) {
        break;
      }
    }
  }
  throw UserError(failure, "nothing was written or registered");
}

}  // namespace apo
