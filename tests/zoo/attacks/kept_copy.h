// tests/zoo/attacks/kept_copy.h - a slow copy that keeps its last two inputs and their results.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "slow_copy.h"

struct Kept {
  const float* x = nullptr;
  std::vector<float> inputs;
  std::vector<float> results;
};
static Kept kept[2];

static bool is_known(const Kept& one, const float* x, int64_t n) {
  return one.x == x && one.inputs.size() == static_cast<size_t>(n) &&
         std::memcmp(one.inputs.data(), x, sizeof(float) * static_cast<size_t>(n)) == 0;
}

[[maybe_unused]] static void make(Kept& one, const float* x, int64_t n) {
  if (!is_known(one, x, n)) {
    one.x = x;
    one.inputs.assign(x, x + n);
    one.results.resize(static_cast<size_t>(n));
    copy_slowly({.x = x, .y = one.results.data(), .n = n});
  }
}

static bool is_readable(uintptr_t begin, size_t bytes) {
  const uintptr_t page = begin / 4096 * 4096;
  return madvise(reinterpret_cast<void*>(page), begin + bytes - page, MADV_POPULATE_READ) == 0;
}

// The results of inputs that are new at a known address.
[[maybe_unused]] static void make_new_results() {
  for (Kept& one : kept) {
    if (one.x != nullptr && is_readable(reinterpret_cast<uintptr_t>(one.x), sizeof(float) * one.inputs.size())) {
      make(one, one.x, static_cast<int64_t>(one.inputs.size()));
    } else {
      one.x = nullptr;  // the worker moves tensors when their size changes
    }
  }
}

[[maybe_unused]] static void kept_copy(const copy_args& args) {
  const int own = kept[0].x == nullptr || kept[0].x == args.x ? 0 : 1;
  make(kept[own], args.x, args.n);
  std::memcpy(args.y, kept[own].results.data(), sizeof(float) * static_cast<size_t>(args.n));
}
