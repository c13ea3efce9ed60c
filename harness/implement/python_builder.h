// harness/implement/python_builder.h - a Python file whose function is called: which one that is, and what it gets.
#pragma once

#include <filesystem>
#include <string>

#include "harness/implement/cached_build.h"

namespace apo {

struct PythonCall {
  std::string python;   // its path
  std::string version;  // "PyTorch 2.11.0"
  std::string text;     // "run(x, eps=epsilon)": each parameter, and what it gets
  Outcome outcome = Outcome::valid;
  std::string evidence;  // one sentence when there is no call
};

// Reads the file, and runs nothing of it. Outcomes: wrong_abi where it has no function that fits the family; refused
// when there is no python3 or no PyTorch.
PythonCall python_call(const std::filesystem::path& home, const Family& family, const Variant& variant,
                       const Settings& settings);

// Compiles nothing: the build is the file and what to call in it, and it becomes device code when it is recorded.
Build build_python(const BuildOptions& options, const BuildCache& cache, const Family& family, const Variant& variant,
                   const Settings& settings);

}  // namespace apo
