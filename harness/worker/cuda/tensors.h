// harness/worker/cuda/tensors.h - the tensors of the attached shared tensors on the GPU: one copy of it, or several
// that take turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/worker/cuda/driver.h"
#include "harness/worker/cuda/image.h"
#include "harness/worker/protocol/mapping.h"
#include "harness/worker/protocol/result.h"
#include "harness/worker/protocol/shared_tensors.h"

namespace apo {

// What it holds on the GPU goes with the process, or with the next shared tensors.
class CudaTensors {
 public:
  // `driver` has to outlive it.
  CudaTensors(const cuda::Driver& driver, CudaImage::Form form) : driver_(driver), form_(form) {}
  CudaTensors(const CudaTensors&) = delete;
  CudaTensors& operator=(const CudaTensors&) = delete;

  // In place of the shared tensors attached before: one copy of it, as the parent wrote it.
  std::optional<Failure> attach(const SharedTensorsLayout& layout, const FileDescriptor& file);
  bool attached() const { return !images_.empty(); }
  // Where the shared tensors lies in this process.
  std::uint64_t base() const { return reinterpret_cast<std::uint64_t>(mapping_.memory()); }
  // At least so many copies from here on, each with the inputs as the parent wrote them last.
  std::optional<Failure> make_images(std::size_t count);
  // The inputs of `set` as the parent has just written them: in the first copy now, in the others when they are needed.
  std::optional<Failure> refresh(int set);
  // The outputs, the inputs of `set` and the guards of a copy, back into the shared tensors.
  std::optional<Failure> read_back(std::size_t image, int set) const;

  // Of all tensors of a call.
  std::int64_t call_bytes(int slot, int set) const;
  int input_sets() const;
  // The argument struct of kernels/abi.h with device pointers: inputs, outputs, scratch, axes, each one 8-byte word.
  std::vector<std::uint64_t> arguments(std::size_t image, int slot, int set) const;
  // The size of the buffer that begins there; 0 when none does.
  std::int64_t bytes_at(std::uint64_t address) const;
  // Queues NaN for what a launch of the slot may write in the first `images` copies.
  cuda::Result poison(std::size_t images, int slot, cuda::Stream stream) const;

 private:
  void free_images();
  std::optional<Failure> wait_for_copies() const;
  static bool belongs_to(const BufferPlace& place, int slot, int set) {
    return place.role == BufferRole::output || place.owner == (place.role == BufferRole::input ? set : slot);
  }

  const cuda::Driver& driver_;
  CudaImage::Form form_;
  Mapping mapping_;
  SharedTensorsLayout layout_;
  std::vector<CudaImage> images_;
  std::set<int> outdated_sets_;  // in all copies but the first
  cuda::Pointer padding_ = 0;
};

}  // namespace apo
