// harness/core/system/secret.cpp - draws seeds from the operating system's generator, and hides where one comes from.
#include "harness/core/system/secret.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <string>

#include "harness/core/error.h"
#include "harness/core/hash.h"

namespace apo {

std::uint64_t secret_seed() {
  std::uint64_t seed = 0;
  // Up to 256 bytes are delivered whole once the pool is initialised.
  const ssize_t got = getrandom(&seed, sizeof seed, 0);
  if (got != static_cast<ssize_t>(sizeof seed)) {
    throw EnvironmentError("the operating system gave no random seed (getrandom failed)");
  }
  return seed;
}

std::uint64_t one_way_seed(std::uint64_t parent, std::string_view name, std::uint64_t index) {
  constexpr std::size_t kDigits = 16;
  constexpr int kHex = 16;
  return std::stoull(sha256(fmt::format("{} {} {}", parent, name, index)).substr(0, kDigits), nullptr, kHex);
}

}  // namespace apo
