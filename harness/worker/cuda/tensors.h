// harness/worker/cuda/tensors.h - the two slots of a GPU, and their tensors there: one copy, or several that take
// turns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/core/records/device_facts.h"
#include "harness/core/system/files.h"
#include "harness/worker/cuda/driver.h"
#include "harness/worker/cuda/module.h"
#include "harness/worker/cuda/own_kernels.h"
#include "harness/worker/protocol/protocol.h"
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
  // Of its bytes that are shared: another one where a call's tensor repeats them.
  cuda::Pointer shared_address(std::size_t index) const { return shared_addresses_.at(index); }

 private:
  // Bytes of the shared tensors, and their address on the GPU.
  struct Stretch {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    cuda::Pointer at = 0;
    std::size_t bytes() const { return static_cast<std::size_t>(end - begin); }
  };
  template <class Wanted>
  std::vector<Stretch> buffers(const SharedTensorsLayout& layout, Wanted wanted) const;
  template <class Wanted>
  std::vector<Stretch> stretches(const SharedTensorsLayout& layout, Wanted wanted) const;
  static std::optional<Failure> copy_to_device(const cuda::Driver& driver, const std::vector<Stretch>& stretches,
                                               const void* memory);
  std::optional<Failure> allocate(const cuda::Driver& driver, std::int64_t bytes, cuda::Pointer& allocation);
  std::optional<Failure> repeat_inputs(const cuda::Driver& driver, const SharedTensorsLayout& layout) const;

  Form form_ = Form::whole;
  std::vector<cuda::Pointer> allocations_;
  std::vector<cuda::Pointer> addresses_;
  std::vector<cuda::Pointer> shared_addresses_;
};

// GPU memory is freed with the process, or when other shared tensors are attached.
class CudaTensors {
 public:
  // `driver` has to outlive it.
  CudaTensors(const cuda::Driver& driver, CudaImage::Form form) : driver_(driver), form_(form), comparison_(driver) {}
  CudaTensors(const CudaTensors&) = delete;
  CudaTensors& operator=(const CudaTensors&) = delete;

  // Replaces the shared tensors attached before, with one copy of them as the parent wrote them.
  std::optional<Failure> attach(const SharedTensorsLayout& layout, const FileDescriptor& file);
  bool attached() const { return !images_.empty(); }
  // Has the pages of the outputs at hand when they are read back first, on a thread that this starts: touching
  // hundreds of megabytes page by page takes longer than copying them.
  void expect_outputs();
  // The address of the shared tensors in this process.
  std::uint64_t base() const { return reinterpret_cast<std::uint64_t>(mapping_.memory()); }
  // Makes at least this many copies, each with the inputs as the parent wrote them last.
  std::optional<Failure> make_images(std::size_t count);
  // Updates the inputs of `set`, which the parent has just written, or which are kept there: in the first copy now, in
  // the others when they are needed.
  std::optional<Failure> refresh(int set, const KeptInputs& kept);
  // Copies the outputs, the inputs of `set` and the guards of a copy back into the shared tensors; without the inputs
  // where it returns true: they are kept, and unchanged.
  Result<bool> read_back(std::size_t image, int set);

  // Bytes of all tensors of a call.
  std::int64_t call_bytes(int slot, int set) const;
  int input_sets() const;
  // Builds the argument struct of kernels/abi.h with device pointers: inputs, outputs, scratch, axes, each one 8-byte
  // word.
  std::vector<std::uint64_t> arguments(std::size_t image, int slot, int set) const;
  // Where the tensors of a call on the first copy lie, scratch included, in the same order.
  std::vector<CudaRange> of_call(int slot, int set) const;
  // The size of the buffer that begins there; 0 when none does.
  std::int64_t bytes_at(std::uint64_t address) const;
  // Queues NaN for the memory that a launch of the slot may write in the first `images` copies.
  cuda::Result poison(std::size_t images, int slot, cuda::Stream stream) const;
  bool updates_in_place() const { return !layout_.before_call(0).empty(); }
  // Queues that what a call reads and writes holds its contents again: in each copy for a call on one of `sets`.
  cuda::Result fill_before_call(const std::vector<int>& sets, cuda::Stream stream) const;

 private:
  void free_images();
  std::optional<Failure> copy_inputs(const CudaImage& image, int set) const;
  Result<bool> is_unchanged(const CudaImage& image, int set);
  std::optional<Failure> gather_repeats(const CudaImage& image, int set);
  // Calls work(index of the buffer, index among the set's inputs) for each input of the set that has bytes.
  template <class Work>
  cuda::Result for_each_input(int set, Work work) const;
  std::optional<Failure> wait_for_copies() const;

  const cuda::Driver& driver_;
  CudaImage::Form form_;
  GpuComparison comparison_;
  Mapping mapping_;
  std::future<void> expected_outputs_;  // ends before the mapping does
  SharedTensorsLayout layout_;
  std::vector<CudaImage> images_;
  std::set<int> outdated_sets_;  // in all copies but the first
  cuda::Pointer padding_ = 0;
};

class CudaSlots {
 public:
  // Both arguments have to outlive it. `watched`: see make_cuda_device().
  CudaSlots(const cuda::Driver& driver, const DeviceFacts& facts, bool watched);
  CudaSlots(const CudaSlots&) = delete;
  CudaSlots& operator=(const CudaSlots&) = delete;

  cuda::Result create_stream() { return driver_.create_stream(&stream_, cuda::kStreamNonBlocking); }
  // A watched device evicts nothing.
  cuda::Result set_up_eviction() {
    return watched_ ? cuda::kSuccess : eviction_.set_up(driver_, facts_.l2_bytes, facts_.sms);
  }

  CudaModule& at(int slot) { return modules_.at(static_cast<std::size_t>(slot)); }
  const CudaModule& at(int slot) const { return modules_.at(static_cast<std::size_t>(slot)); }
  CudaTensors& tensors() { return tensors_; }
  const CudaTensors& tensors() const { return tensors_; }
  const cuda::Driver& driver() const { return driver_; }
  cuda::Stream stream() const { return stream_; }
  bool watched() const { return watched_; }
  std::optional<Failure> check(cuda::Result error, const std::string& what, int slot = -1) const {
    return cuda_failure(driver_, error, what, slot);
  }

  // Poisons the memory that a launch may write, so that no result of an earlier sample is left, or fills it with what
  // it holds before a call, and empties the L2. `sets`: of the launch on each copy of the tensors.
  cuda::Result prepare(CachePolicy cache, const std::vector<int>& sets, int slot) const;
  // Resets lines that another sample left persisting in the L2.
  cuda::Result reset_l2(const LaunchPlan& plan);
  // Launches with the tensor that the kernel names persisting in the L2, as far as the device has room for it.
  cuda::Result launch(const CudaOperation& operation, std::vector<std::uint64_t>& words) const;

  std::uint32_t generation = 0;  // of the samples so far: what the gate waits for
  std::size_t last_image = 0;    // that the last launch worked on

 private:
  const cuda::Driver& driver_;
  const DeviceFacts& facts_;
  bool watched_;
  cuda::Stream stream_ = nullptr;
  L2Eviction eviction_;
  std::array<CudaModule, 2> modules_;
  CudaTensors tensors_;
  std::int64_t persisting_limit_ = -1;  // not set yet
};

}  // namespace apo
