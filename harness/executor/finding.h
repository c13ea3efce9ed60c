// harness/executor/finding.h - a mistake of a kernel, and where code stands in its source.
#pragma once

#include <string>

#include "harness/executor/device/interface.h"

namespace apo::executor {

// A mistake of a kernel: `kind` is one of a few fixed names ("shared-memory race"), `sentence` also names kernel,
// block, thread and source line.
struct Finding {
  std::string kind;
  std::string sentence;
  bool is_mistake = true;  // else something that has no equivalent here
};

// Returns "simple.cu:97" for an address of code; inlined functions of the executor's own headers are skipped.
std::string source_line(const void* code);
std::string name_of(const apo_cpu::Line& line);  // in the same form

}  // namespace apo::executor
