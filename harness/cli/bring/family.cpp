// harness/cli/bring/family.cpp - `apo family check`, and families in `apo register`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/bring/family_text.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/families/known_families.h"
#include "harness/loop/contract/family_check.h"
#include "harness/loop/contract/register_family.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

std::string excess_text(const MutantRow& row) {
  if (row.state == MutantState::absent || row.state == MutantState::unchanged) {
    return "-";
  }
  return std::isfinite(row.excess) ? format_g(row.excess, 3) + "x" : "inf";
}

std::string mutants_text(const FamilyCheck& check) {
  std::vector<std::vector<std::string>> rows = {{"mistake", "in", "", "off its bound", "seen best on", "what it is"}};
  for (const MutantRow& row : check.mutants) {
    rows.push_back(
        {row.mutant, row.tensor, std::string(to_string(row.state)), excess_text(row), row.where, row.meaning});
  }
  return format_table(rows);
}

std::map<MutantState, int> counts(const FamilyCheck& check) {
  std::map<MutantState, int> count;
  for (const MutantRow& row : check.mutants) {
    ++count[row.state];
  }
  return count;
}

std::string work_text(const FamilyCheck& check) {
  std::vector<std::string> parts = {format_bytes(check.work.bytes)};
  if (check.work.flops > 0) {
    parts.push_back(format_si(check.work.flops, "flop"));
  }
  for (const NamedCount& special : check.work.special_by_name) {
    parts.push_back(fmt::format("{} {}", format_si(special.count, ""), special.name));
  }
  if (check.work.serial_special_functions > 1) {
    parts.push_back(fmt::format("{} of them one after the other", format_g(check.work.serial_special_functions)));
  }
  if (check.work.is_estimate) {
    parts.emplace_back("an estimate: counted on small shapes, where it is no polynomial of the axes");
  }
  return fmt::format("work of {}: {}\n", check.workload, join(parts, ", "));
}

Json work_document(const FamilyCheck& check) {
  Json special = Json::object();
  for (const NamedCount& one : check.work.special_by_name) {
    special[one.name] = one.count;
  }
  return {{"workload", check.workload},
          {"bytes", check.work.bytes},
          {"flops", check.work.flops},
          {"special_functions", special},
          {"is_estimate", check.work.is_estimate},
          {"special_chain", check.work.serial_special_functions}};
}

std::string summary(const FamilyFile& file, const FamilyCheck& check) {
  std::map<MutantState, int> count = counts(check);
  std::string notes = work_text(check);
  for (const std::string& note : check.notes) {
    notes += "note: " + note + "\n";
  }
  return notes + fmt::format(
                     "{}: {} cases; tolerance from {}; the honest version is at most {} of its bound; {} of {} planted "
                     "mistakes refused, {} within the tolerance ({})\n",
                     file.name, check.cases, check.tolerance, format_g(check.honest_closeness, 2),
                     count[MutantState::refused], count[MutantState::refused] + count[MutantState::hidden],
                     count[MutantState::hidden], format_seconds(check.seconds));
}

Json document(const FamilyFile& file, const FamilyCheck& check) {
  Json rows = Json::array();
  for (const MutantRow& row : check.mutants) {
    rows.push_back({{"mistake", row.mutant},
                    {"tensor", row.tensor},
                    {"state", std::string(to_string(row.state))},
                    {"times_bound", std::isfinite(row.excess) ? Json(row.excess) : Json("inf")},
                    {"case", row.where}});
  }
  return {{"family", file.name},
          {"cases", check.cases},
          {"tolerance", check.tolerance},
          {"honest_closeness", check.honest_closeness},
          {"mistakes", rows},
          {"work", work_document(check)},
          {"notes", check.notes},
          {"seconds", check.seconds}};
}

FamilyCheck check_with_progress(const FamilyFile& file, const Globals& globals) {
  const Paths paths = make_paths(globals.journal);
  ConsoleObserver observer(globals);
  Workspace workspace(paths);
  return check_family(file, oracle_with_notice(paths), secret_seed(), workspace.machine().cores, observer);
}

FamilyFile find_file(const std::string& name) {
  if (name.ends_with(".h") || std::filesystem::is_regular_file(name)) {
    return load_family_file(name);
  }
  if (const FamilyFile* known = find_family_file(name)) {
    return *known;
  }
  std::vector<std::string> names;
  for (const Family& family : families()) {
    names.push_back(family.name);
  }
  if (find_family(name) != nullptr) {
    throw UserError("the family '" + name + "' is not a file: it is C++ of this program",
                    "only families of files are checked; their own tests check the others");
  }
  throw UserError("unknown family '" + name + "'",
                  did_you_mean(name, names) + "  'apo register FILE.h' adds one, 'apo new NAME' writes one");
}

int check(const std::string& family, const Globals& globals) {
  const InterruptNote note("nothing was kept but the builds", "check anew with", globals.words);
  const FamilyFile file = find_file(family);
  const FamilyCheck result = check_with_progress(file, globals);
  print_answer(globals, document(file, result), mutants_text(result) + summary(file, result));
  return kDone;
}

}  // namespace

std::string check_summary(const FamilyFile& file, const Globals& globals) {
  return summary(file, check_with_progress(file, globals));
}

namespace {

// Of a copy with what `keep_family` copies, so that a reference that needs more of its folder is refused.
FamilyCheck check_copy(const FamilyFile& file, const Globals& globals) {
  if (file.reference_command.empty()) {
    return check_with_progress(file, globals);
  }
  const TemporaryFolder folder("apo-family");
  keep_family(file, folder.path());
  try {
    return check_with_progress(load_family_file(registered_path(file, folder.path()).string()), globals);
  } catch (const UserError& error) {
    const std::string copied = registered_path(file, folder.path()).parent_path().string();
    const std::string own = std::filesystem::path(file.path).parent_path().string();
    throw UserError(replace_all(error.what(), copied, own),
                    error.hint() + "\nit is registered with the files that 'apo:reference' names, and finds no others");
  }
}

}  // namespace

int register_family(const std::string& path, bool check, const Globals& globals) {
  const FamilyFile file = load_family_file(path);
  const Paths paths = make_paths(globals.journal);
  const FamilyRegistration known = find_registration(file, paths.families);
  std::string checked;
  if (known != FamilyRegistration::same) {
    FamilyFile kept = file;
    if (check) {
      const FamilyCheck result = check_copy(file, globals);
      checked = summary(file, result);
      kept = with_found(file, result.units, result.left_out);
    }
    keep_family(kept, paths.families);
  }
  const std::string state = known == FamilyRegistration::unknown   ? "registered"
                            : known == FamilyRegistration::changed ? "registered again, changed"
                                                                   : "already registered";
  print_answer(
      globals, {{"family", file.name}, {"state", state}, {"path", registered_path(file, paths.families).string()}},
      checked + fmt::format("family {} is {}: {}\n", file.name, state, registered_path(file, paths.families).string()));
  return kDone;
}

Action define_family(CLI::App& app, Globals& globals) {
  struct Options {
    std::string action;
    std::string family;
  };
  const auto options = std::make_shared<Options>();
  app.add_option("action", options->action, "check: run the reference, its honest version and planted mistakes")
      ->required()
      ->check(CLI::IsMember({"check"}));
  app.add_option("family", options->family, "name of a family of a file, or the file")->required();
  return [options, &globals] { return check(options->family, globals); };
}

}  // namespace apo
