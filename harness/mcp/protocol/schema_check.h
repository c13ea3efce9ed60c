// harness/mcp/protocol/schema_check.h - holds a value against a JSON schema, of the keywords that our schemas use.
#pragma once

#include <string>

#include "harness/mcp/protocol/message.h"

namespace apo::mcp {

// Empty when the value fits; else one sentence about the first fault, with the names that are known.
// Keywords: type (a word or a list of them), enum, properties, required, additionalProperties false, items, minLength,
// minimum, maximum, maxItems. Others mean nothing here.
std::string schema_fault(const Json& value, const Json& schema, const std::string& where = "");

}  // namespace apo::mcp
