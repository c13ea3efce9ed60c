// harness/core/base64.cpp - writes three bytes as four letters.
#include "harness/core/base64.h"

#include <array>
#include <cstdint>

namespace apo {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::array<std::int8_t, 256> values_of_letters() {
  std::array<std::int8_t, 256> values;
  values.fill(-1);
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    values[static_cast<unsigned char>(kLetters[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? kLetters[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

std::optional<std::string> bytes_of_base64(std::string_view text) {
  static const std::array<std::int8_t, 256> values = values_of_letters();
  if (text.size() % 4 != 0) {
    return std::nullopt;
  }
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const std::size_t padding = !last || text[i + 3] != '=' ? 0 : text[i + 2] == '=' ? 2 : 1;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const int value = k >= 4 - padding ? 0 : values[static_cast<unsigned char>(text[i + k])];
      if (value < 0) {
        return std::nullopt;
      }
      group = group << 6 | static_cast<std::uint32_t>(value);
    }
    for (std::size_t k = 0; k < 3 - padding; ++k) {
      bytes += static_cast<char>(group >> (16 - 8 * k) & 255);
    }
  }
  return bytes;
}

}  // namespace apo
