// harness/worker/cuda/own_kernels.h - kernels of this program's own: the L2's eviction, comparisons with kept inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/worker/cuda/driver.h"
#include "harness/worker/protocol/protocol.h"
#include "harness/worker/protocol/result.h"

namespace apo {

// One entry of a PTX text, launched in blocks of 256 threads without shared memory.
class OwnKernel {
 public:
  bool is_loaded() const { return function_ != nullptr; }
  // Loads it into the current context, for the rest of the process.
  cuda::Result load(const cuda::Driver& driver, const char* code, const char* name);
  // `parameters` has the address of each.
  cuda::Result queue(const cuda::Driver& driver, unsigned blocks, void** parameters, cuda::Stream stream) const;

 private:
  cuda::Function function_ = nullptr;
};

// The kernel's name, for profilers that meet it.
inline constexpr const char* kEvictionKernel = "apo_evict_l2";

// Empties the L2 before a cold sample by reading a buffer of more than twice its size. A buffer that was written would
// leave the L2 full of lines that the sample's own traffic has to write back.
class L2Eviction {
 public:
  // Allocates the buffer and loads the kernel; of the current context, for the rest of the process.
  cuda::Result set_up(const cuda::Driver& driver, std::int64_t l2_bytes, std::int64_t multiprocessors);
  // Queues the eviction.
  cuda::Result queue(const cuda::Driver& driver, cuda::Stream stream) const;

 private:
  cuda::Pointer buffer_ = 0;
  std::uint64_t bytes_ = 0;
  unsigned blocks_ = 0;
  OwnKernel kernel_;
};

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
  // Queues one pair on the default stream: fast where both are aligned to 16 bytes.
  cuda::Result compare(cuda::Pointer a, cuda::Pointer b, std::size_t bytes) const;
  // Waits for all pairs. `same` is whether each was equal.
  cuda::Result end(bool& same) const;

 private:
  const cuda::Driver& driver_;
  OwnKernel kernel_;
  cuda::Pointer differ_ = 0;  // one word, 0 as long as all are equal
};

}  // namespace apo
