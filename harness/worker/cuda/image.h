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

// Copies the tensors to the GPU: whole, guards included, in one allocation; or in pieces for a watched worker, with
// every buffer in an allocation of its exact size, from which a memory checker knows its bounds. Outputs and scratch
// are left uninitialised in both cases: the device poisons a whole image before each sample.
class CudaImage {
 public:
  enum class Form : std::uint8_t { whole, pieces };

  // `memory` holds the shared tensors as the parent wrote them, without the inputs that are kept elsewhere, for which
  // there is only room then. A failure keeps the allocations made so far; free() removes them.
  std::optional<Failure> make(const cuda::Driver& driver, const SharedTensorsLayout& layout, const void* memory,
                              Form form);
  // Copies the inputs of `set` again from the current shared tensors.
  std::optional<Failure> copy_inputs(const cuda::Driver& driver, const SharedTensorsLayout& layout, const void* memory,
                                     int set) const;
  // Copies the outputs, in a whole image the guards, and the inputs of `set` where asked for, back into the shared
  // tensors.
  std::optional<Failure> copy_back(const cuda::Driver& driver, const SharedTensorsLayout& layout, void* memory, int set,
                                   bool with_inputs) const;
  void free(const cuda::Driver& driver);

  // The address of layout.buffers[index]; 0 for an empty buffer in pieces.
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
