// harness/core/base64.cpp - three bytes as four letters; the library in a profiled program has no OpenSSL.
#include "harness/core/base64.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace apo {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kGroupBytes = 3;
constexpr std::size_t kGroupLetters = 4;

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += kGroupBytes) {
    const std::string_view some = bytes.substr(at, kGroupBytes);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kGroupBytes; ++i) {
      bits = bits << 8 | (i < some.size() ? static_cast<unsigned char>(some[i]) : 0);
    }
    for (std::size_t i = 0; i < kGroupLetters; ++i) {
      text += i <= some.size() ? kLetters[bits >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

std::optional<std::string> bytes_of_base64(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); at += kGroupLetters) {
    std::uint32_t bits = 0;
    std::size_t letters = 0;
    for (const char letter : text.substr(at, kGroupLetters)) {
      const std::size_t value = kLetters.find(letter);
      bits = bits << 6 | (value != std::string_view::npos ? static_cast<std::uint32_t>(value) : 0);
      letters += letter != '=' ? 1 : 0;
    }
    for (std::size_t i = 0; i + 1 < letters; ++i) {
      bytes += static_cast<char>(bits >> (16 - 8 * i) & 255);
    }
  }
  return base64(bytes) == text ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace apo
