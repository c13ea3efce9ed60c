// training/upload.h - hands a batch to the backend.
#pragma once

#include "data/batches.h"
#include "model/model.h"

namespace byte_lm {

template <class Backend>
void upload(Backend& backend, const Batch& batch, const StepScalars& scalars, const StepInputs& to) {
  const auto [order, starts] = batch.by_token();
  const auto rows = static_cast<std::int64_t>(batch.tokens.size());
  backend.upload(batch.tokens.data(), rows, to.tokens);
  backend.upload(batch.targets.data(), rows, to.targets);
  backend.upload(order.data(), rows, to.order);
  backend.upload(starts.data(), kVocabulary + 1, to.starts);
  backend.upload(&scalars, 1, to.scalars);
}

}  // namespace byte_lm
