// model/parameters.h - where each parameter stands in the flat arrays of masters, gradients and moments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/size.h"

namespace byte_lm {

// A matrix [padded_rows, columns], of which the rows from `rows` on are zero.
struct Parameter {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t padded_rows = 0;
  std::int64_t offset = 0;

  std::int64_t count() const { return rows * columns; }
};

struct LayerParameters {
  // These three follow one another without a gap, so that they are one matrix [projection_width, dim] too.
  Parameter qkv, gate, alpha;
  Parameter output;
  Parameter norm, a_log, dt_bias;
};

struct Parameters {
  explicit Parameters(const ModelSize& size);

  Parameter embedding;
  std::vector<LayerParameters> layers;
  Parameter final_norm;
  std::int64_t matrices = 0;  // elements of the arrays up to here belong to matrices, and decay
  std::int64_t elements = 0;  // of the arrays

  std::vector<Parameter> all() const;
  std::int64_t count() const;  // without padding
};

// The masters of a new model; a function of the seed.
std::vector<float> initial_masters(const ModelSize& size, std::uint64_t seed);

}  // namespace byte_lm
