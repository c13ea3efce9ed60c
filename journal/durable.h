// journal/durable.h - when what is written is safe.
#pragma once

#include <cstdint>

namespace apo {

// When a commit is safe from a loss of power: at once, or with the next one that is, which waits for the disk for both.
// A process that is killed loses neither.
enum class Durable : std::uint8_t { at_once, with_the_next };

}  // namespace apo
