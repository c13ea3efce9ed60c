// harness/families/command_reference.h - a reference in another language: a program that reads and writes .npy files.
#pragma once

#include <string>

#include "harness/families/family_file.h"
#include "harness/families/oracle_program.h"
#include "kernels/family.h"

namespace apo {

// Replaces reference, honest, noise and derive, and adds to fill. The command of the file is run in the file's folder,
// once a draw, with a folder as its last argument. It finds there NAME.npy of every input, of floats in float64 or, for
// the honest version, float32, and axes.json: {"axes": {...}, "scalars": {...}, "precision": "float64" | "float32" |
// "declared", "tensors": {NAME: {"dtype", "shape", "role"}}}. It writes NAME.npy of every output. With "fill":
// [NAME...] and "seed" in axes.json there are no inputs, and it writes these instead. It may stay for the next folder
// (KeptProcess). The noise is what float32 changes, what inputs moved within the rounding of float32 change, and what
// the declared dtypes change beyond the rounding of the output. Errors are UserErrors with the last line that the
// program printed.
void add_command_reference(Family& family, const FamilyFile& file, const OracleOptions& options);

// Explains the origin of a family file's tolerance to people.
std::string tolerance_source(const FamilyFile& file);

}  // namespace apo
