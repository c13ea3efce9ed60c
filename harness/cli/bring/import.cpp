// harness/cli/bring/import.cpp - `apo import`: families of other projects' problems.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/cli/bring/family_text.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/exchange/exchange.h"
#include "harness/families/family_file.h"
#include "harness/loop/contract/register_family.h"
#include "harness/loop/trial/registration.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

struct ImportOptions {
  std::vector<std::string> words;
  ImportRequest request;
  std::string output;  // folder; empty: the working folder
  bool registers = true;
};

void refuse_what_is_there(const ImportResult& result, const fs::path& folder, const FamilyFile& file,
                          const Paths& paths, bool registers) {
  for (const NamedText& each : result.files) {
    if (!is_absent(folder / each.path)) {
      throw UserError("'" + (folder / each.path).string() + "' is there already",
                      "move it away, or name another folder with --output");
    }
  }
  if (registers && find_registration(file, paths.families) != FamilyRegistration::unknown) {
    throw UserError(
        "a family '" + file.name + "' is registered already",
        "retire it with 'apo register --retire " + file.name + "', or give this one another name with --name");
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

struct OwnVariant {
  const char* name;
  const char* idea;
  const char* more;  // behind the file's text
};
constexpr OwnVariant kOwnVariants[] = {
    {"eager", "Model of the file, as PyTorch runs it.", ""},
    {"torch_compile", "Model of the file under torch.compile.",
     "\n\ndef ModelNew(*arguments):\n    model = Model(*arguments)\n    model.compile()\n    return model\n"}};

// Registers what PyTorch itself makes of the file, eager and compiled, so that a verdict says what it is over both.
// Returns a note for each.
std::vector<std::string> register_own_variants(const std::string& family, const std::string& model,
                                               const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  std::string missing;
  if (!workspace.has_gpu(&missing)) {
    return {"its Model is not registered as a variant: " + missing};
  }
  ConsoleObserver observer(globals);
  const TemporaryFolder folder;
  std::vector<std::string> notes;
  for (const OwnVariant& own : kOwnVariants) {
    const fs::path file = folder.path() / (std::string(own.name) + ".py");
    write_file_atomically(
        file, fmt::format("# apo:variant {}/{}\n# apo:idea {}\n", family, own.name, own.idea) + model + own.more);
    const std::string id = family + "/" + own.name;
    try {
      const CandidateAnswer answer = register_file(workspace, {.file = file.string(), .family = family}, observer);
      const std::string why = answer.gates.empty() ? "it passed no gate" : answer.gates.back().evidence;
      notes.push_back(id +
                      (answer.verdict == CandidateVerdict::wrong ? " is not registered: " + why : " is registered"));
    } catch (const UserError& error) {  // the family is registered, whatever becomes of these
      notes.push_back(id + " is not registered: " + error.what());
    }
  }
  return notes;
}

int import_problem(const ImportOptions& options, const Globals& globals) {
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
    if (!options.request.kernelbench.empty()) {
      add_family_file((paths.families / file.name / (file.name + ".h")).string(), oracle_with_notice(paths));
      const std::string model = read_file(options.request.kernelbench);
      for (std::string& note : register_own_variants(file.name, model, globals)) {
        result.remarks.push_back(std::move(note));
      }
    }
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

int import_words(ImportOptions& options, const Globals& globals) {
  const std::vector<std::string>& words = options.words;
  if (words.front() == "kernelbench") {
    if (words.size() != 2) {
      throw UserError("'apo import kernelbench' needs one file",
                      "give a Python file with class Model, get_inputs() and get_init_inputs()");
    }
    options.request.kernelbench = words[1];
  } else if (words.front() != "definition") {
    throw UserError(
        "'" + words.front() + "' is no kind of problem",
        "'apo import definition FILE' takes a definition.json, 'apo import kernelbench FILE' a Python file");
  } else if (words.size() < 2 || words.size() > 3) {
    throw UserError("'apo import definition' needs one or two files",
                    "give definition.json or its folder, and workload.jsonl if it is not beside it");
  } else {
    options.request.definition = words[1];
    options.request.workloads = words.size() > 2 ? words[2] : "";
  }
  return import_problem(options, globals);
}

}  // namespace

Action define_import(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<ImportOptions>();
  app.add_option("problem", options->words,
                 "the word 'definition', a definition.json of FlashInfer-Trace or SOL-ExecBench (or its folder), and "
                 "its workload.jsonl; or 'kernelbench' and a Python file with class Model")
      ->required();
  app.add_option("--output", options->output, "folder for the family (default: here)");
  app.add_option("--name", options->request.name, "name of the family (default: the problem's)");
  app.add_option("--python", options->request.python, "the Python that has PyTorch (default: python3)");
  app.add_flag("!--no-register", options->registers,
               "write the files for you to edit; do not check or register the family");
  return [options, &globals] { return import_words(*options, globals); };
}

}  // namespace apo
