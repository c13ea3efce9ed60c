// harness/core/hash.cpp - SHA-256 through OpenSSL.
#include "harness/core/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <memory>

#include "harness/core/error.h"

namespace apo {
namespace {

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    APO_CHECK(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }
  void add(const void* bytes, std::size_t count) { APO_CHECK(EVP_DigestUpdate(context_.get(), bytes, count) == 1); }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned int count = 0;
    APO_CHECK(EVP_DigestFinal_ex(context_.get(), bytes.data(), &count) == 1);
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (unsigned int i = 0; i < count; ++i) {
      text += kDigits[bytes[i] >> 4];
      text += kDigits[bytes[i] & 15];
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256(std::string_view bytes) {
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.hex();
}

std::string sha256_of_parts(std::span<const std::string> parts) {
  Digest digest;
  for (const std::string& part : parts) {
    const std::string length = fmt::format("{}:", part.size());
    digest.add(length.data(), length.size());
    digest.add(part.data(), part.size());
  }
  return digest.hex();
}

}  // namespace apo
