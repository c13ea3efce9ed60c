// model/size.h - the sizes of the model and of one step.
#pragma once

#include <cstdint>

namespace byte_lm {

constexpr std::int64_t kVocabulary = 256;  // bytes
constexpr std::int64_t kSegment = 16;      // the E88 kernels keep the state before every so many time steps

struct ModelSize {
  std::int64_t dim = 1920;
  std::int64_t depth = 17;
  std::int64_t heads = 83;
  std::int64_t state = 32;  // rows and columns of a head's state: N = V

  constexpr std::int64_t key_width() const { return heads * state; }
  // 83 columns of bf16 are 166 bytes, and GEMMs want rows of 16-byte multiples: the rest is zero and stays so.
  constexpr std::int64_t alpha_width() const { return (heads + 15) / 16 * 16; }
  constexpr std::int64_t projection_width() const { return 4 * key_width() + alpha_width(); }
  bool operator==(const ModelSize&) const = default;
};

struct StepShape {
  std::int64_t batch = 16;
  std::int64_t length = 512;

  constexpr std::int64_t rows() const { return batch * length; }
  constexpr std::int64_t segments() const { return (length + kSegment - 1) / kSegment; }
};

}  // namespace byte_lm
