// harness/loop/contract/register_family.cpp - copies files; the check is the caller's.
#include "harness/loop/contract/register_family.h"

#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "kernels/family.h"

namespace apo {
namespace fs = std::filesystem;

fs::path registered_path(const FamilyFile& file, const fs::path& registered) {
  return registered / file.name / (file.name + ".h");
}

FamilyRegistration find_registration(const FamilyFile& file, const fs::path& registered) {
  const fs::path path = registered_path(file, registered);
  if (!fs::exists(path)) {
    if (find_family(file.name) != nullptr) {
      throw UserError(fmt::format("{}: the program has a family '{}' already", file.path, file.name),
                      "give yours another name at 'apo:family'");
    }
    return FamilyRegistration::unknown;
  }
  try {
    const FamilyFile known = load_family_file(path.string());
    const bool units_were_found = file.reference_command.empty() && file.units.empty() && !known.units.empty();
    const bool says_nothing = !file.names_regimes && file.no_regimes.empty();
    const FamilyFile given = with_found(file, units_were_found ? known.units : std::vector<FileUnitAxis>(),
                                        says_nothing ? known.no_regimes : std::vector<std::string>());
    return contract_text(known) == contract_text(given) ? FamilyRegistration::same : FamilyRegistration::changed;
  } catch (const UserError&) {
    return FamilyRegistration::changed;  // what is there is damaged
  }
}

void keep_family(const FamilyFile& file, const fs::path& registered) {
  const fs::path path = registered_path(file, registered);
  fs::create_directories(path.parent_path());
  std::vector<NamedText> files = {{.path = path, .contents = file.text}};
  for (const SourceFile& header : file.headers) {
    files.push_back({.path = path.parent_path() / header.name, .contents = header.text});
  }
  write_files_atomically(files);
}

std::string retire_family(const std::string& name, const fs::path& registered) {
  const fs::path folder = registered / name;
  if (!is_identifier(name) || !fs::is_directory(folder)) {
    throw UserError("no family '" + name + "' is registered here",
                    find_family(name) != nullptr ? "it is one of the program's own" : "'apo list' shows all families");
  }
  const fs::path retired = registered.parent_path() / "retired" / "families" / name;
  fs::create_directories(retired.parent_path());
  fs::remove_all(retired);
  fs::rename(folder, retired);
  return retired.string();
}

}  // namespace apo
