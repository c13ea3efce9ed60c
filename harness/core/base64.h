// harness/core/base64.h - bytes as text that JSON can carry (RFC 4648, section 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace apo {

std::string base64(std::string_view bytes);
// nullopt for what base64() does not write.
std::optional<std::string> bytes_of_base64(std::string_view text);

}  // namespace apo
