// kernels/encode.h - tensors of doubles to the bytes of their storage dtype, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/dtype.h"

namespace apo {

template <std::size_t kBytes>
using UnsignedOf = std::conditional_t<
    kBytes == 1, std::uint8_t,
    std::conditional_t<kBytes == 2, std::uint16_t, std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>>>;

// Rounds each value to the dtype. `to` has room for all of them.
void encode(DType dtype, std::span<const double> values, std::byte* to);
std::vector<std::byte> encode(DType dtype, const std::vector<double>& values, int threads = 1);
std::vector<double> decode(DType dtype, std::span<const std::byte> bytes, int threads = 1);

}  // namespace apo
