// harness/evaluate/round_runner.cpp - loads both arms in coin order, warms up, takes blocks, verifies calls at random.
#include "harness/evaluate/round_runner.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "harness/core/guards.h"
#include "harness/core/machine.h"
#include "harness/core/nvtx.h"
#include "harness/core/text.h"
#include "harness/evaluate/clocks.h"
#include "harness/evaluate/judge_claim.h"
#include "harness/evaluate/judge_round.h"
#include "harness/evaluate/signed_rank.h"
#include "harness/worker/samples.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kTimerResolutionNs = 50;  // two clock_gettime calls
// cuEventElapsedTime counts in half microseconds, but an event pair takes 4 to 5 us of its own. A sample of 200 times
// this is so long that they are about a hundredth of it.
constexpr double kEventResolutionNs = 2000;
// On cuda a shorter call is timed back to back on rotating copies of its tensors, which stay cold without a flush.
constexpr double kShortCallNs = 50e3;
constexpr int kSetsInRound = 2;
constexpr int kSecondClockAttempts = 2;
constexpr int kAloneWarmup = 3;  // blocks of the incumbent without the candidate
constexpr int kAloneBlocks = 6;
// Keys of Round::environment: whether the second clock was there, and each arm's time of one call by it. With several
// workloads, "_" and the workload's name follow.
constexpr const char* kSecondClock = "second_clock";
constexpr const char* kActivityIncumbent = "activity_ns_incumbent";
constexpr const char* kActivityCandidate = "activity_ns_candidate";

// Which timed calls of a round the parent looks at: one of each slot, from a seed that no worker ever gets.
struct Verification {
  int block = 0;
  int sample = 0;
};

std::array<Verification, 2> draw_verifications(std::uint64_t seed, int blocks) {
  Random random(derive_seed(seed, "verify"));
  const auto count = static_cast<std::uint64_t>(blocks);
  const std::uint64_t first = random.below(count);
  const std::uint64_t second = count > 1 ? (first + 1 + random.below(count - 1)) % count : first;
  // The outer two samples of a block are of one slot, the inner two of the other.
  return {{{.block = static_cast<int>(first), .sample = random.coin() ? 0 : 3},
           {.block = static_cast<int>(second), .sample = random.coin() ? 1 : 2}}};
}

// Of a GPU: what could make the round void.
void note_clock(Round& round, const char* key, const std::optional<DeviceState>& state) {
  if (!state) {
    return;
  }
  round.environment[key] = state->sm_mhz;
  const auto bits = static_cast<std::uint64_t>(round.environment[kThrottleBits]) | state->throttle_bits;
  round.environment[kThrottleBits] = static_cast<double>(bits);
  round.environment["celsius"] = state->celsius;
  round.environment["watts"] = state->watts;
}

// Each arm has two samples in a block: their mean is their median.
void note_activity(Round& round, const std::vector<RawSample>& samples, int repetitions, const std::string& suffix) {
  std::array<double, 2> total{};
  std::array<double, 2> count{};
  for (const RawSample& sample : samples) {
    total.at(static_cast<std::size_t>(sample.slot)) += static_cast<double>(sample.activity_ns) / repetitions;
    count.at(static_cast<std::size_t>(sample.slot)) += 1;
  }
  const std::size_t candidate = round.candidate_in_slot0 ? 0 : 1;
  round.environment[kActivityCandidate + suffix] = total.at(candidate) / count.at(candidate);
  round.environment[kActivityIncumbent + suffix] = total.at(1 - candidate) / count.at(1 - candidate);
  round.environment.emplace(kSecondClock, 1);  // a 0 of another workload stays
}

}  // namespace

InputPool make_pool(const Lab& lab, const Workload& workload, std::uint64_t seed) {
  // Two for the timed calls, the others for calls on fresh inputs: more where they cost little, since the noise of a
  // single short call is large.
  constexpr std::int64_t kFewest = 4;
  constexpr std::int64_t kMost = 10;
  constexpr std::int64_t kCheap = std::int64_t{8} << 20;  // bytes of all of them
  std::int64_t bytes = 1;
  for (const TensorSpec& tensor : lab.family->tensors) {
    bytes += dtype_bytes(tensor.dtype) * element_count(tensor, workload.axes);
  }
  const auto sets = static_cast<std::uint64_t>(std::clamp(kCheap / bytes, kFewest, kMost));
  InputPool pool;
  for (std::uint64_t i = 0; i < sets; ++i) {
    pool.push_back(lab.inputs->get(*lab.family, workload, derive_seed(seed, workload.name, i),
                                   lab.family->regimes.front(), lab.threads));
  }
  return pool;
}

// One worker with both slots loaded and an arena attached, for one workload of one round.
struct RoundRunner::Session {
  Session(const Lab& lab, const TimedWorkload& workload, const std::shared_ptr<ArenaMemory>& memory,
          bool candidate_in_slot0, std::uint64_t order_seed, const std::array<std::size_t, 2>& sets, CachePolicy policy)
      : family(*lab.family),
        timed(workload),
        drawn(sets),
        cache(policy),
        target(lab.worker.target),
        worker(options(lab, order_seed)),
        arena(spec_of(lab, candidate_in_slot0, order_seed), memory),
        arms{candidate_in_slot0 ? &timed.candidate : &timed.incumbent,
             candidate_in_slot0 ? &timed.incumbent : &timed.candidate} {
    for (int set = 0; set < kSetsInRound; ++set) {
      share_inputs(arena, set, family, timed.pool[drawn[static_cast<std::size_t>(set)]]->inputs);
    }
  }

  static WorkerOptions options(const Lab& lab, std::uint64_t order_seed) {
    WorkerOptions options = lab.worker;
    options.layout_seed = derive_seed(order_seed, "environment");
    options.await_start = false;  // it starts while the arena is filled
    return options;
  }

  ArenaSpec spec_of(const Lab& lab, bool candidate_in_slot0, std::uint64_t order_seed) const {
    ArenaSpec spec = arena_spec(family, timed.axes, kSetsInRound, scratch(lab, 0, candidate_in_slot0),
                                scratch(lab, 1, candidate_in_slot0), derive_seed(order_seed, "arena"), target);
    spec.foreign_code = has_host_code();
    return spec;
  }

  // A device variant has no code in the worker's process.
  bool has_host_code() const {
    return timed.candidate.build.plan.launches.empty() || timed.incumbent.build.plan.launches.empty();
  }

  std::vector<std::int64_t> scratch(const Lab& lab, int slot, bool candidate_in_slot0) const {
    const bool candidate = (slot == 0) == candidate_in_slot0;
    return lab.scratch((candidate ? timed.candidate : timed.incumbent).configuration, timed.axes);
  }

  Result<Done> prepare() {
    worker.await_start();
    for (int slot = 0; slot < 2; ++slot) {
      if (auto loaded = load_build(worker, slot, arms[static_cast<std::size_t>(slot)]->build); !loaded) {
        Failure failure = loaded.failure();
        failure.slot = slot;
        return failure;
      }
    }
    return worker.attach(arena);
  }

  RunRequest block_request(BlockKind kind, std::uint64_t order_seed, int which, int index, int repetitions) const {
    const std::array<int, 4> slots = block_slots(order_seed, kind, which, index);
    RunRequest request;
    request.order.assign(slots.begin(), slots.end());
    // Each slot sees both input sets in each block; which one first is drawn apart from the slots.
    const int first = Random(derive_seed(order_seed, "sets", static_cast<std::uint64_t>(index))).coin() ? 1 : 0;
    request.sets = {first, first, 1 - first, 1 - first};
    request.repetitions = repetitions;
    request.cache = cache;
    return request;
  }

  // One block; verify_sample < 0: nothing is looked at.
  Result<Block> block(BlockKind kind, std::uint64_t order_seed, int which, int index, int repetitions,
                      int verify_sample) {
    const StageRange range(kind == BlockKind::warmup ? "warm-up" : verify_sample < 0 ? "timed" : "timed and verified");
    RunRequest request = block_request(kind, order_seed, which, index, repetitions);
    request.verify_after = guard_is_on(Guard::timed_check) ? verify_sample : -1;
    request.pause_each = has_host_code();
    auto samples = worker.run(request, inspection(request, "timed call"));
    if (!samples) {
      return samples.failure();
    }
    Block block;
    for (const RawSample& sample : *samples) {
      if (auto failure = keep(sample, repetitions)) {
        return *failure;
      }
      block.samples.push_back({.slot = sample.slot, .ns = static_cast<std::int64_t>(elapsed_ns(sample, target))});
    }
    if (kind == BlockKind::timed && target == Target::host) {
      for (std::size_t i = 0; i < worker.waited_ns().size(); ++i) {
        const RawSample& sample = samples->at(i);
        const auto seen = static_cast<double>(worker.waited_ns()[i] - (sample.end_ns - sample.begin_ns));
        unaccounted.push_back(seen);
      }
    }
    return block;
  }

  // Looks at the outputs of the sample that the request verifies.
  Inspect inspection(const RunRequest& request, const std::string& what) {
    return [this, &request, what](int sample) -> std::optional<Failure> {
      const auto at = static_cast<std::size_t>(sample);
      const int set = request.sets[at];
      auto failure =
          inspect_call(arena, family, timed.axes, timed.pool[drawn[static_cast<std::size_t>(set)]]->expected, set);
      if (failure) {
        failure->evidence = what + ": " + failure->evidence;
        failure->slot = request.order[at];
      }
      return failure;
    };
  }

  // For the comparison of the clocks; a time below the floor is none.
  std::optional<Failure> keep(const RawSample& sample, int repetitions) {
    raw.push_back(sample);
    const double ns = elapsed_ns(sample, target);
    if (ns < timed.floor_ns * repetitions && guard_is_on(Guard::floor)) {
      return Failure{.outcome = Outcome::unstable_clock,
                     .evidence = "a call of " + format_ns(ns / repetitions) + " is below the physical floor of " +
                                 format_ns(timed.floor_ns),
                     .slot = sample.slot};
    }
    return std::nullopt;
  }

  // One call of each slot on inputs that nothing in the worker has seen before: they are written while it stands still,
  // right before. The call before it, on the other set, warms up what any call warms up. Nanoseconds of each slot.
  Result<std::array<double, 2>> fresh_calls(std::size_t inputs, int set, int first_slot) {
    const StageRange range("fresh inputs");
    std::array<double, 2> ns{};
    drawn.at(static_cast<std::size_t>(set)) = inputs;
    for (const int slot : {first_slot, 1 - first_slot}) {
      worker.freeze();
      share_inputs(arena, set, family, timed.pool[inputs]->inputs);
      const RunRequest request{.order = {slot, slot},
                               .sets = {1 - set, set},
                               .repetitions = 1,
                               .cache = cache,
                               .verify_after = 1,
                               .refresh = true};
      const auto samples = worker.run(request, inspection(request, "call on inputs made right before it"));
      if (!samples) {
        return samples.failure();
      }
      for (const RawSample& sample : *samples) {
        if (auto failure = keep(sample, 1)) {
          return *failure;
        }
      }
      ns.at(static_cast<std::size_t>(slot)) = elapsed_ns(samples->back(), target);
    }
    return ns;
  }

  const Family& family;
  const TimedWorkload& timed;
  std::array<std::size_t, 2> drawn;
  CachePolicy cache;
  Target target;
  Worker worker;
  Arena arena;
  std::array<const TimedArm*, 2> arms;
  std::array<std::vector<double>, 2> fresh;  // ns of each slot's calls on fresh inputs
  std::vector<double> unaccounted;           // ns of each timed sample that only the parent saw
  std::vector<RawSample> raw;                // of the whole round, for the comparison of its clocks
};

RoundRunner::RoundRunner(const Lab& lab, std::vector<TimedWorkload> workloads, JudgeProfile profile,
                         std::uint64_t campaign_seed, std::string comparison, CachePolicy cache)
    : lab_(lab),
      workloads_(std::move(workloads)),
      profile_(std::move(profile)),
      campaign_seed_(campaign_seed),
      comparison_(std::move(comparison)),
      cache_(cache),
      repetitions_(workloads_.size(), 0) {}

Result<RoundWorkload> RoundRunner::measure(std::size_t which, Round& round, std::uint64_t order_seed) {
  const TimedWorkload& timed = workloads_[which];
  const int workload = static_cast<int>(which);
  Random random(derive_seed(round.seed, "pool", which));
  const std::size_t pool = timed.pool.size();
  const std::size_t first = random.below(pool);
  const std::size_t second = pool > 1 ? (first + 1 + random.below(pool - 1)) % pool : first;
  Session session(lab_, timed, memory_, round.candidate_in_slot0, derive_seed(order_seed, "workload", which),
                  {first, second}, cache_);
  if (auto ready = session.prepare(); !ready) {
    return ready.failure();
  }
  RoundWorkload result{.workload = timed.name};
  int repetitions = std::max(1, repetitions_[which]);
  while (!is_warm(result.warmup, profile_)) {
    auto block =
        session.block(BlockKind::warmup, order_seed, workload, static_cast<int>(result.warmup.size()), repetitions, -1);
    if (!block) {
      return block.failure();
    }
    result.warmup.push_back(*block);
    if (repetitions_[which] == 0) {
      double shortest = INFINITY;
      for (const Sample& sample : block->samples) {
        shortest = std::min(shortest, static_cast<double>(sample.ns));
      }
      const bool cuda = session.target == Target::cuda;
      const bool flush = cache_ == CachePolicy::cold && !(cuda && shortest < kShortCallNs);
      repetitions_[which] =
          apo::repetitions(shortest, cuda ? kEventResolutionNs : kTimerResolutionNs, session.target, flush);
      if (repetitions_[which] != repetitions) {
        repetitions = repetitions_[which];
        result.warmup.clear();  // of samples with another number of calls
      }
    }
  }
  result.repetitions = repetitions;
  note_clock(round, kClockBefore, session.worker.state());
  const int blocks = block_count(result.warmup, profile_);
  const auto verifications = draw_verifications(derive_seed(round.seed, "verification", which), blocks);
  std::vector<std::size_t> unseen;
  for (std::size_t i = 0; i < pool; ++i) {
    if (i != first && i != second) {
      unseen.push_back(i);
    }
  }
  // Spread over the round, where nobody can foresee it, and the last one behind the last block.
  const int stride = std::max(1, blocks / std::max(1, static_cast<int>(unseen.size())));
  const int turn = static_cast<int>(derive_seed(round.seed, "fresh", which) % static_cast<std::uint64_t>(stride));
  for (int index = 0; index < blocks; ++index) {
    int verify = -1;
    for (const Verification& one : verifications) {
      verify = one.block == index ? one.sample : verify;
    }
    auto block = session.block(BlockKind::timed, order_seed, workload, index, repetitions, verify);
    if (!block) {
      return block.failure();
    }
    result.blocks.push_back(*block);
    if (index + 1 == blocks || (index % stride == turn && unseen.size() > 1)) {
      if (auto fresh = take_fresh_calls(session, which, index, round.seed, unseen); !fresh) {
        return fresh.failure();
      }
    }
  }
  note_clock(round, kClockAfter, session.worker.state());
  // Starting CUPTI takes a quarter of a second in each process. Which rounds pay for it no worker can foresee.
  constexpr std::uint64_t kRecordedRounds = 4;  // one in so many
  const bool recorded = round.index == 0 || derive_seed(round.seed, "second clock", which) % kRecordedRounds == 0;
  if (auto agreed = recorded ? check_second_clock(session, which, blocks, round, order_seed) : Result<Done>(Done{});
      !agreed) {
    return agreed.failure();
  }
  session.worker.freeze();
  if (auto changed = session.worker.check_code()) {
    return *changed;
  }
  session.worker.stop();
  note_claims(session, which, round);
  const bool accompanied = session.has_host_code() && round.stage == "confirm" &&
                           (guard_is_on(Guard::rival) || guard_is_on(Guard::parent_clock));
  if (auto alone = accompanied ? measure_alone(which, round, derive_seed(order_seed, "workload", which), repetitions)
                               : Result<Done>(Done{});
      !alone) {
    return alone.failure();
  }
  const int cpus = static_cast<int>(lab_.worker.cpus.empty() ? usable_cpus().size() : lab_.worker.cpus.size());
  const auto wrong = clock_disagreement(session.raw, measured_ns_per_tick(), cpus);
  if (wrong && guard_is_on(Guard::clocks)) {
    return Failure{.outcome = Outcome::unstable_clock, .evidence = *wrong};
  }
  return result;
}

Result<Done> RoundRunner::take_fresh_calls(Session& session, std::size_t which, int block, std::uint64_t round_seed,
                                           std::vector<std::size_t>& unseen) {
  if (unseen.empty() || !guard_is_on(Guard::fresh_inputs)) {
    return Done{};
  }
  const std::uint64_t coins =
      derive_seed(round_seed, "fresh inputs", (which << 16) + static_cast<std::uint64_t>(block));
  const auto ns = session.fresh_calls(unseen.back(), static_cast<int>(coins & 1), static_cast<int>(coins >> 1 & 1));
  if (!ns) {
    return ns.failure();
  }
  unseen.pop_back();
  for (std::size_t slot = 0; slot < ns->size(); ++slot) {
    session.fresh.at(slot).push_back(ns->at(slot));
  }
  return Done{};
}

void RoundRunner::note_claims(const Session& session, std::size_t which, Round& round) const {
  const auto note = [&](const char* key, double ns) {
    round.environment[environment_key(key, workloads_[which].name, workloads_.size())] = ns;
  };
  if (!session.fresh[0].empty()) {
    const std::size_t candidate = round.candidate_in_slot0 ? 0 : 1;
    note(kFreshCandidate, median(session.fresh.at(candidate)));
    note(kFreshIncumbent, median(session.fresh.at(1 - candidate)));
  }
  if (!session.unaccounted.empty()) {
    note(kUnaccounted, midmean(session.unaccounted));
  }
}

Result<Done> RoundRunner::measure_alone(std::size_t which, Round& round, std::uint64_t order_seed, int repetitions) {
  TimedWorkload alone = workloads_[which];
  alone.candidate = alone.incumbent;
  Session session(lab_, alone, memory_, false, derive_seed(order_seed, "alone"), {0, alone.pool.size() - 1}, cache_);
  const auto of_incumbent = [&](Failure failure) {
    failure.slot = round.candidate_in_slot0 ? 1 : 0;
    return failure;
  };
  if (auto ready = session.prepare(); !ready) {
    return of_incumbent(ready.failure());
  }
  std::vector<double> calls;
  for (int index = 0; index < kAloneWarmup + kAloneBlocks; ++index) {
    const auto kind = index < kAloneWarmup ? BlockKind::warmup : BlockKind::timed;
    const auto block = session.block(kind, order_seed, static_cast<int>(which), index, repetitions, -1);
    if (!block) {
      return of_incumbent(block.failure());
    }
    for (const Sample& sample : block->samples) {
      if (kind == BlockKind::timed) {
        calls.push_back(static_cast<double>(sample.ns) / repetitions);
      }
    }
  }
  round.environment[environment_key(kAloneIncumbent, alone.name, workloads_.size())] = median(calls);
  if (!session.unaccounted.empty()) {
    round.environment[environment_key(kAloneUnaccounted, alone.name, workloads_.size())] = midmean(session.unaccounted);
  }
  return Done{};
}

// A single disagreement may be another process that took the GPU between an event and a kernel; a lie stays.
Result<Done> RoundRunner::check_second_clock(Session& session, std::size_t which, int block, Round& round,
                                             std::uint64_t order_seed) {
  if (session.target != Target::cuda || !guard_is_on(Guard::second_clock)) {
    return Done{};
  }
  const StageRange range("second clock");
  const int repetitions = repetitions_[which];
  std::array<std::int64_t, 2> kernels{};
  for (std::size_t slot = 0; slot < kernels.size(); ++slot) {
    const auto launches = static_cast<std::int64_t>(session.arms.at(slot)->build.plan.launches.size());
    kernels.at(slot) = launches * repetitions;
  }
  std::optional<GpuClockDisagreement> wrong;
  for (int attempt = 0; attempt < kSecondClockAttempts && no_second_clock_.empty(); ++attempt) {
    RunRequest request =
        session.block_request(BlockKind::timed, order_seed, static_cast<int>(which), block + attempt, repetitions);
    request.activity = true;
    const auto samples = session.worker.run(request);
    if (!samples) {
      Failure failure = samples.failure();
      failure.evidence = "while CUPTI Activity recorded it: " + failure.evidence;
      return failure;
    }
    no_second_clock_ = session.worker.activity_missing();
    wrong = no_second_clock_.empty() ? gpu_clock_disagreement(*samples, kernels) : std::nullopt;
    if (no_second_clock_.empty() && !wrong) {
      recorded_samples_ += static_cast<int>(samples->size());
      note_activity(round, *samples, repetitions, workloads_.size() > 1 ? "_" + workloads_[which].name : "");
      return Done{};
    }
  }
  round.environment[kSecondClock] = 0;
  if (wrong) {
    return Failure{.outcome = Outcome::unstable_clock, .evidence = wrong->evidence, .slot = wrong->slot};
  }
  return Done{};
}

std::string RoundRunner::second_clock() const {
  if (lab_.worker.target != Target::cuda) {
    return "";
  }
  if (!no_second_clock_.empty()) {
    return "no second clock beside the events: " + no_second_clock_;
  }
  return "events and CUPTI Activity agree about " + std::to_string(recorded_samples_) + " samples";
}

Result<Round> RoundRunner::run(const std::string& stage, int index) {
  const StageRange range("round " + stage + " " + std::to_string(index));
  const auto start = Clock::now();
  const CpuTicks ticks = read_cpu_ticks();
  Round round{.stage = stage, .index = index, .seed = round_seed(campaign_seed_, comparison_, stage, index)};
  const RoundDraw draw = draw_round(round.seed, static_cast<int>(workloads_.size()));
  round.candidate_in_slot0 = draw.candidate_in_slot0;
  round.workloads.resize(workloads_.size());
  for (const int which : draw.workload_order) {
    const auto at = static_cast<std::size_t>(which);
    auto measured = measure(at, round, draw.order_seed);
    if (!measured) {
      Failure failure = measured.failure();
      if (failure.slot >= 0) {
        failure.slot = (failure.slot == 0) == round.candidate_in_slot0 ? 1 : 0;
      }
      return failure;
    }
    round.workloads[at] = *measured;
  }
  round.environment["steal_percent"] = steal_percent(ticks, read_cpu_ticks());
  round.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return round;
}

}  // namespace apo
