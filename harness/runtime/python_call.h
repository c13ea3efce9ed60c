// harness/runtime/python_call.h - a Python file that is called in a process of its own, while its launches are
// recorded.
#pragma once

#include "harness/core/recording/recorded_call.h"
#include "harness/runtime/runtime.h"

namespace apo {

inline constexpr int kRecordedSets = 2;  // calls on different inputs launch the same, or cannot be recorded
inline constexpr std::int64_t kMostDrawn = std::int64_t{256} << 20;  // bytes of tensors; larger ones are zeros

// Whether this is a build of build_python().
bool is_python_build(const Build& build);

// Calls the file's function on drawn inputs of these sizes, on the GPU that `runtime.worker` names. `log` gets what it
// printed, and what its own call takes with its host's work. The process has no network, writes below the folder of the
// build alone, and may run compilers; what it says is a candidate's word. Outcomes: refused for what cannot be
// recorded, else what went wrong.
Result<RecordedCall> record_python(const Runtime& runtime, const Axes& axes, const Build& build, std::string& log);

}  // namespace apo
