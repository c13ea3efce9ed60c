// harness/evaluate/rounds/next_tensors.h - lays the next session's tensors out while the current one measures.
#pragma once

#include <array>
#include <future>
#include <memory>

#include "harness/runtime/timed_workload.h"
#include "harness/worker/protocol/shared_tensors.h"

namespace apo {

// Two memory files take turns; shared tensors that were taken have to be gone before the next are taken. Used by one
// thread. Arguments of start() have to live until the next take() or as long as this.
class NextTensors {
 public:
  explicit NextTensors(const Runtime& runtime) : runtime_(runtime) {}
  NextTensors(const NextTensors&) = delete;
  NextTensors& operator=(const NextTensors&) = delete;

  // Begins to lay out shared tensors, unless a candidate's code shares the CPUs with this or memory is scarce.
  void start(const TimedWorkload& workload, const SessionDraw& draw);
  // Returns the shared tensors that start() began with the same workload and draw, else new ones: two sets of inputs
  // from the pool, poisoned outputs, scratch for either slot.
  std::unique_ptr<SharedTensors> take(const TimedWorkload& workload, const SessionDraw& draw);

 private:
  std::unique_ptr<SharedTensors> lay_out(const TimedWorkload& workload, const SessionDraw& draw,
                                         std::shared_ptr<MemoryFile> memory, int threads) const;
  SharedTensorsSpec spec_of(const TimedWorkload& workload, const SessionDraw& draw) const;

  const Runtime& runtime_;
  std::array<std::shared_ptr<MemoryFile>, 2> memories_{std::make_shared<MemoryFile>(), std::make_shared<MemoryFile>()};
  std::size_t turn_ = 0;  // whose memory the next shared tensors is in
  const TimedWorkload* workload_ = nullptr;
  SessionDraw draw_;
  std::future<std::unique_ptr<SharedTensors>> next_;
};

}  // namespace apo
