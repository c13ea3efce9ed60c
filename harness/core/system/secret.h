// harness/core/system/secret.h - seeds that a candidate cannot predict.
#pragma once

#include <cstdint>

namespace apo {

// Draws from the operating system's generator. The seed is logged after use, never before.
std::uint64_t secret_seed();

}  // namespace apo
