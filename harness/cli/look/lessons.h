// harness/cli/look/lessons.h - `apo query --lessons`: prints what experiments taught.
#pragma once

#include "harness/cli/command.h"
#include "journal/query/queries.h"

namespace apo {

// The lessons of the experiments that the query finds; its columns mean nothing. Throws UserError for an unknown
// family, technique or variant.
int show_lessons(const Query& query, const Globals& globals);

}  // namespace apo
