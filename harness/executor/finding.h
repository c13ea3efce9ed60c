// harness/executor/finding.h - a mistake of a kernel, and where code stands in its source.
#pragma once

#include <string>

#include "harness/executor/device/interface.h"

namespace apo::executor {

// What a kernel did wrong: `kind` is one of a few fixed names ("shared-memory race"), `sentence` names kernel, block,
// thread and source line besides.
struct Finding {
  std::string kind;
  std::string sentence;
};

// "simple.cu:97" for an address of code; inlined functions of the executor's own headers are left out.
std::string source_line(const void* code);
std::string name_of(const apo_cpu::Line& line);  // in the same form

}  // namespace apo::executor
