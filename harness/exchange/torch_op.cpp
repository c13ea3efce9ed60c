// harness/exchange/torch_op.cpp - gives torch_op.py the families and how sources are compiled; adds what is called and
// the cases of the test.
#include "harness/exchange/torch_op.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/json/values.h"
#include "harness/exchange/conversion.h"
#include "harness/exchange/family_document.h"
#include "harness/exchange/torch_cases.h"
#include "harness/implement/plain_call.h"
#include "harness/implement/variant/form.h"
#include "harness/implement/variant/include_folders.h"
#include "harness/loop/export/dispatch_sources.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
using Document = nlohmann::ordered_json;

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
          {"plain", plain_source(*table.family, row.variant).name},
          {"target", to_string(row.variant.target)},
          {"arch", row.variant.arch},
          {"kernels", is_device_variant(row.variant)},
          {"libraries", row.variant.libraries},
          {"includes", include_paths(row.variant)}};
}

}  // namespace

std::vector<NamedText> torch_files(const DispatchTable& table, const fs::path& home, int threads) {
  Document sources = Document::object();
  std::set<std::string> devices;
  std::vector<NamedText> calls;
  for (const DispatchDevice& device : table.devices) {
    devices.insert(device.machine.target == Target::host ? "cpu" : "cuda");
    for (const DispatchRow& row : device.rows) {
      const std::string folder = source_folder(row);
      if (!sources.contains(folder) && !is_device_variant(row.variant)) {
        const SourceFile plain = plain_source(*table.family, row.variant);
        calls.push_back({fs::path(folder) / plain.name, plain.text});
      }
      sources[folder] = source_document(table, row);
    }
  }
  Converted converted = convert(home, "torch_op.py",
                                {{"family", table.family->name},
                                 {"families", list_of(families(), [](const Family& one) { return to_document(one); })},
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
