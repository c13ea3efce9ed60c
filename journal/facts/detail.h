// journal/facts/detail.h - how much of a judgement is read.
#pragma once

#include <cstdint>

namespace apo {

enum class Detail : std::uint8_t { rounds, summary };  // with or without rounds and their samples

}  // namespace apo
