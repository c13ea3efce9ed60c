// harness/loop/exchange/t4_words.h - the words of T4 for why a configuration is invalid.
#pragma once

#include "harness/core/words.h"
#include "harness/loop/exchange/t4.h"

namespace apo {

inline constexpr EnumWords<Invalidity, 6> kInvalidityWords = {{{Invalidity::correct, "correct"},
                                                               {Invalidity::timeout, "timeout"},
                                                               {Invalidity::compile, "compile"},
                                                               {Invalidity::runtime, "runtime"},
                                                               {Invalidity::correctness, "correctness"},
                                                               {Invalidity::constraints, "constraints"}}};

}  // namespace apo
