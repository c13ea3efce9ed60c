// harness/core/hash.h - SHA-256 for content addresses.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace apo {

std::string sha256(std::string_view bytes);  // 64 lower-case hex digits
// For lists: each part is preceded by its length, so that ("ab","c") and ("a","bc") differ.
std::string sha256_of_parts(std::span<const std::string> parts);

}  // namespace apo
