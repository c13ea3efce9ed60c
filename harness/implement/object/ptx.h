// harness/implement/object/ptx.h - puts C++ in place of the inline PTX of a source that is built for the CPU.
#pragma once

#include <string>
#include <string_view>

namespace apo {

// Every asm statement becomes a call of the function of harness/executor/device/ptx.h that does the same, or, where
// none does, a static_assert that says "not checkable on the CPU". Lines stay where they are, and so do comments and
// text.
std::string without_ptx(std::string_view source);

}  // namespace apo
