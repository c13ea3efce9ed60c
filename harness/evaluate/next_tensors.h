// harness/evaluate/next_tensors.h - the tensors of the next session are laid out while this one measures.
#pragma once

#include <array>
#include <future>
#include <memory>

#include "harness/evaluate/timed_workload.h"
#include "harness/worker/arena.h"

namespace apo {

// Two memory files take turns; the arena that was taken has to be gone before the next one is taken. Used by one
// thread. What start() was given has to live until the next take(), or as long as this.
class NextTensors {
 public:
  explicit NextTensors(const Lab& lab) : lab_(lab) {}
  NextTensors(const NextTensors&) = delete;
  NextTensors& operator=(const NextTensors&) = delete;

  // Begins to lay out an arena. Only where no code of a candidate shares the CPUs with this, and where memory for
  // another arena is no matter: else nothing happens.
  void start(const TimedWorkload& workload, const SessionDraw& draw);
  // The arena that start() began with the same workload and draw, else a new one: two sets of inputs from the pool,
  // poisoned outputs, scratch for either slot.
  std::unique_ptr<Arena> take(const TimedWorkload& workload, const SessionDraw& draw);

 private:
  std::unique_ptr<Arena> lay_out(const TimedWorkload& workload, const SessionDraw& draw,
                                 std::shared_ptr<ArenaMemory> memory, int threads) const;
  ArenaSpec spec_of(const TimedWorkload& workload, const SessionDraw& draw) const;

  const Lab& lab_;
  std::array<std::shared_ptr<ArenaMemory>, 2> memories_{std::make_shared<ArenaMemory>(),
                                                        std::make_shared<ArenaMemory>()};
  std::size_t turn_ = 0;  // whose memory the next arena is in
  const TimedWorkload* workload_ = nullptr;
  SessionDraw draw_;
  std::future<std::unique_ptr<Arena>> next_;
};

}  // namespace apo
