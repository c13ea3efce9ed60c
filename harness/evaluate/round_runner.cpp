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
constexpr int kSetsInRound = 2;
constexpr std::size_t kFewestSets = 4;  // of a pool
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

InputPool make_pool(const Lab& lab, const Workload& workload, std::uint64_t seed) {
  // Two for the timed calls, the others for calls on fresh inputs: more where they cost little, since the noise of a
  // single short call is large.
  constexpr std::int64_t kMost = 10;
  constexpr std::int64_t kCheap = std::int64_t{8} << 20;  // bytes of all of them
  const std::int64_t bytes = 1 + tensor_bytes(*lab.family, workload.axes);
  const auto sets = static_cast<std::uint64_t>(std::clamp<std::int64_t>(kCheap / bytes, kFewestSets, kMost));
  // Side by side as far as memory allows: drawing them takes five times what they take in the end.
  constexpr std::int64_t kMany = std::int64_t{512} << 20;  // bytes of a set
  const bool together = bytes < kMany && lab.threads > 1;
  const int threads = together ? std::max(1, lab.threads / static_cast<int>(sets)) : lab.threads;
  std::vector<std::future<CheckedPointer>> drawing;
  for (std::uint64_t i = 0; i < sets; ++i) {
    drawing.push_back(std::async(together ? std::launch::async : std::launch::deferred, [&, i] {
      return lab.inputs->get(*lab.family, workload, derive_seed(seed, workload.name, i), lab.family->regimes.front(),
                             threads);
    }));
  }
  InputPool pool;
  for (std::future<CheckedPointer>& one : drawing) {
    pool.push_back(one.get());
  }
  return pool;
}

// What chance decided about one round of one workload.
struct SessionDraw {
  bool candidate_in_slot0 = false;
  std::uint64_t layout_seed = 0;              // of environment, buffers and the order of loading
  std::array<std::uint64_t, 2> code_seeds{};  // of the incumbent's and the candidate's code; 0: as the compiler made it
  std::array<std::size_t, 2> sets{};          // of the pool
};

// One worker with both slots loaded and an arena attached, for one workload of one round.
struct RoundRunner::Session {
  // In a process that has just been started, or (is_new = false) in that of an earlier session.
  Session(const Lab& lab, const TimedWorkload& workload, const std::shared_ptr<ArenaMemory>& memory,
          const SessionDraw& draw, CachePolicy policy, std::unique_ptr<Worker> process, bool is_new)
      : family(*lab.family),
        timed(workload),
        drawn(draw.sets),
        cache(policy),
        target(lab.worker.target),
        threads(lab.threads),
        candidate_in_slot0(draw.candidate_in_slot0),
        layout_seed(draw.layout_seed),
        new_process(is_new),
        worker(std::move(process)),
        arena(spec_of(lab), memory),
        arms{candidate_in_slot0 ? &timed.candidate : &timed.incumbent,
             candidate_in_slot0 ? &timed.incumbent : &timed.candidate} {
    for (int set = 0; set < kSetsInRound; ++set) {
      share_inputs(arena, set, family, timed.pool[drawn[static_cast<std::size_t>(set)]]->inputs, threads);
    }
    lay_out(lab, draw.code_seeds);
  }

  static WorkerOptions options(const Lab& lab, std::uint64_t seed) {
    WorkerOptions options = lab.worker;
    options.layout_seed = derive_seed(seed, "environment");
    return options;
  }

  // Links the code of each slot in its order of this round, both at once.
  void lay_out(const Lab& lab, const std::array<std::uint64_t, 2>& code_seeds) {
    std::array<std::future<Build>, 2> links;
    for (std::size_t slot = 0; slot < builds.size(); ++slot) {
      builds.at(slot) = arms.at(slot)->build;
      const std::uint64_t seed = code_seeds.at(arms.at(slot) == &timed.candidate ? 1 : 0);
      if (seed != 0 && lab.relink) {
        const std::filesystem::path folder = linked.path() / std::to_string(slot);
        std::filesystem::create_directories(folder);
        links.at(slot) = std::async(std::launch::async, [&lab, folder, seed, base = builds.at(slot)] {
          return lab.relink(base, seed, folder);
        });
      }
    }
    for (std::size_t slot = 0; slot < builds.size(); ++slot) {
      builds.at(slot) = links.at(slot).valid() ? links.at(slot).get() : builds.at(slot);
    }
  }

  ArenaSpec spec_of(const Lab& lab) const {
    ArenaSpec spec = arena_spec(family, timed.axes, kSetsInRound, scratch(lab, 0), scratch(lab, 1),
                                derive_seed(layout_seed, "arena"), target);
    spec.foreign_code = has_host_code();
    return spec;
  }

  // A device variant has no code in the worker's process.
  bool has_host_code() const {
    return timed.candidate.build.plan.launches.empty() || timed.incumbent.build.plan.launches.empty();
  }

  std::vector<std::int64_t> scratch(const Lab& lab, int slot) const {
    const bool candidate = (slot == 0) == candidate_in_slot0;
    return lab.scratch((candidate ? timed.candidate : timed.incumbent).configuration, timed.axes);
  }

  Result<Done> prepare() {
    {
      const StageRange range("start of the worker");
      worker->await_start();
    }
    const StageRange range("load and attach");
    const int first = Random(derive_seed(layout_seed, "loading")).coin() ? 1 : 0;
    for (const int slot : {first, 1 - first}) {
      if (auto loaded = load_build(*worker, slot, builds.at(static_cast<std::size_t>(slot))); !loaded) {
        Failure failure = loaded.failure();
        failure.slot = slot;
        return failure;
      }
    }
    return worker->attach(arena);
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
    // Warming up takes up to a thousand short samples, and every pause is an exchange of messages.
    request.pause_each = has_host_code() && kind == BlockKind::timed;
    auto samples = worker->run(request, inspection(request, "timed call"));
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
      for (std::size_t i = 0; i < worker->waited_ns().size(); ++i) {
        const RawSample& sample = samples->at(i);
        const auto seen = static_cast<double>(worker->waited_ns()[i] - (sample.end_ns - sample.begin_ns));
        unaccounted.push_back(seen);
      }
    }
    return block;
  }

  // Looks at the outputs of the sample that the request verifies.
  Inspect inspection(const RunRequest& request, const std::string& what) {
    return [this, &request, what](int sample) -> std::optional<Failure> {
      const StageRange range("compare");
      const auto at = static_cast<std::size_t>(sample);
      const int set = request.sets[at];
      auto failure = inspect_call(arena, family, timed.axes, timed.pool[drawn[static_cast<std::size_t>(set)]]->expected,
                                  set, threads);
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

  // One call of each slot on inputs that nothing in the worker had seen before: they are written while it stands still,
  // right before, and on a GPU copied there anew for each slot. The call before it, on the other set, warms up what any
  // call warms up. Nanoseconds of each slot.
  Result<std::array<double, 2>> fresh_calls(std::size_t inputs, int set, int first_slot) {
    const StageRange range("fresh inputs");
    std::array<double, 2> ns{};
    drawn.at(static_cast<std::size_t>(set)) = inputs;
    worker->freeze();
    share_inputs(arena, set, family, timed.pool[inputs]->inputs, threads);
    for (const int slot : {first_slot, 1 - first_slot}) {
      const RunRequest request{.order = {slot, slot},
                               .sets = {1 - set, set},
                               .repetitions = 1,
                               .cache = cache,
                               .verify_after = 1,
                               .refresh = true};
      const auto samples = worker->run(request, inspection(request, "call on inputs made right before it"));
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
  int threads;
  bool candidate_in_slot0;
  std::uint64_t layout_seed;
  bool new_process;
  std::unique_ptr<Worker> worker;
  Arena arena;
  std::array<const TimedArm*, 2> arms;
  TemporaryFolder linked;
  std::array<Build, 2> builds;               // of each slot, as they are loaded
  std::array<std::vector<double>, 2> fresh;  // ns of each slot's calls on fresh inputs
  std::vector<double> unaccounted;           // ns of each timed sample that only the parent saw
  std::vector<RawSample> raw;                // of the whole round, for the comparison of its clocks
};

RoundRunner::RoundRunner(const Lab& lab, std::vector<TimedWorkload> workloads, JudgeProfile profile,
                         std::uint64_t campaign_seed, std::string comparison, CachePolicy cache, RoundOptions options)
    : lab_(lab),
      workloads_(std::move(workloads)),
      profile_(std::move(profile)),
      campaign_seed_(campaign_seed),
      comparison_(std::move(comparison)),
      cache_(cache),
      repetitions_(workloads_.size(), 0),
      options_(options),
      sessions_(workloads_.size()) {
  // Arenas that live at the same time cannot share their memory.
  APO_CHECK(options_.rounds_per_process == 1 || workloads_.size() == 1);
  lab_.yard->clear();
}

RoundRunner::~RoundRunner() = default;

Result<RoundRunner::Session*> RoundRunner::open_session(std::size_t which, Round& round, std::uint64_t order_seed) {
  const TimedWorkload& timed = workloads_[which];
  std::unique_ptr<Session>& kept = sessions_[which];
  const int age = rounds_run_ % options_.rounds_per_process;
  if (kept && age != 0 && age % options_.rounds_per_layout != 0) {
    kept->raw.clear();
    kept->unaccounted.clear();
    kept->fresh = {};
    kept->new_process = false;
    round.candidate_in_slot0 = kept->candidate_in_slot0;
    return kept.get();
  }
  Random random(derive_seed(round.seed, "pool", which));
  const std::size_t pool = timed.pool.size();
  const std::size_t first = random.below(pool);
  const std::size_t second = pool > 1 ? (first + 1 + random.below(pool - 1)) % pool : first;
  SessionDraw draw{.candidate_in_slot0 = round.candidate_in_slot0, .sets = {first, second}};
  if (options_.layout == Layout::random) {
    draw.layout_seed = derive_seed(order_seed, "workload", which);
    // From the round's own seed, which no worker ever gets.
    draw.code_seeds = {derive_seed(round.seed, "code of the incumbent", which) | 1,
                       derive_seed(round.seed, "code of the candidate", which) | 1};
  } else {
    draw.layout_seed = derive_seed(campaign_seed_, comparison_, which);
    draw.code_seeds = options_.fixed_seeds;
  }
  const bool is_new = !kept || age == 0;
  // A new one starts while the arena is filled and the code is linked.
  std::unique_ptr<Worker> worker =
      is_new ? workers_.take(Session::options(lab_, draw.layout_seed)) : std::move(kept->worker);
  kept.reset();  // before the next: they share the arena's memory
  if (is_new && lab_.worker.target == Target::cuda) {
    workers_.start(Session::options(lab_, next_layout_seed(which, round)));
  }
  {
    const StageRange range("lay out the tensors");
    kept = std::make_unique<Session>(lab_, timed, memory_, draw, cache_, std::move(worker), is_new);
  }
  if (auto ready = kept->prepare(); !ready) {
    return ready.failure();
  }
  return kept.get();
}

// Of the session after this one, if the comparison goes on as it is.
std::uint64_t RoundRunner::next_layout_seed(std::size_t which, const Round& round) const {
  const int count = static_cast<int>(workloads_.size());
  RoundDraw draw = draw_round(round.seed, count);
  auto after = std::ranges::find(draw.workload_order, static_cast<int>(which)) + 1;
  if (after == draw.workload_order.end()) {
    const int next = round.index + options_.rounds_per_process;
    draw = draw_round(round_seed(campaign_seed_, comparison_, round.stage, next), count);
    after = draw.workload_order.begin();
  }
  const auto workload = static_cast<std::uint64_t>(*after);
  return options_.layout == Layout::random ? derive_seed(draw.order_seed, "workload", workload)
                                           : derive_seed(campaign_seed_, comparison_, workload);
}

Result<RoundWorkload> RoundRunner::measure(std::size_t which, Round& round, std::uint64_t order_seed) {
  const TimedWorkload& timed = workloads_[which];
  const int workload = static_cast<int>(which);
  const auto opened = open_session(which, round, order_seed);
  if (!opened) {
    return opened.failure();
  }
  Session& session = **opened;
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
  note_clock(round, kClockBefore, session.worker->state());
  const int blocks = block_count(result.warmup, profile_);
  if (auto measured = measure_blocks(session, which, round, order_seed, blocks, result); !measured) {
    return measured.failure();
  }
  note_clock(round, kClockAfter, session.worker->state());
  // Starting CUPTI takes a quarter of a second in each process. Which rounds pay for it no worker can foresee.
  constexpr std::uint64_t kRecordedRounds = 4;                             // one in so many
  const bool last = (rounds_run_ + 1) % options_.rounds_per_process == 0;  // CUPTI must not be there for a later round
  const bool recorded = last && (rounds_run_ + 1 == options_.rounds_per_process ||
                                 derive_seed(round.seed, "second clock", which) % kRecordedRounds == 0);
  if (auto agreed = recorded ? check_second_clock(session, which, blocks, round, order_seed) : Result<Done>(Done{});
      !agreed) {
    return agreed.failure();
  }
  {
    const StageRange range("watch the code");
    session.worker->freeze();
    if (auto changed = session.worker->check_code()) {
      return *changed;
    }
  }
  if (session.new_process) {
    round.environment[kProcessStart] = session.worker->start_seconds();
  }
  note_claims(session, which, round);
  const bool accompanied = last && session.has_host_code() && round.stage == "confirm" &&
                           (guard_is_on(Guard::rival) || guard_is_on(Guard::parent_clock));
  const std::vector<RawSample> raw = session.raw;
  if (last) {
    const StageRange range("end of the worker");
    // Host code could still write to the arena, which the next session uses, until its process is gone.
    if (!session.has_host_code()) {
      workers_.end(std::move(session.worker));
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

Result<Done> RoundRunner::measure_blocks(Session& session, std::size_t which, const Round& round,
                                         std::uint64_t order_seed, int blocks, RoundWorkload& result) {
  std::vector<std::size_t> unseen;
  for (std::size_t i = 0; i < session.timed.pool.size(); ++i) {
    if (std::ranges::find(session.drawn, i) == session.drawn.end()) {
      unseen.push_back(i);
    }
  }
  const bool costly = session.target == Target::cuda && session.timed.pool.size() == kFewestSets;
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
  const std::uint64_t seed = derive_seed(order_seed, "alone");
  Session session(lab_, alone, memory_, {.layout_seed = seed, .sets = {0, alone.pool.size() - 1}}, cache_,
                  std::make_unique<Worker>(Session::options(lab_, seed)), true);
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
    const auto samples = session.worker->run(request);
    if (!samples) {
      Failure failure = samples.failure();
      failure.evidence = "while CUPTI Activity recorded it: " + failure.evidence;
      return failure;
    }
    no_second_clock_ = session.worker->activity_missing();
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
      sessions_[at].reset();
      Failure failure = measured.failure();
      if (failure.slot >= 0) {
        failure.slot = (failure.slot == 0) == round.candidate_in_slot0 ? 1 : 0;
      }
      return failure;
    }
    round.workloads[at] = *measured;
  }
  ++rounds_run_;
  round.environment[kRandomLayout] = options_.layout == Layout::random ? 1 : 0;
  round.environment["steal_percent"] = steal_percent(ticks, read_cpu_ticks());
  round.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return round;
}

}  // namespace apo
