// cuda/run.h - what main() asks of the GPU; a program that was built without CUDA says so.
#pragma once

#include <chrono>
#include <functional>

#include "data/corpus.h"
#include "training/output.h"
#include "training/settings.h"

namespace byte_lm {

Summary train_on_cuda(const Settings& settings, const Corpus& corpus, std::chrono::steady_clock::time_point began,
                      const std::function<void(const StepResult&)>& report);

// Compiles the E88 kernels that a training would, so that the next one finds them.
int prepare_on_cuda(const Settings& settings);

// Prints a line a comparison; returns 0 when all hold, else 3.
int check_on_cuda(const Settings& settings);

}  // namespace byte_lm
