// harness/cli/bring/definition.cpp - `apo import definition`: a problem of FlashInfer-Trace or SOL-ExecBench becomes a
// registered family.
#include "harness/cli/bring/definition.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/cli/app.h"
#include "harness/cli/bring/family_text.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/families/family_file.h"
#include "harness/loop/contract/register_family.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

void refuse_what_is_there(const ImportResult& result, const fs::path& folder, const FamilyFile& file,
                          const Paths& paths, bool registers) {
  for (const NamedText& each : result.files) {
    if (!is_absent(folder / each.path)) {
      throw UserError("'" + (folder / each.path).string() + "' is there already",
                      "move it away, or name another folder with --output");
    }
  }
  if (registers && find_registration(file, paths.families) != FamilyRegistration::unknown) {
    throw UserError("a family '" + file.name + "' is registered already",
                    "retire it with 'apo unregister " + file.name + "', or give this one another name with --name");
  }
}

std::string check(const FamilyFile& file, const Globals& globals) {
  try {
    return check_summary(file, globals);
  } catch (const UserError& error) {
    throw UserError(error.what(),
                    error.hint() +
                        "\nnothing was written or registered; --no-register writes the files, so that you "
                        "can edit them");
  }
}

}  // namespace

int import_definition(const DefinitionOptions& options, const Globals& globals) {
  const Paths paths = make_paths(globals.journal);
  const TemporaryFolder scratch("apo-import");
  const fs::path folder = options.output.empty() ? "." : options.output;
  ImportResult result = import_definition(options.request, oracle_with_notice(paths), scratch.path());
  const FamilyFile file = load_family_file((scratch.path() / (result.family + ".h")).string());
  refuse_what_is_there(result, folder, file, paths, options.registers);
  const std::string checked = options.registers ? check(file, globals) : "";
  fs::create_directories(folder);
  for (NamedText& each : result.files) {
    each.path = (folder / each.path).lexically_normal();
  }
  write_files_atomically(result.files);
  if (options.registers) {
    keep_family(file, paths.families);
  }
  std::vector<std::string> files;
  for (const NamedText& each : result.files) {
    files.push_back(each.path.string());
  }
  std::string notes;
  for (const std::string& remark : result.remarks) {
    notes += "note: " + remark + "\n";
  }
  print_answer(
      globals,
      {{"family", file.name},
       {"state", options.registers ? "registered" : "written"},
       {"files", files},
       {"workloads", result.workloads},
       {"remarks", result.remarks}},
      notes + checked + join(files, "\n") + "\n" +
          (options.registers ? fmt::format("family {} is registered, with {} workloads\n", file.name, result.workloads)
                             : fmt::format("edit {}, then 'apo register {}'\n", files.front(), files.front())));
  return kDone;
}

}  // namespace apo
