// kernels/encode.cpp - loops with the dtype as a constant.
#include "kernels/encode.h"

#include <algorithm>
#include <cstring>

#include "kernels/parallel.h"

namespace apo {
void encode(DType dtype, std::span<const double> values, std::byte* to) {
  with_dtype(dtype, [&]<DType kDType>() {
    constexpr auto size = static_cast<std::size_t>(dtype_bytes(kDType));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t bits = to_bits(kDType, values[i]);  // little-endian: its lowest bytes come first
      std::memcpy(to + i * size, &bits, size);
    }
  });
}

std::vector<std::byte> encode(DType dtype, const std::vector<double>& values, int threads) {
  const auto size = static_cast<std::size_t>(dtype_bytes(dtype));
  std::vector<std::byte> bytes(values.size() * size);
  for_each_chunk(values.size(), threads, [&](std::size_t begin, std::size_t end) {
    encode(dtype, std::span(values).subspan(begin, end - begin), bytes.data() + begin * size);
  });
  return bytes;
}

std::vector<double> decode(DType dtype, std::span<const std::byte> bytes, int threads) {
  std::vector<double> values(bytes.size() / static_cast<std::size_t>(dtype_bytes(dtype)));
  with_dtype(dtype, [&]<DType kDType>() {
    for_each_chunk(values.size(), threads, [&](std::size_t begin, std::size_t end) {
      read_stored<kDType>(bytes.data() + begin * static_cast<std::size_t>(dtype_bytes(kDType)),
                          static_cast<std::int64_t>(end - begin), values.data() + begin);
    });
  });
  return values;
}

}  // namespace apo
