// harness/worker/cuda/kept_inputs.h - inputs that another process keeps in the memory of the same GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/worker/cuda/driver.h"
#include "harness/worker/cuda/own_kernel.h"
#include "harness/worker/protocol/protocol.h"
#include "harness/worker/protocol/result.h"

namespace apo {

// Copies `bytes` to memory of its own on the GPU, which lives as long as this process. Returns the handle under which
// another process opens it.
Result<std::string> keep_on_gpu(const cuda::Driver& driver, const void* from, std::size_t bytes);

// Kept memory, open as long as this lives. No kernel of a candidate may run meanwhile: it could reach it.
class OpenKept {
 public:
  OpenKept(const cuda::Driver& driver, const KeptInputs& kept);
  ~OpenKept();
  OpenKept(const OpenKept&) = delete;
  OpenKept& operator=(const OpenKept&) = delete;

  cuda::Result error() const { return error_; }
  // The address of the input with this index in the contract.
  cuda::Pointer input(std::size_t index) const;

 private:
  const cuda::Driver& driver_;
  const KeptInputs& kept_;
  cuda::Pointer memory_ = 0;
  cuda::Result error_;  // of opening it
};

// A kernel that compares memory with memory.
class GpuComparison {
 public:
  explicit GpuComparison(const cuda::Driver& driver) : driver_(driver) {}
  // Begins a comparison of several pairs.
  cuda::Result begin();
  // Queues one pair, each aligned to 16 bytes, on the default stream.
  cuda::Result compare(cuda::Pointer a, cuda::Pointer b, std::size_t bytes) const;
  // Waits for all pairs. `same` is whether each was equal.
  cuda::Result end(bool& same) const;

 private:
  const cuda::Driver& driver_;
  OwnKernel kernel_;
  cuda::Pointer differ_ = 0;  // one word, 0 as long as all are equal
};

}  // namespace apo
