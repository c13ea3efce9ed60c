// harness/implement/object/ptx.h - replaces the inline PTX of a source by C++ for the CPU executor.
#pragma once

#include <string>
#include <string_view>

namespace apo {

// Every asm statement becomes a call of the function of harness/executor/device/ptx.h that does the same, or, where
// none does, a static_assert that says "not checkable on the CPU". Lines stay where they are, and so do comments and
// text.
std::string without_ptx(std::string_view source);

}  // namespace apo
