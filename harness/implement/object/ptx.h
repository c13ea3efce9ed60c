// harness/implement/object/ptx.h - replaces the inline PTX of a source by C++ for the CPU executor.
#pragma once

#include <string>
#include <string_view>

namespace apo {

// Replaces every asm statement by a call of the equivalent function of harness/executor/device/ptx.h, or, where there
// is none, by an error that says "not checkable on the CPU" where the code is needed. Lines, comments and texts stay in
// place.
std::string without_ptx(std::string_view source);

}  // namespace apo
