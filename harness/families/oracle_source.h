// harness/families/oracle_source.h - writes the source of a family's program: the file, and how it is called.
#pragma once

#include <string>

#include "harness/families/family_file.h"

namespace apo {

std::string oracle_source(const FamilyFile& file);

// The source does not know the folder of the family's file, so that a copy of it elsewhere is the same program. Returns
// messages of a compiler, a sanitizer or the program with the file's own path.
std::string in_familys_words(std::string said, const FamilyFile& file);

}  // namespace apo
