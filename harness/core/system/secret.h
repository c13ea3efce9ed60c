// harness/core/system/secret.h - seeds that a candidate cannot predict.
#pragma once

#include <cstdint>

namespace apo {

// From the operating system's generator; it is logged after use, never before.
std::uint64_t secret_seed();

}  // namespace apo
