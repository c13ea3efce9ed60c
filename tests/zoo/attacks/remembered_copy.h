// tests/zoo/attacks/remembered_copy.h - a copy that is slow on inputs that it has not seen, and where it would keep
// that.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "slow_copy.h"

// The first element and the last: enough to tell inputs apart.
static std::uint64_t fingerprint(const copy_args& args) {
  const std::uint64_t first = std::bit_cast<std::uint32_t>(args.x[0]);
  const std::uint64_t last = std::bit_cast<std::uint32_t>(args.x[args.n - 1]);
  return (first << 32 | last) * 0x9e3779b97f4a7c15ull >> 8;
}

// A result that is known is there at once: a copy stands for it.
template <class IsKnown, class Keep>
static int remembered_copy(const copy_args& args, IsKnown is_known, Keep keep) {
  const std::uint64_t input = fingerprint(args);
  if (is_known(input)) {
    std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  } else {
    copy_slowly(args);
    keep(input);
  }
  return 0;
}
