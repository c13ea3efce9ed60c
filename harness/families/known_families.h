// harness/families/known_families.h - adds the families of files to those that this program knows.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/families/oracle_program.h"

namespace apo {

// A file that is no valid family; the others are added.
struct FamilyProblem {
  std::string path;
  std::string what;
  std::string hint;
};

// The shipped families, <home>/kernels/*.h, and the registered ones, <registered>/<name>/<name>.h, in order of names.
std::vector<FamilyProblem> add_known_families(const std::filesystem::path& registered, const OracleOptions& options);

// The family of one file. Throws UserError, also when the name is taken.
void add_family_file(const std::string& path, const OracleOptions& options);

// Returns the file of a family that was read from one, else nullptr.
const FamilyFile* find_family_file(std::string_view name);

}  // namespace apo
