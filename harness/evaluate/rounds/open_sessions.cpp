// harness/evaluate/rounds/open_sessions.cpp - opens a round's session and prepares worker and tensors of the next one.
#include "harness/evaluate/rounds/open_sessions.h"

#include <algorithm>
#include <utility>

#include "harness/core/nvtx.h"
#include "harness/evaluate/judge/round.h"
#include "kernels/random.h"

namespace apo {

SharedTensorsSpec NextTensors::spec_of(const TimedWorkload& workload, const SessionDraw& draw) const {
  const auto scratch = [&](int slot) {
    const bool candidate = (slot == 0) == draw.candidate_in_slot0;
    return runtime_.scratch((candidate ? workload.candidate : workload.incumbent).configuration, workload.axes);
  };
  SharedTensorsSpec spec = shared_tensors_spec(*runtime_.family, workload.axes, kSetsInRound, scratch(0), scratch(1),
                                               derive_seed(draw.layout_seed, "tensors"), runtime_.worker.target);
  spec.foreign_code = false;
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
  if (tensor_bytes(*runtime_.family, workload.axes) > kMostBytes) {
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

OpenSessions::OpenSessions(const Runtime& runtime, const std::vector<TimedWorkload>& workloads, RoundCoins coins,
                           CachePolicy cache, const RoundOptions& options)
    : runtime_(runtime),
      workloads_(workloads),
      coins_(std::move(coins)),
      cache_(cache),
      options_(options),
      tensors_(runtime_),
      sessions_(workloads_.size()) {
  for (const TimedWorkload& timed : workloads_) {
    if (runtime_.worker.target == Target::cuda) {
      keep_inputs(timed);
    }
  }
}

void OpenSessions::keep_inputs(const TimedWorkload& timed) const {
  const StageRange range("keep inputs on the GPU");
  std::vector<CheckedPointer> sets;
  for (std::size_t i = 0; i < timed.pool.size(); ++i) {
    sets.push_back(timed.pool[i]);
  }
  runtime_.device_inputs->keep(*runtime_.family, runtime_.worker, sets, runtime_.threads);
}

void OpenSessions::begin_round(RoundStage stage) {
  if (stage != stage_) {
    stage_ = stage;
    age_ = 0;
    for (std::unique_ptr<RoundSession>& session : sessions_) {
      session.reset();
    }
  }
}

void OpenSessions::end_round() {
  age_ = (age_ + 1) % options_.rounds_per_process;
}

OpenSessions::Opening OpenSessions::opening(const Round& round, std::size_t which) const {
  const RoundDraw draw = draw_round(round.seed, static_cast<int>(workloads_.size()));
  const auto at = std::ranges::find(draw.workload_order, static_cast<int>(which)) - draw.workload_order.begin();
  return {.stage = round.stage, .index = round.index, .position = static_cast<std::size_t>(at)};
}

OpenSessions::Opening OpenSessions::after(const Opening& opening, int rounds) const {
  Opening next = opening;
  if (++next.position == workloads_.size()) {
    next.position = 0;
    next.index += rounds;
  }
  return next;
}

std::size_t OpenSessions::workload_of(const Opening& opening) const {
  const std::uint64_t seed = round_seed(coins_.campaign_seed, coins_.comparison, opening.stage, opening.index);
  return static_cast<std::size_t>(
      draw_round(seed, static_cast<int>(workloads_.size())).workload_order.at(opening.position));
}

SessionDraw OpenSessions::draw_session(const Opening& opening) const {
  return apo::draw_session(coins_, opening.stage, opening.index, workload_of(opening), workloads_, options_);
}

Result<RoundSession*> OpenSessions::open(std::size_t which, Round& round) {
  const TimedWorkload& timed = workloads_[which];
  std::unique_ptr<RoundSession>& kept = sessions_[which];
  if (kept && age_ != 0 && age_ % options_.rounds_per_layout != 0) {
    kept->begin_round_again();
    round.candidate_in_slot0 = kept->candidate_in_slot0();
    return kept.get();
  }
  const Opening opened = opening(round, which);
  const SessionDraw draw = draw_session(opened);
  std::unique_ptr<Worker> worker = kept && age_ != 0 ? kept->take_worker() : nullptr;
  const bool is_new = worker == nullptr;
  if (is_new) {  // it starts while the shared tensors is filled and the code is linked
    worker = workers_.take(RoundSession::options(runtime_, draw.layout_seed));
  }
  kept.reset();  // before the next: they share the shared tensors' memory
  if (is_new) {
    start_workers_ahead(opened);
  }
  {
    const StageRange range("lay out the tensors");
    kept = std::make_unique<RoundSession>(runtime_, timed, draw, cache_, tensors_.take(timed, draw), std::move(worker),
                                          is_new);
  }
  if (auto ready = kept->prepare(); !ready) {
    return ready.failure();
  }
  const Opening next = after(opened, options_.rounds_per_layout);
  tensors_.start(workloads_[workload_of(next)], draw_session(next));
  return kept.get();
}

// On a GPU, where a start takes a quarter of a second, as long as several short rounds.
void OpenSessions::start_workers_ahead(const Opening& opened) {
  constexpr int kAhead = 2;
  Opening next = opened;
  for (int i = 0; i < kAhead; ++i) {
    next = after(next, options_.rounds_per_process);
    workers_.start(RoundSession::options(runtime_, draw_session(next).layout_seed));
  }
}

void OpenSessions::close(std::size_t which) {
  const StageRange range("end of the worker");
  workers_.end(sessions_[which]->take_worker());
  sessions_[which].reset();
}

}  // namespace apo
