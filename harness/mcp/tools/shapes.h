// harness/mcp/tools/shapes.h - documents as a model reads them: without what fills its context and decides nothing.
#pragma once

#include "harness/mcp/protocol/message.h"

namespace apo::mcp {

// The gates without the time of each of their steps, here and in an `experiment`.
Json without_steps(Json document);
// Of `apo list`: of each family its name, what it computes, the names of its workloads and how many variants it has.
Json overview(const Json& document);
// Of `apo show`: without the rounds, which are nine tenths of it.
Json without_rounds(Json document);

}  // namespace apo::mcp
