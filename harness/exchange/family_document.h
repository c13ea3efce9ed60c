// harness/exchange/family_document.h - a family as JSON: what `apo list FAMILY --json` prints and the conversions read.
#pragma once

#include <nlohmann/json.hpp>

#include "kernels/family.h"

namespace apo {

// With what only the file of a family says (how inputs are drawn, where it came from), null or "" for one without a
// file.
nlohmann::ordered_json to_document(const Family& family);

}  // namespace apo
