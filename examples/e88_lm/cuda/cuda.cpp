// cuda/cuda.cpp - memory, copies and the recorded graph of the GPU backend.
#include "cuda/cuda.h"

#include <algorithm>

namespace byte_lm {

Cuda::Cuda(const std::filesystem::path& dispatch, const ModelSize& size, const StepShape& shape, bool records)
    : gemm_(stream_),
      forward_(dispatch, "e88_forward", extents_of(size, shape)),
      backward_(dispatch, "e88_backward", extents_of(size, shape)),
      partials_(allocate<float>(launch::kPartials * std::max(size.dim, 2 * size.heads))),
      sums_(allocate<double>(launch::kPartials)),
      zero_state_(allocate<Half>(shape.batch * size.key_width() * size.state)),
      state_(allocate<Half>(shape.batch * size.key_width() * size.state)),
      records_(records) {}

Cuda::~Cuda() {
  cudaStreamSynchronize(stream_);  // a destructor: whatever failed was reported by the next copy
  if (graph_ != nullptr) {
    cudaGraphExecDestroy(graph_);
  }
  for (void* buffer : memory_) {
    cudaFree(buffer);
  }
}

void* Cuda::allocate_bytes(std::size_t bytes) {
  void* buffer = nullptr;
  check(cudaMalloc(&buffer, bytes), ("memory, " + std::to_string(bytes) + " bytes").c_str());
  memory_.push_back(buffer);
  check(cudaMemsetAsync(buffer, 0, bytes, stream_), "cudaMemsetAsync");
  return buffer;
}

void Cuda::copy(const void* from, std::size_t bytes, void* to, cudaMemcpyKind kind) {
  check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "a copy");
  check(cudaStreamSynchronize(stream_), "the work before a copy");
}

void Cuda::begin_recording() {
  check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
}

void Cuda::end_recording() {
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&graph_, graph, 0), "cudaGraphInstantiate");
  check(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

}  // namespace byte_lm
