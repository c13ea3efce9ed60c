// harness/core/system/secret.cpp - draws seeds from the operating system's generator.
#include "harness/core/system/secret.h"

#include <sys/random.h>

#include "harness/core/error.h"

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

}  // namespace apo
