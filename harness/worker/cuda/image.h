// harness/worker/cuda/image.h - one copy of the shared tensors in the GPU's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/worker/cuda/driver.h"
#include "harness/worker/protocol/result.h"
#include "harness/worker/protocol/shared_tensors.h"

namespace apo {

// Whole, guards included, in one allocation; or in pieces for a worker that is watched: every buffer in an allocation
// of its exact size, which is how a memory checker knows its bounds. In pieces, outputs and scratch are left
// uninitialised, and whole they are too: the device poisons them before each sample.
class CudaImage {
 public:
  enum class Form : std::uint8_t { whole, pieces };

  // `memory` is the shared tensors as the parent wrote it. What is there already stays when it fails; free() removes
  // it.
  std::optional<Failure> make(const cuda::Driver& driver, const SharedTensorsLayout& layout, const void* memory,
                              Form form);
  // The inputs of `set` once more, from the shared tensors as it is now.
  std::optional<Failure> copy_inputs(const cuda::Driver& driver, const SharedTensorsLayout& layout, const void* memory,
                                     int set) const;
  // Back into the shared tensors: the outputs, the inputs of `set`, and whole the guards.
  std::optional<Failure> copy_back(const cuda::Driver& driver, const SharedTensorsLayout& layout, void* memory,
                                   int set) const;
  void free(const cuda::Driver& driver);

  // Of layout.buffers[index]; 0 for an empty buffer in pieces.
  cuda::Pointer address(std::size_t index) const { return addresses_.at(index); }

 private:
  std::optional<Failure> make_pieces(const cuda::Driver& driver, const SharedTensorsLayout& layout,
                                     const std::byte* memory);
  std::optional<Failure> allocate(const cuda::Driver& driver, std::int64_t bytes, cuda::Pointer& allocation);

  Form form_ = Form::whole;
  std::vector<cuda::Pointer> allocations_;
  std::vector<cuda::Pointer> addresses_;
};

}  // namespace apo
