// harness/core/hash.cpp - SHA-256 through OpenSSL.
#include "harness/core/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "harness/core/error.h"

namespace apo {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int count = 0;
  APO_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &count, EVP_sha256(), nullptr) == 1);
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < count; ++i) {
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

std::string sha256_of_parts(std::span<const std::string> parts) {
  std::string whole;
  for (const std::string& part : parts) {
    whole += fmt::format("{}:", part.size()) + part;
  }
  return sha256(whole);
}

}  // namespace apo
