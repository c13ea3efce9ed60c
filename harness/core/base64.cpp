// harness/core/base64.cpp - base64 through OpenSSL.
#include "harness/core/base64.h"

#include <openssl/evp.h>

#include <algorithm>

namespace apo {
namespace {

const unsigned char* unsigned_data(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), unsigned_data(bytes), static_cast<int>(bytes.size()));
  return text;
}

std::optional<std::string> bytes_of_base64(std::string_view text) {
  std::string bytes(text.size() / 4 * 3, '\0');
  EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), unsigned_data(text), static_cast<int>(text.size()));
  // It takes padding for zeros, and leaves out blanks.
  const auto padding =
      static_cast<std::size_t>(std::ranges::count(text.substr(std::max<std::size_t>(text.size(), 2) - 2), '='));
  bytes.resize(bytes.size() - std::min(bytes.size(), padding));
  return base64(bytes) == text ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace apo
