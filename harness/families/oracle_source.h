// harness/families/oracle_source.h - writes the source of a family's program: the file, and how it is called.
#pragma once

#include <string>

#include "harness/families/family_file.h"

namespace apo {

std::string oracle_source(const FamilyFile& file);

}  // namespace apo
