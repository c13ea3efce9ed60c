// harness/implement/object/compiler_names.h - finds where device code asks which compiler it has.
#pragma once

#include <string>
#include <string_view>

namespace apo {

// Returns the first name in `source` by which the CPU executor's compiler can be told from a GPU's: a macro that only
// one of them has, wherever it stands, and in a condition (#if, #ifdef, ...) every reserved name but __CUDA_ARCH__,
// __CUDACC__ and __cplusplus. A condition may name macros of the source itself, and be the usual guard (#ifndef NAME,
// then #define NAME). "" when there is none. Conditions are not evaluated.
std::string asks_for_compiler(std::string_view source);

}  // namespace apo
