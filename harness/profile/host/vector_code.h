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

// Arithmetic in the innermost loops of a listing of `objdump -d --no-show-raw-insn` (x86-64 or AArch64). An innermost
// loop ends with a conditional jump back and has no other within. Outside of them stand the remainders of vectorised
// loops, which are scalar.
FloatInstructions count_float_instructions(std::string_view listing);

// The share of vector instructions among them in the machine code of a library; NaN where it has none, or where there
// is no objdump (Debian's binutils, which every compiler brings along).
double vector_share(const std::filesystem::path& library);

}  // namespace apo
