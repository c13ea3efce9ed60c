// harness/worker/recorder/wanted_call.h - which call of a program is recorded.
#pragma once

#include <cstdint>
#include <string>

namespace apo {

// Of a program: a launch of a kernel, or all work that a thread gives the GPU within an NVTX range.
struct WantedCall {
  std::string kernel;    // its mangled name, or the identifier in it; empty: a range is wanted
  std::int64_t nth = 1;  // of its launches, from 1
  std::string range;
  std::string program;  // the command line, for the record
};

}  // namespace apo
