// harness/implement/object/ptx.h - replaces what only a GPU's compiler takes in a source, inline PTX and launches, by
// C++ for the CPU executor.
#pragma once

#include <string>
#include <string_view>

namespace apo {

// Replaces every asm statement by a call of the equivalent function of harness/executor/device/ptx.h, or, where there
// is none, by an error that says "not checkable on the CPU" where the code is needed; and every launch
// `kernel<<<...>>>(...)` by a call of harness/executor/device/host/runtime.h. Lines, comments and texts stay in place.
std::string for_host_compiler(std::string_view source);

}  // namespace apo
