// harness/exchange/import_definition.cpp - tries the precisions from the widest on.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/exchange/exchange.h"
#include "harness/families/family_file.h"
#include "harness/families/known_families.h"
#include "harness/runtime/tensor_data.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

struct Precision {
  const char* widest;
  const char* honest;
};
constexpr std::array kFromTheBest = {Precision{"float64", "declared"}, Precision{"float64", "float32"},
                                     Precision{"float32", "declared"}, Precision{"float32", "float32"},
                                     Precision{"declared", "declared"}};

ImportResult written(const ImportRequest& request, const Precision& precision, const OracleOptions& options,
                     const fs::path& scratch) {
  Converted converted = convert(options.home, "import_definition.py",
                                {{"definition", request.definition},
                                 {"workloads", request.workloads},
                                 {"name", request.name},
                                 {"python", request.python},
                                 {"widest", precision.widest},
                                 {"honest", precision.honest}});
  for (const NamedText& file : converted.files) {
    write_file_atomically(scratch / file.path, file.contents);
  }
  return {.family = converted.report.at("family"),
          .files = std::move(converted.files),
          .remarks = converted.report.at("remarks"),
          .workloads = converted.report.at("workloads")};
}

// Returns what is not as in the file.
std::vector<std::string> write_definition(ImportRequest& request, const OracleOptions& options,
                                          const fs::path& scratch) {
  const Converted converted =
      convert(options.home, "import_kernelbench.py", {{"file", request.kernelbench}, {"name", request.name}},
              request.python, options.timeout_s);
  const fs::path folder = scratch / "definition";
  fs::create_directory(folder);
  for (const NamedText& file : converted.files) {
    write_file_atomically(folder / file.path, file.contents);
  }
  request.definition = folder.string();
  return converted.report.at("remarks");
}

// The reference and its honest version on the smallest workload: an error of the definition comes from here.
void try_once(const FamilyFile& file, const OracleOptions& options) {
  const Family family = family_of(file, options);
  const Workload& workload = *std::ranges::min_element(
      family.workloads, {}, [&](const Workload& one) { return element_count(family, one.axes); });
  const InputSet inputs = make_inputs(family, workload.axes, 1, family.regimes.front(), 1);
  (void)family.reference(workload.axes, inputs.values, {}, 1);
  (void)family.honest(workload.axes, inputs.values, {}, 1);
}

}  // namespace

ImportResult import_definition(ImportRequest request, const OracleOptions& options, const fs::path& scratch) {
  std::vector<std::string> remarks;
  if (!request.kernelbench.empty()) {
    remarks = write_definition(request, options, scratch);
  }
  std::string failure;
  int same_failures = 0;
  for (const Precision& precision : kFromTheBest) {
    ImportResult result = written(request, precision, options, scratch);
    const FamilyFile file = load_family_file((scratch / (result.family + ".h")).string());
    const auto start = std::chrono::steady_clock::now();
    try {
      try_once(file, options);
      result.remarks.insert(result.remarks.begin(), remarks.begin(), remarks.end());
      if (!failure.empty()) {
        result.remarks.push_back(
            fmt::format("apo:precision is {} {}: {}", precision.widest, precision.honest, failure));
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
