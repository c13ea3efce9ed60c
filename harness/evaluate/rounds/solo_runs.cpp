// harness/evaluate/rounds/solo_runs.cpp - times batches of one arm in fresh processes and reads the clock with each.
#include "harness/evaluate/rounds/solo_runs.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/nvtx.h"
#include "harness/core/stopwatch.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/rounds/round_source.h"
#include "harness/worker/parent/evidence.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr RoundStage kStage = RoundStage::solo_runs;
// A batch is one exchange of messages and, on a GPU, one reading of its clock.
constexpr double kBatchS = 0.05;
constexpr int kMostSamples = 100;  // of a batch: they come back in one message
constexpr int kFirstSamples = 4;   // of the first one, before it is known how long they take

// Returns the number of samples for a batch of kBatchS.
int samples_for(int samples, double seconds) {
  return static_cast<int>(std::clamp(samples * kBatchS / std::max(seconds, 1e-6), 1.0, double{kMostSamples}));
}

// The mean of the GPU's clock over the batches, by their time.
class GpuClock {
 public:
  void add(const std::optional<DeviceState>& state, double ns) {
    if (state && state->sm_mhz > 0) {
      sum_ += state->sm_mhz * ns;
      weight_ += ns;
      ++readings_;
    }
  }
  double mhz() const { return weight_ > 0 ? sum_ / weight_ : 0; }
  int readings() const { return readings_; }

 private:
  double sum_ = 0;
  double weight_ = 0;
  int readings_ = 0;
};

}  // namespace

SoloRunRunner::SoloRunRunner(const Runtime& runtime, const std::vector<TimedWorkload>& workloads, SoloRunPlan plan)
    : runtime_(runtime), workloads_(workloads), plan_(std::move(plan)), tensors_(runtime) {}

Result<Done> SoloRunRunner::warm_up(RoundSession& session, std::uint64_t order_seed, std::size_t which) const {
  std::vector<Block> blocks;
  const auto begin = Clock::now();
  while (!is_warm(blocks, plan_.preset, seconds_since(begin))) {
    auto block = session.block(BlockKind::warmup, order_seed, static_cast<int>(which), static_cast<int>(blocks.size()),
                               plan_.repetitions[which], -1);
    if (!block) {
      return block.failure();
    }
    blocks.push_back(*block);
  }
  return Done{};
}

// One unpredictable sample is inspected; its batch does not count for the length.
Result<SoloRun> SoloRunRunner::take_solo_run(RoundSession& session, int slot, std::size_t which,
                                             std::uint64_t look_seed) const {
  const StageRange range("solo run");
  Random random(look_seed);
  const double look_at_s = random.uniform() * plan_.solo_run_s;
  SoloRun solo_run{.workload = workloads_[which].name, .candidate = (slot == 0) == session.candidate_in_slot0()};
  GpuClock gpu;
  bool looked = false;
  int samples = kFirstSamples;
  for (double busy_s = 0; busy_s < plan_.solo_run_s || !looked;) {
    const bool look = !looked && busy_s >= look_at_s;
    const int verify = look ? static_cast<int>(random.below(static_cast<std::uint64_t>(samples))) : -1;
    const auto begin = Clock::now();
    const auto taken = session.batch(slot, samples, plan_.repetitions[which], verify);
    if (!taken) {
      return taken.failure();
    }
    const double ns = std::accumulate(taken->begin(), taken->end(), 0.0, [&](double sum, const RawSample& sample) {
      return sum + elapsed_ns(sample, session.target());
    });
    gpu.add(session.worker().state(), ns);
    solo_run.seconds += 1e-9 * ns;
    solo_run.calls += static_cast<double>(taken->size()) * plan_.repetitions[which];
    if (look) {
      looked = true;
    } else {
      const double seconds = seconds_since(begin);
      busy_s += seconds;
      samples = samples_for(samples, seconds);
    }
  }
  solo_run.mhz = gpu.mhz();
  solo_run.readings = gpu.readings();
  return solo_run;
}

Result<SoloRunBlockResult> SoloRunRunner::take_block(RoundSession& session, int block, std::size_t which,
                                                     const std::function<void(int solo_run)>& on_solo_run) const {
  const std::uint64_t seed = round_seed(plan_.coins.campaign_seed, plan_.coins.comparison, kStage, block);
  const std::uint64_t order_seed = draw_round(seed, static_cast<int>(workloads_.size())).order_seed;
  SoloRunBlockResult result;
  if (auto warm = warm_up(session, order_seed, which); !warm) {
    return warm.failure();
  }
  if (!session.worker().state()) {
    result.missing = "NVML does not tell this GPU's clock";
    return result;
  }
  const std::array<int, 4> slots = block_slots(order_seed, BlockKind::timed, static_cast<int>(which), block);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    on_solo_run(static_cast<int>(i));
    const std::uint64_t look_seed = derive_seed(seed, "segment", 4 * which + i);  // which no worker ever gets
    auto solo_run = take_solo_run(session, slots.at(i), which, look_seed);
    if (!solo_run) {
      return solo_run.failure();
    }
    if (solo_run->mhz <= 0) {
      return SoloRunBlockResult{.solo_runs = {}, .missing = "the clock could not be read during a solo run"};
    }
    result.solo_runs.push_back(*solo_run);
  }
  return result;
}

Result<SoloRunBlockResult> SoloRunRunner::run(int block, std::size_t which,
                                              const std::function<void(int solo_run)>& on_solo_run) {
  const StageRange range("solo runs of " + workloads_[which].name);
  if (runtime_.worker.target == Target::host) {
    return run_on_host(block, which, on_solo_run);
  }
  const SessionDraw draw = draw_session(plan_.coins, kStage, block, which, workloads_, plan_.rounds);
  RoundSession session(runtime_, workloads_[which], draw, plan_.cache, tensors_.take(workloads_[which], draw),
                       std::make_unique<Worker>(RoundSession::options(runtime_, draw.layout_seed)), true);
  if (auto ready = session.prepare(); !ready) {
    return by_arm(ready.failure(), draw.candidate_in_slot0);
  }
  auto result = take_block(session, block, which, on_solo_run);
  if (!result) {
    return by_arm(result.failure(), draw.candidate_in_slot0);
  }
  if (auto right = session.calls_of_other_arm(); !right) {
    return by_arm(right.failure(), draw.candidate_in_slot0);
  }
  return result;
}

// Repeats the inputs of a round: the runs only measure the clock of each arm, and no claim rests on them.
Result<SoloRun> SoloRunRunner::take_host_solo_run(HostSession& session, int slot, std::size_t which,
                                                  std::uint64_t look_seed, const ClockWatch& watch) const {
  const StageRange range("solo run");
  Random random(look_seed);
  const double look_at_s = random.uniform() * plan_.solo_run_s;
  SoloRun solo_run{
      .workload = workloads_[which].name, .candidate = (slot == 0) == session.candidate_in_slot0(), .readings = 1};
  watch.mhz();  // starts the interval
  bool looked = false;
  const auto begin = Clock::now();
  while (seconds_since(begin) < plan_.solo_run_s || !looked) {
    const bool look = seconds_since(begin) >= look_at_s;
    const auto times = session.window(slot, look ? HostSession::Look::drawn : HostSession::Look::nothing);
    if (!times) {
      return times.failure();
    }
    looked |= look;
    solo_run.seconds += 1e-9 * static_cast<double>(times->ns);
    solo_run.calls += plan_.windows.at(which).calls;
  }
  solo_run.mhz = watch.mhz().value_or(0);
  return solo_run;
}

Result<SoloRunBlockResult> SoloRunRunner::run_on_host(int block, std::size_t which,
                                                      const std::function<void(int solo_run)>& on_solo_run) {
  const SessionDraw draw = draw_session(plan_.coins, kStage, block, which, workloads_, plan_.rounds);
  const std::uint64_t seed = round_seed(plan_.coins.campaign_seed, plan_.coins.comparison, kStage, block);
  const std::uint64_t order_seed = draw_round(seed, static_cast<int>(workloads_.size())).order_seed;
  // Nothing else is looked at in these runs.
  HostSession session(runtime_, workloads_[which], draw, plan_.cache, plan_.windows.at(which), 1);
  SoloRunBlockResult result;
  if (auto ready = session.prepare(derive_seed(seed, "inputs", which)); !ready) {
    return by_arm(ready.failure(), draw.candidate_in_slot0);
  }
  const std::array<int, 4> slots = block_slots(order_seed, BlockKind::timed, static_cast<int>(which), block);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    on_solo_run(static_cast<int>(i));
    const ClockWatch watch = runtime_.watch_clock
                                 ? runtime_.watch_clock(session.pid(slots.at(i)))
                                 : ClockWatch{.mhz = {}, .missing = "nothing here reads the clock of a CPU"};
    if (!watch.mhz) {
      return SoloRunBlockResult{.solo_runs = {}, .missing = watch.missing};
    }
    const auto solo_run =
        take_host_solo_run(session, slots.at(i), which, derive_seed(seed, "segment", 4 * which + i), watch);
    if (!solo_run) {
      return by_arm(solo_run.failure(), draw.candidate_in_slot0);
    }
    if (solo_run->mhz <= 0) {
      return SoloRunBlockResult{.solo_runs = {}, .missing = "the clock could not be read during a solo run"};
    }
    result.solo_runs.push_back(*solo_run);
  }
  if (auto finished = session.finish(); !finished) {
    return by_arm(finished.failure(), draw.candidate_in_slot0);
  }
  return result;
}

SoloRunsResult run_solo_runs(const Runtime& runtime, const std::vector<TimedWorkload>& workloads,
                             const SoloRunPlan& plan, const std::string& what, Observer& observer, double& waited_s) {
  SoloRunRunner runner(runtime, workloads, plan);
  SoloRunsResult result;
  const int expected = 4 * kSoloRunBlocks * static_cast<int>(workloads.size());
  const auto report = [&](int solo_run) {
    const int done = static_cast<int>(result.solo_runs.size()) + solo_run;
    observer.progress(
        {.what = what, .done = done, .expected = expected, .seconds_left = plan.solo_run_s * (expected - done)});
  };
  for (int block = 0; block < kSoloRunBlocks; ++block) {
    for (std::size_t which = 0; which < workloads.size(); ++which) {
      const DeviceTurns::Turn turn = take_turn(runtime.turns, observer);
      waited_s += turn.waited_s();
      auto taken = runner.run(block, which, report);
      if (!taken) {
        taken = runner.run(block + kAgain, which, report);
      }
      if (!taken) {
        throw EnvironmentError("the certification could not run: " + taken.failure().evidence);
      }
      if (!taken->missing.empty()) {
        return {.clock = {.missing = taken->missing}, .solo_runs = {}};
      }
      result.solo_runs.insert(result.solo_runs.end(), taken->solo_runs.begin(), taken->solo_runs.end());
    }
  }
  result.clock = check_clock_coupling(result.solo_runs);
  result.clock.solo_run_s = plan.solo_run_s;
  return result;
}

}  // namespace apo
