// tests/worker/write_input.h - an input of shared tensors whose bytes live as long as the tests run.
#pragma once

#include <deque>

#include "harness/worker/protocol/shared_tensors.h"

namespace apo::testing {

inline void write_input(SharedTensors& tensors, int set, std::string_view name, std::span<const std::byte> bytes) {
  static std::deque<std::vector<std::byte>> kept;
  tensors.share_input(set, name, {.tile = kept.emplace_back(bytes.begin(), bytes.end())});
}

}  // namespace apo::testing
