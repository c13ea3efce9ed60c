// harness/families/file_family.h - makes a kernel family of a family file: everything else is derived from it.
#pragma once

#include "harness/families/family_file.h"
#include "harness/families/oracle_program.h"
#include "kernels/family.h"

namespace apo {

// The functions of the family share the program, which is built when one of them is first called.
Family family_of(const FamilyFile& file, const OracleOptions& options);

}  // namespace apo
