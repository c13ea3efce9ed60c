// harness/worker/cuda/timer.cpp - closes the start gate, queues calls, opens it, and reads the events.
#include "harness/worker/cuda/timer.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "harness/worker/protocol/clock.h"

namespace apo {
namespace {

// A stream takes about a thousand operations before a launch waits for room; the gate opens well before that.
constexpr std::size_t kQueued = 200;

}  // namespace

cuda::Result CudaTimer::set_up() {
  const cuda::Driver& driver = slots_.driver();
  void* gate = nullptr;
  cuda::Result error = driver.create_event(&begin_, 0);
  error = error != 0 ? error : driver.create_event(&end_, 0);
  error = error != 0 ? error : driver.allocate_host(&gate, sizeof(std::uint32_t), cuda::kHostAllocDeviceMap);
  error = error != 0 ? error : driver.host_device_pointer(&gate_on_device_, gate, 0);
  if (error == cuda::kSuccess) {
    gate_ = static_cast<std::uint32_t*>(gate);
    *gate_ = 0;
  }
  return error;
}

cuda::Result CudaTimer::wait_for_gate() const {
  return slots_.driver().wait_value(slots_.stream(), gate_on_device_, slots_.generation,
                                    cuda::kStreamWaitGreaterOrEqual);
}

// Copies of the tensors that the launches of a sample take in turn: together twice the L2 and one more. Where a call
// updates tensors in place, each launch has its own.
std::size_t CudaTimer::images_for(const RunRequest& request, int slot, int set) const {
  if (slots_.tensors().updates_in_place()) {
    if (request.repetitions > kMostImages) {
      throw std::logic_error("asked for more calls that update their tensors than there are copies of these");
    }
    return static_cast<std::size_t>(request.repetitions);
  }
  if (request.cache != CachePolicy::cold || request.repetitions == 1) {
    return 1;
  }
  const std::int64_t wanted =
      2 + 2 * facts_.l2_bytes / std::max<std::int64_t>(slots_.tensors().call_bytes(slot, set), 1);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(wanted, 1, std::min(request.repetitions, kMostImages)));
}

// The set of a launch: the last takes the one that was asked for; the ones before it take turns.
int CudaTimer::set_of(int launch, const RunRequest& request, std::size_t images, int set) const {
  return images > 1 ? (set + request.repetitions - 1 - launch) % slots_.tensors().input_sets() : set;
}

cuda::Result CudaTimer::prepare(const RunRequest& request, std::size_t images, int slot, int set) const {
  std::vector<int> sets;
  for (std::size_t image = 0; image < images; ++image) {
    sets.push_back(set_of(static_cast<int>(image), request, images, set));
  }
  return slots_.prepare(request.cache, sets, slot);
}

// Everything of one sample, in order. The gate may be open when it returns, and is when it fails. A graph of more
// operations than a queue takes at once may wait for room in it, too: then no sample of either arm is gated.
cuda::Result CudaTimer::queue_sample(const RunRequest& request, std::size_t images, int slot, int set,
                                     const CudaGraph* graph) {
  const cuda::Driver& driver = slots_.driver();
  ++slots_.generation;
  const std::size_t operations = std::max(slots_.at(0).operations.size(), slots_.at(1).operations.size()) *
                                 static_cast<std::size_t>(request.repetitions);
  if (slots_.watched() || (graph != nullptr && operations > kQueued)) {
    open_gate();
  }
  cuda::Result error = wait_for_gate();
  error = error != 0 ? error : prepare(request, images, slot, set);
  error = error != 0 ? error : driver.record(begin_, slots_.stream());
  if (error == 0) {
    error = graph != nullptr ? graph->launch(slots_.stream()) : queue_calls(request, images, slot, set);
  }
  return error != 0 ? error : driver.record(end_, slots_.stream());
}

cuda::Result CudaTimer::queue_calls(const RunRequest& request, std::size_t images, int slot, int set) {
  cuda::Result error = cuda::kSuccess;
  int queued = 0;
  for (int i = 0; i < request.repetitions && error == 0; ++i) {
    slots_.last_image = static_cast<std::size_t>(i) % images;
    std::vector<std::uint64_t> words =
        slots_.tensors().arguments(slots_.last_image, slot, set_of(i, request, images, set));
    error = queue_kernels(slots_.at(slot), words, queued);
  }
  return error;
}

cuda::Result CudaTimer::queue_kernels(const CudaModule& loaded, std::vector<std::uint64_t>& words, int& queued) {
  cuda::Result error = cuda::kSuccess;
  for (const CudaOperation& operation : loaded.operations) {
    error = error != 0 ? error : slots_.launch(operation, words);
    if (++queued == static_cast<int>(kQueued)) {
      open_gate();
    }
  }
  return error;
}

Result<RawSample> CudaTimer::sample(const RunRequest& request, std::size_t index) {
  const int slot = request.order.at(index);
  const int set = request.sets.empty() ? 0 : request.sets.at(index);
  const std::size_t images = images_for(request, slot, set);
  const bool refresh = request.refresh_set >= 0 && index + 1 == request.order.size();
  if (auto failure = refresh ? slots_.tensors().refresh(request.refresh_set, request.refresh_from) : std::nullopt) {
    return *failure;
  }
  if (auto failure = slots_.tensors().make_images(images)) {
    return *failure;
  }
  if (auto failure = slots_.check(slots_.reset_l2(slots_.at(slot).plan), "cannot reset the persisting L2", slot)) {
    return *failure;
  }
  CudaGraph graph(slots_.driver());
  const bool is_graph = slots_.at(slot).plan.graph && !slots_.watched();
  if (is_graph) {
    const cuda::Result made = graph.make(slots_.stream(), [&] { return queue_calls(request, images, slot, set); });
    if (auto failure = slots_.check(made, "cannot make a CUDA graph of its calls", slot)) {
      return *failure;
    }
  }
  RawSample sample{.slot = slot, .set = set};
  sample.begin_ns = raw_ns();
  const cuda::Result queued = queue_sample(request, images, slot, set, is_graph ? &graph : nullptr);
  open_gate();
  const cuda::Result finished = slots_.driver().synchronize(slots_.stream());
  sample.end_ns = raw_ns();
  if (auto failure = slots_.check(finished, "the kernel", slot)) {
    return *failure;
  }
  if (auto failure = slots_.check(queued, "the launch", slot)) {
    return *failure;
  }
  float milliseconds = 0;
  if (auto failure = slots_.check(slots_.driver().elapsed(&milliseconds, begin_, end_), "the events", slot)) {
    return *failure;
  }
  sample.device_ns = std::llround(static_cast<double>(milliseconds) * 1e6);
  status_.running_slot.store(-1);
  return sample;
}

// Ten copies a sample, back to back: what fits the L2 is then read from it.
Result<std::vector<std::int64_t>> CudaTimer::copy(const CopyRequest& request) {
  constexpr int kCopies = 10;
  const auto bytes = static_cast<std::size_t>(request.bytes);
  cuda::Pointer memory = 0;
  if (auto failure =
          slots_.check(slots_.driver().allocate(&memory, 2 * bytes), "cannot allocate two buffers to copy")) {
    return *failure;
  }
  std::vector<std::int64_t> ns;
  cuda::Result error = slots_.driver().fill(memory, 1, 2 * bytes, slots_.stream());
  for (int sample = 0; sample < request.samples && error == cuda::kSuccess; ++sample) {
    ++slots_.generation;
    error = wait_for_gate();
    error = error != 0 ? error : slots_.driver().record(begin_, slots_.stream());
    for (int i = 0; i < kCopies; ++i) {
      error = error != 0 ? error : slots_.driver().copy_on_device(memory + bytes, memory, bytes, slots_.stream());
    }
    error = error != 0 ? error : slots_.driver().record(end_, slots_.stream());
    open_gate();
    error = error != 0 ? error : slots_.driver().synchronize(slots_.stream());
    float milliseconds = 0;
    error = error != 0 ? error : slots_.driver().elapsed(&milliseconds, begin_, end_);
    ns.push_back(std::llround(static_cast<double>(milliseconds) * 1e6 / kCopies));
  }
  slots_.driver().free(memory);  // after an error the check below reports that one
  if (auto failure = slots_.check(error, "a copy within the GPU's memory")) {
    return *failure;
  }
  return ns;
}

}  // namespace apo
