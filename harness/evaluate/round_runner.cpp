// harness/evaluate/round_runner.cpp - loads both arms in coin order, warms up, takes blocks, verifies calls at random.
#include "harness/evaluate/round_runner.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <future>

#include "harness/core/error.h"
#include "harness/core/files.h"
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
constexpr int kSecondClockAttempts = 5;
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

// What the parent looks at in a round, and behind which blocks it makes calls on fresh inputs.
struct Looks {
  std::array<Verification, 2> at_timed;
  bool timed = true;
  std::vector<int> fresh_after;
};

// Of a GPU's large tensors every look costs as much as all the timing: a round has either kind, nobody can foresee
// which. Else the fresh calls are spread over the round, the last one behind the last block.
Looks draw_looks(std::uint64_t seed, int blocks, int unseen, bool costly) {
  Looks looks{.at_timed = draw_verifications(seed, blocks)};
  if (unseen == 0) {
    return looks;
  }
  Random random(derive_seed(seed, "fresh"));
  if (costly) {
    looks.timed = random.coin();
    if (!looks.timed) {
      looks.fresh_after = {static_cast<int>(random.below(static_cast<std::uint64_t>(blocks)))};
    }
    return looks;
  }
  const int stride = std::max(1, blocks / unseen);
  const int turn = static_cast<int>(random.below(static_cast<std::uint64_t>(stride)));
  for (int i = 0; i + 1 < unseen && i * stride + turn + 1 < blocks; ++i) {
    looks.fresh_after.push_back(i * stride + turn);
  }
  looks.fresh_after.push_back(blocks - 1);
  return looks;
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

std::optional<Layout> layout_from(std::string_view word) {
  return word == "random"  ? std::optional(Layout::random)
         : word == "fixed" ? std::optional(Layout::fixed)
                           : std::nullopt;
}

LayoutControl layout_control(Layout layout) {
  return layout == Layout::random ? LayoutControl::redrawn : LayoutControl::aligned;
}

SessionDraw draw_session(const RoundCoins& coins, const std::string& stage, int index, std::size_t which,
                         const std::vector<TimedWorkload>& workloads, const RoundOptions& options) {
  const std::uint64_t seed = round_seed(coins.campaign_seed, coins.comparison, stage, index);
  const RoundDraw round = draw_round(seed, static_cast<int>(workloads.size()));
  Random random(derive_seed(seed, "pool", which));
  const std::size_t pool = workloads[which].pool.size();
  const std::size_t first = random.below(pool);
  const std::size_t second = pool > 1 ? (first + 1 + random.below(pool - 1)) % pool : first;
  SessionDraw draw{.candidate_in_slot0 = round.candidate_in_slot0, .sets = {first, second}};
  if (options.layout == Layout::random) {
    draw.layout_seed = derive_seed(round.order_seed, "workload", which);
    // From the round's own seed, which no worker ever gets.
    draw.code_seeds = {derive_seed(seed, "code of the incumbent", which) | 1,
                       derive_seed(seed, "code of the candidate", which) | 1};
  } else {
    draw.layout_seed = derive_seed(coins.campaign_seed, coins.comparison, which);
    draw.code_seeds = options.fixed_seeds;
  }
  return draw;
}

RoundRunner::RoundRunner(const Lab& lab, std::vector<TimedWorkload> workloads, JudgeProfile profile,
                         std::uint64_t campaign_seed, std::string comparison, CachePolicy cache, RoundOptions options)
    : lab_(lab),
      workloads_(std::move(workloads)),
      profile_(std::move(profile)),
      coins_{.campaign_seed = campaign_seed, .comparison = std::move(comparison)},
      cache_(cache),
      repetitions_(workloads_.size(), 0),
      options_(options),
      tensors_(lab_),
      sessions_(workloads_.size()) {
  // Arenas that live at the same time cannot share their memory.
  APO_CHECK(options_.rounds_per_process == 1 || workloads_.size() == 1);
  lab_.yard->clear();
}

RoundRunner::~RoundRunner() = default;

RoundRunner::Opening RoundRunner::opening(const Round& round, std::size_t which) const {
  const RoundDraw draw = draw_round(round.seed, static_cast<int>(workloads_.size()));
  const auto at = std::ranges::find(draw.workload_order, static_cast<int>(which)) - draw.workload_order.begin();
  return {.stage = round.stage, .index = round.index, .position = static_cast<std::size_t>(at)};
}

RoundRunner::Opening RoundRunner::after(const Opening& opening, int rounds) const {
  Opening next = opening;
  if (++next.position == workloads_.size()) {
    next.position = 0;
    next.index += rounds;
  }
  return next;
}

std::size_t RoundRunner::workload_of(const Opening& opening) const {
  const std::uint64_t seed = round_seed(coins_.campaign_seed, coins_.comparison, opening.stage, opening.index);
  return static_cast<std::size_t>(
      draw_round(seed, static_cast<int>(workloads_.size())).workload_order.at(opening.position));
}

SessionDraw RoundRunner::draw_session(const Opening& opening) const {
  return apo::draw_session(coins_, opening.stage, opening.index, workload_of(opening), workloads_, options_);
}

Result<RoundSession*> RoundRunner::open_session(std::size_t which, Round& round) {
  const TimedWorkload& timed = workloads_[which];
  std::unique_ptr<RoundSession>& kept = sessions_[which];
  if (kept && age_ != 0 && age_ % options_.rounds_per_layout != 0) {
    kept->begin_round_again();
    round.candidate_in_slot0 = kept->candidate_in_slot0();
    return kept.get();
  }
  const Opening opened = opening(round, which);
  const SessionDraw draw = draw_session(opened);
  const bool is_new = !kept || age_ == 0;
  // A new one starts while the arena is filled and the code is linked.
  std::unique_ptr<Worker> worker =
      is_new ? workers_.take(RoundSession::options(lab_, draw.layout_seed)) : kept->take_worker();
  kept.reset();  // before the next: they share the arena's memory
  if (is_new) {
    start_workers_ahead(opened);
  }
  {
    const StageRange range("lay out the tensors");
    kept = std::make_unique<RoundSession>(lab_, timed, draw, cache_, tensors_.take(timed, draw), std::move(worker),
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
void RoundRunner::start_workers_ahead(const Opening& opened) {
  constexpr int kAhead = 2;
  Opening next = opened;
  for (int i = 0; i < kAhead && lab_.worker.target == Target::cuda; ++i) {
    next = after(next, options_.rounds_per_process);
    workers_.start(RoundSession::options(lab_, draw_session(next).layout_seed));
  }
}

Result<RoundWorkload> RoundRunner::measure(std::size_t which, Round& round, std::uint64_t order_seed) {
  const TimedWorkload& timed = workloads_[which];
  const int workload = static_cast<int>(which);
  const auto opened = open_session(which, round);
  if (!opened) {
    return opened.failure();
  }
  RoundSession& session = **opened;
  RoundWorkload result{.workload = timed.name};
  int repetitions = std::max(1, repetitions_[which]);
  const auto begin = Clock::now();
  // The flushes between the samples keep the machine as busy as these do; short cold ones would else take seconds of
  // them.
  const auto busy_s = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  while (!is_warm(result.warmup, profile_, busy_s())) {
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
      const bool cuda = session.target() == Target::cuda;
      const bool flush = cache_ == CachePolicy::cold && !(cuda && shortest < kShortCallNs);
      repetitions_[which] =
          apo::repetitions(shortest, cuda ? kEventResolutionNs : kTimerResolutionNs, session.target(), flush);
      if (repetitions_[which] != repetitions) {
        repetitions = repetitions_[which];
        result.warmup.clear();  // of samples with another number of calls
      }
    }
  }
  result.repetitions = repetitions;
  note_clock(round, kClockBefore, session.worker().state());
  const int blocks = block_count(result.warmup, profile_);
  if (auto measured = measure_blocks(session, which, round, order_seed, blocks, result); !measured) {
    return measured.failure();
  }
  note_clock(round, kClockAfter, session.worker().state());
  // Starting CUPTI takes a quarter of a second in each process. Which rounds pay for it no worker can foresee.
  constexpr std::uint64_t kRecordedRounds = 4;                // one in so many
  const bool last = age_ + 1 == options_.rounds_per_process;  // CUPTI must not be there for a later round
  const bool recorded =
      last && (recorded_samples_ == 0 || derive_seed(round.seed, "second clock", which) % kRecordedRounds == 0);
  if (auto agreed = recorded ? check_second_clock(session, which, blocks, round, order_seed) : Result<Done>(Done{});
      !agreed) {
    return agreed.failure();
  }
  {
    const StageRange range("watch the code");
    session.worker().freeze();
    if (auto changed = session.worker().check_code()) {
      return *changed;
    }
  }
  if (session.is_new_process()) {
    round.environment[kProcessStart] = session.worker().start_seconds();
    round.environment[kStartWait] += session.start_wait_s();
  } else {
    round.environment[kSameProcess] = 1;
  }
  note_claims(session, which, round);
  const bool accompanied = last && timed.has_host_code() && round.stage == "confirm" &&
                           (guard_is_on(Guard::rival) || guard_is_on(Guard::parent_clock));
  const std::vector<RawSample> raw = session.raw();
  if (last) {
    const StageRange range("end of the worker");
    // Host code could still write to the arena, which the next session uses, until its process is gone.
    if (!timed.has_host_code()) {
      workers_.end(session.take_worker());
    }
    sessions_[which].reset();
  }
  if (auto alone = accompanied ? measure_alone(which, round, derive_seed(order_seed, "workload", which), repetitions)
                               : Result<Done>(Done{});
      !alone) {
    return alone.failure();
  }
  const int cpus = static_cast<int>(lab_.worker.cpus.empty() ? usable_cpus().size() : lab_.worker.cpus.size());
  const auto wrong = clock_disagreement(raw, measured_ns_per_tick(), cpus);
  if (wrong && guard_is_on(Guard::clocks)) {
    return Failure{.outcome = Outcome::unstable_clock, .evidence = *wrong};
  }
  return result;
}

Result<Done> RoundRunner::measure_blocks(RoundSession& session, std::size_t which, const Round& round,
                                         std::uint64_t order_seed, int blocks, RoundWorkload& result) {
  std::vector<std::size_t> unseen = session.unseen();
  const bool costly = session.target() == Target::cuda && session.workload().pool.size() == kFewestSets;
  const Looks looks = draw_looks(derive_seed(round.seed, "verification", which), blocks,
                                 static_cast<int>(unseen.size()), costly && guard_is_on(Guard::fresh_inputs));
  for (int index = 0; index < blocks; ++index) {
    int verify = -1;
    for (const Verification& one : looks.at_timed) {
      verify = looks.timed && one.block == index ? one.sample : verify;
    }
    auto block =
        session.block(BlockKind::timed, order_seed, static_cast<int>(which), index, result.repetitions, verify);
    if (!block) {
      return block.failure();
    }
    result.blocks.push_back(*block);
    if (std::ranges::find(looks.fresh_after, index) != looks.fresh_after.end()) {
      if (auto fresh = take_fresh_calls(session, which, index, round.seed, unseen); !fresh) {
        return fresh.failure();
      }
    }
  }
  return Done{};
}

Result<Done> RoundRunner::take_fresh_calls(RoundSession& session, std::size_t which, int block,
                                           std::uint64_t round_seed, std::vector<std::size_t>& unseen) {
  if (unseen.empty() || !guard_is_on(Guard::fresh_inputs)) {
    return Done{};
  }
  const std::uint64_t coins =
      derive_seed(round_seed, "fresh inputs", (which << 16) + static_cast<std::uint64_t>(block));
  auto called = session.fresh_calls(unseen.back(), static_cast<int>(coins & 1), static_cast<int>(coins >> 1 & 1));
  unseen.pop_back();
  return called;
}

void RoundRunner::note_claims(const RoundSession& session, std::size_t which, Round& round) const {
  const auto note = [&](const char* key, double ns) {
    round.environment[environment_key(key, workloads_[which].name, workloads_.size())] = ns;
  };
  if (!session.fresh_ns()[0].empty()) {
    const std::size_t candidate = round.candidate_in_slot0 ? 0 : 1;
    note(kFreshCandidate, median(session.fresh_ns().at(candidate)));
    note(kFreshIncumbent, median(session.fresh_ns().at(1 - candidate)));
  }
  if (!session.unaccounted_ns().empty()) {
    note(kUnaccounted, midmean(session.unaccounted_ns()));
  }
}

Result<Done> RoundRunner::measure_alone(std::size_t which, Round& round, std::uint64_t order_seed, int repetitions) {
  TimedWorkload alone = workloads_[which];
  alone.candidate = alone.incumbent;
  const std::uint64_t seed = derive_seed(order_seed, "alone");
  const SessionDraw draw{.layout_seed = seed, .sets = {0, alone.pool.size() - 1}};
  RoundSession session(lab_, alone, draw, cache_, tensors_.take(alone, draw),
                       std::make_unique<Worker>(RoundSession::options(lab_, seed)), true);
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
  if (!session.unaccounted_ns().empty()) {
    round.environment[environment_key(kAloneUnaccounted, alone.name, workloads_.size())] =
        midmean(session.unaccounted_ns());
  }
  return Done{};
}

// A single disagreement may be another process that took the GPU between an event and a kernel; a lie stays.
Result<Done> RoundRunner::check_second_clock(RoundSession& session, std::size_t which, int block, Round& round,
                                             std::uint64_t order_seed) {
  if (session.target() != Target::cuda || !guard_is_on(Guard::second_clock)) {
    return Done{};
  }
  const StageRange range("second clock");
  const int repetitions = repetitions_[which];
  std::array<std::int64_t, 2> kernels{};
  for (std::size_t slot = 0; slot < kernels.size(); ++slot) {
    kernels.at(slot) = session.launches(static_cast<int>(slot)) * repetitions;
  }
  std::optional<GpuClockDisagreement> wrong;
  for (int attempt = 0; attempt < kSecondClockAttempts && no_second_clock_.empty(); ++attempt) {
    RunRequest request =
        session.block_request(BlockKind::timed, order_seed, static_cast<int>(which), block + attempt, repetitions);
    request.activity = true;
    const auto samples = session.worker().run(request);
    if (!samples) {
      Failure failure = samples.failure();
      failure.evidence = "while CUPTI Activity recorded it: " + failure.evidence;
      return failure;
    }
    no_second_clock_ = session.worker().activity_missing();
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
  Round round{
      .stage = stage, .index = index, .seed = round_seed(coins_.campaign_seed, coins_.comparison, stage, index)};
  const RoundDraw draw = draw_round(round.seed, static_cast<int>(workloads_.size()));
  round.candidate_in_slot0 = draw.candidate_in_slot0;
  round.workloads.resize(workloads_.size());
  if (stage != stage_) {  // each stage has processes of its own
    stage_ = stage;
    age_ = 0;
    for (std::unique_ptr<RoundSession>& session : sessions_) {
      session.reset();
    }
  }
  for (const int which : draw.workload_order) {
    const auto at = static_cast<std::size_t>(which);
    auto measured = measure(at, round, draw.order_seed);
    if (!measured) {
      sessions_[at].reset();
      Failure failure = measured.failure();
      if (failure.slot >= 0) {
        failure.slot = (failure.slot == 0) == round.candidate_in_slot0 ? 1 : 0;
      }
      return failure;
    }
    round.workloads[at] = *measured;
  }
  age_ = (age_ + 1) % options_.rounds_per_process;
  round.environment[kRandomLayout] = options_.layout == Layout::random ? 1 : 0;
  round.environment["steal_percent"] = steal_percent(ticks, read_cpu_ticks());
  round.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return round;
}

}  // namespace apo
