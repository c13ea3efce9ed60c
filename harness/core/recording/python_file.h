// harness/core/recording/python_file.h - what the build of a Python file and the process that calls it agree on.
#pragma once

namespace apo {

inline constexpr const char* kPythonRequest = "request.json";                            // the object of the build
inline constexpr const char* kPythonScript = "harness/implement/python/call_python.py";  // below home_folder()

}  // namespace apo
