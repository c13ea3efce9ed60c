// harness/families/known_families.h - makes kernel families of family files, and adds them to those that this program
// knows.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/families/oracle_program.h"
#include "kernels/family.h"

namespace apo {

// The functions of the family share the program, which is built when one of them is first called.
Family family_of(const FamilyFile& file, const OracleOptions& options);

// Replaces reference, honest, noise and derive, and adds to fill. The command of the file is run in the file's folder,
// once a draw, with a folder as its last argument. It finds there NAME.npy of every input, of floats in float64 or, for
// the honest version, float32, and axes.json: {"axes": {...}, "scalars": {...}, "precision": "float64" | "float32" |
// "declared", "tensors": {NAME: {"dtype", "shape", "role"}}}. It writes NAME.npy of every output. With "fill":
// [NAME...] and "seed" in axes.json there are no inputs, and it writes these instead. It may stay for the next folder
// (KeptProcess). The noise is what float32 changes, what inputs moved within the rounding of float32 change, and what
// the declared dtypes change beyond the rounding of the output. Errors are UserErrors with the last line that the
// program printed.
void add_command_reference(Family& family, const FamilyFile& file, const OracleOptions& options);

// "rtol=0.5 atol=0.5 because REASON", "derived because REASON".
std::string tolerance_text(const FileTolerance& tolerance);

// Explains the origin of a family file's tolerance to people.
std::string tolerance_source(const FamilyFile& file);

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
