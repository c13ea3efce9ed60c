// harness/families/command_reference.h - a reference in another language: a program that reads and writes .npy files.
#pragma once

#include "harness/families/family_file.h"
#include "kernels/family.h"

namespace apo {

// Replaces reference, honest, noise and derive. The command of the file is run in the file's folder, once a draw, with
// a folder as its last argument. It finds there NAME.npy of every input, of floats in float64 or, for the honest
// version, float32, and axes.json: {"axes": {...}, "scalars": {...}, "precision": "float64", "tensors": {NAME:
// {"dtype", "shape", "role"}}}. It writes NAME.npy of every output. The noise is what float32 changes, and what inputs
// moved within the rounding of float32 change. Errors are UserErrors with the last line that the program printed.
void add_command_reference(Family& family, const FamilyFile& file, double timeout_s);

}  // namespace apo
