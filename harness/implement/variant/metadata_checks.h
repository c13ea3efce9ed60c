// harness/implement/variant/metadata_checks.h - the rules of a metadata block that span several of its lines.
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/implement/variant/metadata_block.h"

namespace apo {

// Names that clash, expressions that do not parse, launches that do not fit the form of the variant, a prediction over
// a parent that is not named. Throws UserError naming path:line.
void check_metadata(const Variant& variant, const Family& family, const std::vector<BlockLine>& block,
                    const std::string& path);

// Returns whether the code of the variant, or an attribute of a launch, names the tunable: without one all its values
// make the same program.
bool is_read(const Variant& variant, const std::string& tunable);

}  // namespace apo
