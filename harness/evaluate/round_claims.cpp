// harness/evaluate/round_claims.cpp - calls on fresh inputs, and the incumbent without its neighbour.
#include "harness/evaluate/round_claims.h"

#include <memory>

#include "harness/core/guards.h"
#include "harness/evaluate/judge_claim.h"
#include "harness/evaluate/judge_round.h"
#include "harness/evaluate/signed_rank.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr int kAloneWarmup = 3;  // blocks of the incumbent without the candidate
constexpr int kAloneBlocks = 6;

}  // namespace

Result<Done> take_fresh_calls(RoundSession& session, std::size_t which, int block, std::uint64_t round_seed,
                              std::vector<std::size_t>& unseen) {
  if (unseen.empty() || !guard_is_on(Guard::fresh_inputs)) {
    return Done{};
  }
  const std::uint64_t coins =
      derive_seed(round_seed, "fresh inputs", (which << 16) + static_cast<std::uint64_t>(block));
  auto called = session.fresh_calls(unseen.back(), static_cast<int>(coins & 1), static_cast<int>(coins >> 1 & 1));
  unseen.pop_back();
  return called;
}

void note_claims(const RoundSession& session, std::size_t workloads, Round& round) {
  const auto note = [&](const char* key, double ns) {
    round.environment[environment_key(key, session.workload().name, workloads)] = ns;
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

Result<Done> measure_alone(const Lab& lab, const TimedWorkload& workload, const AlonePlan& plan, NextTensors& tensors,
                           Round& round) {
  TimedWorkload alone = workload;
  alone.candidate = alone.incumbent;
  const std::uint64_t seed = derive_seed(plan.order_seed, "alone");
  const SessionDraw draw{.layout_seed = seed, .sets = {0, alone.pool.size() - 1}};
  RoundSession session(lab, alone, draw, plan.cache, tensors.take(alone, draw),
                       std::make_unique<Worker>(RoundSession::options(lab, seed)), true);
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
    const auto block = session.block(kind, plan.order_seed, static_cast<int>(plan.which), index, plan.repetitions, -1);
    if (!block) {
      return of_incumbent(block.failure());
    }
    for (const Sample& sample : block->samples) {
      if (kind == BlockKind::timed) {
        calls.push_back(static_cast<double>(sample.ns) / plan.repetitions);
      }
    }
  }
  round.environment[environment_key(kAloneIncumbent, alone.name, plan.workloads)] = median(calls);
  if (!session.unaccounted_ns().empty()) {
    round.environment[environment_key(kAloneUnaccounted, alone.name, plan.workloads)] =
        midmean(session.unaccounted_ns());
  }
  return Done{};
}

}  // namespace apo
