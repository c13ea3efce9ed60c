// harness/evaluate/segments.cpp - fresh processes, stretches of samples, a clock reading with each.
#include "harness/evaluate/segments.h"

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
#include "harness/evaluate/judge_round.h"
#include "harness/worker/samples.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kStage = "segments";
// A stretch is one exchange of messages and, on a GPU, one reading of its clock.
constexpr double kStretchS = 0.05;
constexpr int kMostSamples = 100;  // of a stretch: they come back in one message
constexpr int kFirstSamples = 4;   // of the first one, before it is known how long they take

// So that the next stretch takes kStretchS.
int samples_for(int samples, double seconds) {
  return static_cast<int>(std::clamp(samples * kStretchS / std::max(seconds, 1e-6), 1.0, double{kMostSamples}));
}

// The mean of the GPU's clock over the stretches, by their time.
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

SegmentRunner::SegmentRunner(const Lab& lab, const std::vector<TimedWorkload>& workloads, SegmentPlan plan)
    : lab_(lab), workloads_(workloads), plan_(std::move(plan)), tensors_(lab) {}

Result<Done> SegmentRunner::warm_up(RoundSession& session, std::uint64_t order_seed, std::size_t which) const {
  std::vector<Block> blocks;
  const auto begin = Clock::now();
  while (!is_warm(blocks, plan_.profile, seconds_since(begin))) {
    auto block = session.block(BlockKind::warmup, order_seed, static_cast<int>(which), static_cast<int>(blocks.size()),
                               plan_.repetitions[which], -1);
    if (!block) {
      return block.failure();
    }
    blocks.push_back(*block);
  }
  return Done{};
}

// One sample, which nobody can foresee, is looked at; the stretch that it is in does not count for the length.
Result<Segment> SegmentRunner::take_segment(RoundSession& session, int slot, std::size_t which, std::uint64_t look_seed,
                                            const ClockWatch& watch) const {
  const StageRange range("segment");
  Random random(look_seed);
  const double look_at_s = random.uniform() * plan_.segment_s;
  Segment segment{.workload = workloads_[which].name, .candidate = (slot == 0) == session.candidate_in_slot0()};
  GpuClock gpu;
  if (watch.mhz) {
    watch.mhz();  // from here on
  }
  bool looked = false;
  int samples = kFirstSamples;
  for (double busy_s = 0; busy_s < plan_.segment_s || !looked;) {
    const bool look = !looked && busy_s >= look_at_s;
    const int verify = look ? static_cast<int>(random.below(static_cast<std::uint64_t>(samples))) : -1;
    const auto begin = Clock::now();
    const auto taken = session.stretch(slot, samples, plan_.repetitions[which], verify);
    if (!taken) {
      return taken.failure();
    }
    const double ns = std::accumulate(taken->begin(), taken->end(), 0.0, [&](double sum, const RawSample& sample) {
      return sum + elapsed_ns(sample, session.target());
    });
    gpu.add(session.worker().state(), ns);
    segment.seconds += 1e-9 * ns;
    segment.calls += static_cast<double>(taken->size()) * plan_.repetitions[which];
    if (look) {
      looked = true;
    } else {
      const double seconds = seconds_since(begin);
      busy_s += seconds;
      samples = samples_for(samples, seconds);
    }
  }
  segment.mhz = watch.mhz ? watch.mhz().value_or(0) : gpu.mhz();
  segment.readings = watch.mhz ? 1 : gpu.readings();
  return segment;
}

Result<SegmentBlockResult> SegmentRunner::take_block(RoundSession& session, int block, std::size_t which,
                                                     const std::function<void(int segment)>& on_segment) const {
  const std::uint64_t seed = round_seed(plan_.coins.campaign_seed, plan_.coins.comparison, kStage, block);
  const std::uint64_t order_seed = draw_round(seed, static_cast<int>(workloads_.size())).order_seed;
  SegmentBlockResult result;
  ClockWatch watch;
  if (session.target() == Target::host) {
    watch = lab_.watch_clock ? lab_.watch_clock(session.worker().pid())
                             : ClockWatch{.mhz = {}, .missing = "nothing here reads the clock of a CPU"};
    if (!watch.mhz) {
      result.missing = watch.missing;
      return result;
    }
  }
  if (auto warm = warm_up(session, order_seed, which); !warm) {
    return warm.failure();
  }
  if (session.target() == Target::cuda && !session.worker().state()) {
    result.missing = "NVML does not tell this GPU's clock";
    return result;
  }
  const std::array<int, 4> slots = block_slots(order_seed, BlockKind::timed, static_cast<int>(which), block);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    on_segment(static_cast<int>(i));
    const std::uint64_t look_seed = derive_seed(seed, "segment", 4 * which + i);  // which no worker ever gets
    auto segment = take_segment(session, slots.at(i), which, look_seed, watch);
    if (!segment) {
      return segment.failure();
    }
    if (segment->mhz <= 0) {
      return SegmentBlockResult{.segments = {}, .missing = "the clock could not be read during a segment"};
    }
    result.segments.push_back(*segment);
  }
  return result;
}

Result<SegmentBlockResult> SegmentRunner::run(int block, std::size_t which,
                                              const std::function<void(int segment)>& on_segment) {
  const StageRange range("segments of " + workloads_[which].name);
  const SessionDraw draw = draw_session(plan_.coins, kStage, block, which, workloads_, plan_.rounds);
  RoundSession session(lab_, workloads_[which], draw, plan_.cache, tensors_.take(workloads_[which], draw),
                       std::make_unique<Worker>(RoundSession::options(lab_, draw.layout_seed)), true);
  if (auto ready = session.prepare(); !ready) {
    return by_arm(ready.failure(), draw.candidate_in_slot0);
  }
  auto result = take_block(session, block, which, on_segment);
  if (!result) {
    return by_arm(result.failure(), draw.candidate_in_slot0);
  }
  session.worker().freeze();
  if (auto changed = session.worker().check_code()) {
    return by_arm(*changed, draw.candidate_in_slot0);
  }
  if (auto agree = clocks_agree(lab_, session.raw()); !agree) {
    return agree.failure();
  }
  return result;
}

SegmentsResult run_segments(const Lab& lab, const std::vector<TimedWorkload>& workloads, const SegmentPlan& plan,
                            const std::string& what, const EvaluateHooks& hooks, double& waited_s) {
  SegmentRunner runner(lab, workloads, plan);
  SegmentsResult result;
  const int expected = 4 * kSegmentBlocks * static_cast<int>(workloads.size());
  const auto report = [&](int segment) {
    const int done = static_cast<int>(result.segments.size()) + segment;
    tell_progress(hooks, what, done, expected, plan.segment_s * (expected - done));
  };
  for (int block = 0; block < kSegmentBlocks; ++block) {
    for (std::size_t which = 0; which < workloads.size(); ++which) {
      const DeviceTurns::Turn turn = lab.take_turn(hooks.on_note);
      waited_s += turn.waited_s();
      const auto taken = runner.run(block, which, report);
      if (!taken) {
        throw EnvironmentError("the certification could not run: " + taken.failure().evidence);
      }
      if (!taken->missing.empty()) {
        return {.clock = {.missing = taken->missing}, .segments = {}};
      }
      result.segments.insert(result.segments.end(), taken->segments.begin(), taken->segments.end());
    }
  }
  result.clock = check_clock_coupling(result.segments);
  result.clock.segment_s = plan.segment_s;
  return result;
}

}  // namespace apo
