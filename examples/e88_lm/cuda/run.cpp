// cuda/run.cpp - training on the GPU, and its check against the host.
#include "cuda/run.h"

#include <cstdlib>

#include "check/operations.h"
#include "cuda/cuda.h"
#include "data/error.h"
#include "host/host.h"
#include "training/trainer.h"

namespace byte_lm {
namespace {

std::filesystem::path dispatch_folder() {
  const char* folder = std::getenv("APO_DISPATCH");
  if (folder == nullptr || *folder == '\0') {
    throw UserError("APO_DISPATCH is not set: it names the folder of the E88 kernels",
                    "'apo export --dispatch e88_forward --with-sources --output FOLDER' and the same for e88_backward "
                    "write it");
  }
  return folder;
}

Batch checked_batch() {
  std::string text(1, static_cast<char>(kSeparator));
  for (int i = 0; i < 200; ++i) {
    text += "the quick brown fox jumps over " + std::to_string(i * i) + " dogs, ";
  }
  return training_batch(text, kCheckedShape, 1, 1);
}

bool check_step(Cuda& cuda, bool fused) {
  Host<double> exact;
  Host<float, Bf16> honest;
  const Batch batch = checked_batch();
  const auto results = [&](auto& backend) { return step_results(backend, kCheckedSize, kCheckedShape, fused, batch); };
  std::fprintf(stdout, "one step, %s\n", fused ? "fused projection" : "separate projections");
  return print_comparisons(stdout, compare(results(exact), results(honest), results(cuda)));
}

}  // namespace

Summary train_on_cuda(const Settings& settings, const Corpus& corpus, std::chrono::steady_clock::time_point began,
                      const std::function<void(const StepResult&)>& report) {
  Cuda cuda(dispatch_folder(), settings.size, settings.shape, settings.graph);
  std::fprintf(stderr, "e88_lm: %s\n", cuda.kernels().c_str());
  return train(cuda, settings, corpus, began, report);
}

int prepare_on_cuda(const Settings& settings) {
  check(cudaSetDevice(0), "cudaSetDevice");  // a context, which loading a kernel needs
  const Recurrence extents = extents_of(settings.size, settings.shape);
  for (const char* family : {"e88_forward", "e88_backward"}) {
    std::fprintf(stderr, "e88_lm: %s\n", E88Kernel(dispatch_folder(), family, extents).variant().c_str());
  }
  return 0;
}

int check_on_cuda(const Settings&) {
  Cuda cuda(dispatch_folder(), kCheckedSize, kCheckedShape, false);
  Host<double> exact;
  Host<float, Bf16> honest;
  std::fprintf(stdout, "operations, %s\n", cuda.kernels().c_str());
  bool all =
      print_comparisons(stdout, compare(Operations(exact).all(), Operations(honest).all(), Operations(cuda).all()));
  all = check_step(cuda, false) && all;
  all = check_step(cuda, true) && all;
  return all ? 0 : 3;
}

}  // namespace byte_lm
