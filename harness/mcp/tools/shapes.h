// harness/mcp/tools/shapes.h - documents as a model reads them: without what fills its context and decides nothing.
#pragma once

#include "harness/mcp/protocol/message.h"

namespace apo::mcp {

// The gates without the time of each of their steps, here and in an `experiment`.
Json without_steps(Json document);
// Shortens `apo list`: each family with its name, its summary, its workloads and the number of its variants.
Json overview(const Json& document);
// Shortens `apo show`: without the rounds, nine tenths of the document.
Json without_rounds(Json document);

}  // namespace apo::mcp
