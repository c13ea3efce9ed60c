// variants/common/broadcast_parts.h - the binary backward in parts: each has sums of its own, which are added at the
// end.
#pragma once
#include "broadcast_rows.h"

namespace {

// Rows of this many outer entries share no element of B, so that parts which end there need no sums of their own.
inline int64_t independent_elements(const Broadcast& shape) {
  int64_t elements = shape.elements;
  for (int d = 0; d < shape.rank && shape.kept[d]; ++d) {
    elements /= std::max<int64_t>(shape.extent[d], 1);
  }
  return std::max<int64_t>(elements, 1);
}

template <class Sum>
void add_parts(const std::vector<std::vector<float>>& parts, int64_t count, Sum* dB, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static) if (count > 16384)
  for (int64_t block = 0; block < count; block += 4096) {
    for (int64_t j = block; j < std::min(block + 4096, count); ++j) {
      float sum = 0;
      for (const std::vector<float>& part : parts) {
        sum += part[static_cast<size_t>(j)];
      }
      put(sum, dB + j);
    }
  }
}

// On `threads` CPUs, none with less than `least` elements.
template <Stores kStores = Stores::cached, class Args>
void binary_backward_in_parts(const Args& a, int available, int64_t least) {
  const Broadcast shape = compressed(a);
  const int64_t unit = independent_elements(shape), units = shape.elements / unit;
  const auto threads = static_cast<int>(std::clamp<int64_t>(shape.elements / least, 1, available));
  // Enough independent parts: they write to dB. An f32 dB of one thread takes the sums too.
  const bool independent = units >= 4 * threads || threads == 1;
  const bool repeats = a.need_dB && shape.elements != shape.b_elements;
  using OfB = std::remove_reference_t<decltype(*a.dB)>;
  const bool direct = !repeats || (independent && std::is_same_v<OfB, float>);
  std::vector<std::vector<float>> parts(direct ? 0 : independent ? 1 : static_cast<size_t>(threads));
  for (std::vector<float>& part : parts) {
    part.assign(static_cast<size_t>(shape.b_elements), 0.0f);
  }
  if (repeats && direct) {
    std::fill_n(a.dB, shape.b_elements, OfB());
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t t = 0; t < threads; ++t) {
    const auto bound = [&](int64_t part) {
      return independent ? units * part / threads * unit : shape.elements * part / threads;
    };
    float* sums = direct ? reinterpret_cast<float*>(a.dB) : parts[independent ? 0 : static_cast<size_t>(t)].data();
    with_element(a,
                 [&](auto element) { binary_backward_part<kStores>(element, a, shape, bound(t), bound(t + 1), sums); });
  }
  if (!direct) {
    add_parts(parts, shape.b_elements, a.dB, threads);
  }
}

}  // namespace
