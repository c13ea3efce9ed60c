// harness/profile/host/vector_code.h - counts vector and scalar floating-point instructions in the loops of a library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace apo {

struct FloatInstructions {
  std::int64_t vector = 0;
  std::int64_t scalar = 0;
};

// Counts arithmetic in the innermost loops of a listing of `objdump -d --no-show-raw-insn` (x86-64 or AArch64). An
// innermost loop ends with a conditional jump back and contains no other loop. Code outside of them includes the
// remainders of vectorised loops, which are scalar.
FloatInstructions count_float_instructions(std::string_view listing);

// Returns the share of vector instructions in these loops of a library's machine code; NaN where it has none, or where
// objdump is missing (Debian's binutils, which every compiler depends on).
double vector_share(const std::filesystem::path& library);

}  // namespace apo
