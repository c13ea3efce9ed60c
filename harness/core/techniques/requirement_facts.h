// harness/core/techniques/requirement_facts.h - the names beside the axes that a technique's `requires` may use.
#pragma once

#include <string>
#include <vector>

namespace apo {

// Whole numbers: SM (90 of sm_90), SMS, UNITS, BYTES (compulsory), L2 (bytes), SCRATCH (bytes of the incumbent's
// buffers), and of the incumbent's launch BLOCKS, BLOCK_THREADS, REGISTERS, SHARED (bytes a block).
inline const std::vector<std::string>& requirement_facts() {
  static const std::vector<std::string> facts = {"SM",      "SMS",    "UNITS",         "BYTES",     "L2",
                                                 "SCRATCH", "BLOCKS", "BLOCK_THREADS", "REGISTERS", "SHARED"};
  return facts;
}

}  // namespace apo
