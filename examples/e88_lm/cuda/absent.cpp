// cuda/absent.cpp - stands in for cuda/run.cpp where there is no CUDA toolkit.
#include "cuda/run.h"
#include "data/error.h"

namespace byte_lm {
namespace {

[[noreturn]] void refuse() {
  throw UserError("this program was built without CUDA",
                  "configure it again where nvcc is found, or train a small model with --device host");
}

}  // namespace

Summary train_on_cuda(const Settings&, const Corpus&, std::chrono::steady_clock::time_point,
                      const std::function<void(const StepResult&)>&) {
  refuse();
}

int prepare_on_cuda(const Settings&) {
  refuse();
}

int check_on_cuda(const Settings&) {
  refuse();
}

}  // namespace byte_lm
