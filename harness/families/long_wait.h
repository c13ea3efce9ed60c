// harness/families/long_wait.h - tells whoever asked when a reference has been running for long.
#pragma once

#include <string>

#include "harness/core/system/overdue.h"
#include "harness/families/oracle_program.h"

namespace apo {

// Calls `options.on_wait` where the result still lives after `options.patience_s`. `what`: "the reference of family
// softmax (rows=2)".
Overdue long_wait(const OracleOptions& options, const std::string& what);

}  // namespace apo
