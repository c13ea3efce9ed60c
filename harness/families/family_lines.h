// harness/families/family_lines.h - the keys of a family's block, and what a line of each says about the family.
#pragma once

#include <string>
#include <vector>

#include "harness/families/family_record.h"
#include "harness/implement/variant/metadata_block.h"

namespace apo {

// Reads one line into `file`, whose path names the place of an error. Throws UserError for an unknown key, and for a
// value that does not fit its form or the lines before it.
void read_family_line(FamilyFile& file, const BlockLine& text);

}  // namespace apo
