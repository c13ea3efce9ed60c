// harness/evaluate/rounds/next_tensors.cpp - lays the next tensors out in the second of two memory files.
#include "harness/evaluate/rounds/next_tensors.h"

#include <algorithm>
#include <utility>

#include "kernels/random.h"

namespace apo {

SharedTensorsSpec NextTensors::spec_of(const TimedWorkload& workload, const SessionDraw& draw) const {
  const auto scratch = [&](int slot) {
    const bool candidate = (slot == 0) == draw.candidate_in_slot0;
    return runtime_.scratch((candidate ? workload.candidate : workload.incumbent).configuration, workload.axes);
  };
  SharedTensorsSpec spec = shared_tensors_spec(*runtime_.family, workload.axes, kSetsInRound, scratch(0), scratch(1),
                                               derive_seed(draw.layout_seed, "tensors"), runtime_.worker.target);
  spec.foreign_code = workload.has_host_code();
  return spec;
}

std::unique_ptr<SharedTensors> NextTensors::lay_out(const TimedWorkload& workload, const SessionDraw& draw,
                                                    std::shared_ptr<MemoryFile> memory, int threads) const {
  auto shared_tensors = std::make_unique<SharedTensors>(spec_of(workload, draw), std::move(memory));
  for (int set = 0; set < kSetsInRound; ++set) {
    const CheckedPointer& drawn = workload.pool[draw.sets.at(static_cast<std::size_t>(set))];
    bring_inputs(runtime_, *shared_tensors, set, *drawn, threads);
  }
  return shared_tensors;
}

void NextTensors::start(const TimedWorkload& workload, const SessionDraw& draw) {
  constexpr std::int64_t kMostBytes = std::int64_t{2} << 30;  // of the tensors of one call
  if (runtime_.worker.target != Target::cuda || workload.has_host_code() ||
      tensor_bytes(*runtime_.family, workload.axes) > kMostBytes) {
    return;
  }
  if (next_.valid()) {
    next_.get();
  }
  turn_ = 1 - turn_;
  workload_ = &workload;
  draw_ = draw;
  // Half of the CPUs, for the looks at outputs meanwhile.
  next_ = std::async(std::launch::async, [this, &workload, draw, memory = memories_.at(turn_)] {
    return lay_out(workload, draw, memory, std::max(1, runtime_.threads / 2));
  });
}

std::unique_ptr<SharedTensors> NextTensors::take(const TimedWorkload& workload, const SessionDraw& draw) {
  std::unique_ptr<SharedTensors> ahead = next_.valid() ? next_.get() : nullptr;
  if (ahead != nullptr && workload_ == &workload && draw_ == draw) {
    return ahead;
  }
  ahead.reset();  // before another one is in its memory
  return lay_out(workload, draw, memories_.at(turn_), runtime_.threads);
}

}  // namespace apo
