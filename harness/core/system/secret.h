// harness/core/system/secret.h - seeds that a candidate cannot predict.
#pragma once

#include <cstdint>
#include <string_view>

namespace apo {

// Draws from the operating system's generator. The seed is logged after use, never before.
std::uint64_t secret_seed();

// A seed that may be told before its parent is: unlike that of derive_seed, it does not lead back.
std::uint64_t one_way_seed(std::uint64_t parent, std::string_view name, std::uint64_t index);

}  // namespace apo
