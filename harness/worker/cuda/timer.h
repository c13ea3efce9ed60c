// harness/worker/cuda/timer.h - timed samples on a GPU: queued behind a gate, between two events.
//
// A sample is queued behind a gate, a word in host memory that the stream waits for: poison, eviction, event, launches,
// event. The gate opens once all of it is queued, so that the time between the events holds no launch gap of this
// process. What remains of the events themselves is 1.25 us (experiments/launch_floor.cu, on an H200): it is in both
// arms of a comparison and makes a gain look smaller, never larger. Short kernels are timed back to back, which shares
// it among many. As a graph, all launches of a sample are one operation, which was brought to the GPU before the gate
// closes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/core/records/device_facts.h"
#include "harness/worker/cuda/graph.h"
#include "harness/worker/cuda/tensors.h"

namespace apo {

class CudaTimer {
 public:
  // All arguments have to outlive it.
  CudaTimer(CudaSlots& slots, const DeviceFacts& facts, SharedStatus& status)
      : slots_(slots), facts_(facts), status_(status) {}
  CudaTimer(const CudaTimer&) = delete;
  CudaTimer& operator=(const CudaTimer&) = delete;

  // Creates the events and the gate.
  cuda::Result set_up();
  // Takes sample `index` of the request, of a loaded slot in its fresh state.
  Result<RawSample> sample(const RunRequest& request, std::size_t index);
  // Makes ten copies per sample, back to back: a footprint that fits the L2 is then read from it.
  Result<std::vector<std::int64_t>> copy(const CopyRequest& request);

 private:
  std::size_t images_for(const RunRequest& request, int slot, int set) const;
  int set_of(int launch, const RunRequest& request, std::size_t images, int set) const;
  cuda::Result prepare(const RunRequest& request, std::size_t images, int slot, int set) const;
  cuda::Result queue_sample(const RunRequest& request, std::size_t images, int slot, int set, const CudaGraph* graph);
  cuda::Result queue_calls(const RunRequest& request, std::size_t images, int slot, int set);
  cuda::Result queue_kernels(const CudaModule& loaded, std::vector<std::uint64_t>& words, int& queued);
  cuda::Result wait_for_gate() const;
  void open_gate() { __atomic_store_n(gate_, slots_.generation, __ATOMIC_SEQ_CST); }

  CudaSlots& slots_;
  const DeviceFacts& facts_;
  SharedStatus& status_;
  cuda::Event begin_ = nullptr;
  cuda::Event end_ = nullptr;
  std::uint32_t* gate_ = nullptr;
  cuda::Pointer gate_on_device_ = 0;
};

}  // namespace apo
