// data/batches.cpp - cuts batches out of a stream of documents.
#include "data/batches.h"

#include <numeric>
#include <string>

#include "data/corpus.h"
#include "model/random.h"

namespace byte_lm {
namespace {

std::int32_t byte_at(std::string_view stream, std::int64_t place) {
  const auto at = static_cast<std::size_t>(place);
  return at < stream.size() ? static_cast<unsigned char>(stream[at]) : kSeparator;
}

void add_piece(std::string_view stream, std::int64_t first, std::int64_t length, Batch& batch) {
  for (std::int64_t t = 0; t < length; ++t) {
    const std::int32_t target = byte_at(stream, first + t + 1);
    batch.tokens.push_back(byte_at(stream, first + t));
    batch.targets.push_back(target == kSeparator ? kNotScored : target);
    batch.scored += target == kSeparator ? 0 : 1;
  }
}

}  // namespace

Batch::ByToken Batch::by_token() const {
  ByToken sorted = {.order = std::vector<std::int32_t>(tokens.size()),
                    .starts = std::vector<std::int32_t>(kVocabulary + 1)};
  for (const std::int32_t token : tokens) {
    ++sorted.starts[static_cast<std::size_t>(token) + 1];
  }
  std::partial_sum(sorted.starts.begin(), sorted.starts.end(), sorted.starts.begin());
  std::vector<std::int32_t> next = sorted.starts;
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    const std::int32_t place = next[static_cast<std::size_t>(tokens[row])]++;
    sorted.order[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(row);
  }
  return sorted;
}

Batch training_batch(std::string_view stream, const StepShape& shape, std::uint64_t seed, std::int64_t step) {
  const Random random(seed, "batch " + std::to_string(step));
  Batch batch;
  for (std::int64_t row = 0; row < shape.batch; ++row) {
    const std::uint64_t place = random.bits(static_cast<std::uint64_t>(row)) % (stream.size() - 1);
    add_piece(stream, static_cast<std::int64_t>(place), shape.length, batch);
  }
  return batch;
}

Batch window_batch(std::string_view stream, const StepShape& shape, std::int64_t index) {
  Batch batch;
  for (std::int64_t row = 0; row < shape.batch; ++row) {
    add_piece(stream, (index * shape.batch + row) * shape.length, shape.length, batch);
  }
  return batch;
}

std::int64_t window_batches(std::string_view stream, const StepShape& shape) {
  return (static_cast<std::int64_t>(stream.size()) - 1 + shape.rows() - 1) / shape.rows();
}

}  // namespace byte_lm
