// harness/implement/variant/metadata_lines.h - the keys of a variant's block, and what a line of each says about it.
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/implement/variant/metadata_block.h"

namespace apo {

// Reads the lines of the block of file `path` into `variant`: its family and name first, in whose light the others are
// read; those that the block does not give stay what they are. Throws UserError for an unknown or repeated key, and for
// a value that does not fit its form.
void read_lines(Variant& variant, const std::vector<BlockLine>& block, const std::string& path);

}  // namespace apo
