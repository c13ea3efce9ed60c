// harness/evaluate/rounds/claims.cpp - runs calls on fresh inputs, and the incumbent without the candidate.
#include "harness/evaluate/rounds/claims.h"

#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "harness/core/guards.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr int kAloneWarmup = 3;  // blocks of the incumbent without the candidate
constexpr int kAloneBlocks = 6;

std::vector<double> of_both(const std::array<std::vector<double>, 2>& slots) {
  std::vector<double> all = slots[0];
  all.insert(all.end(), slots[1].begin(), slots[1].end());
  return all;
}

template <class Middle>
std::optional<double> if_any(const std::vector<double>& values, Middle middle) {
  return values.empty() ? std::nullopt : std::optional(middle(values));
}

}  // namespace

Result<Done> take_fresh_calls(RoundSession& session, std::size_t which, int block, std::uint64_t round_seed,
                              std::vector<std::size_t>& unseen) {
  if (unseen.empty() || !guard_is_on(Guard::fresh_inputs)) {
    return Done{};
  }
  const std::uint64_t coins =
      derive_seed(round_seed, "fresh inputs", (which << 16) + static_cast<std::uint64_t>(block));
  std::array<std::size_t, 2> inputs{};
  inputs.fill(unseen.back());
  unseen.pop_back();
  if (session.workload().has_host_code() && !unseen.empty()) {
    inputs.back() = unseen.back();
    unseen.pop_back();
  }
  return session.fresh_calls(inputs, static_cast<int>(coins & 1), static_cast<int>(coins >> 1 & 1));
}

void note_claims(const RoundSession& session, bool candidate_in_slot0, CrossChecks& checks) {
  const std::size_t candidate = candidate_in_slot0 ? 0 : 1;
  if (!session.fresh_ns()[0].empty()) {
    checks.fresh_candidate = median(session.fresh_ns().at(candidate));
    checks.fresh_incumbent = median(session.fresh_ns().at(1 - candidate));
  }
}

Result<Done> measure_alone(const Runtime& runtime, const TimedWorkload& workload, const AlonePlan& plan,
                           NextTensors& tensors, bool candidate_in_slot0, CrossChecks& checks) {
  TimedWorkload alone = workload;
  alone.candidate = alone.incumbent;
  const std::uint64_t seed = derive_seed(plan.order_seed, "alone");
  const SessionDraw draw{.layout_seed = seed, .sets = {0, alone.pool.size() - 1}};
  RoundSession session(runtime, alone, draw, plan.cache, tensors.take(alone, draw),
                       std::make_unique<Worker>(RoundSession::options(runtime, seed)), true);
  const auto of_incumbent = [&](Failure failure) {
    failure.slot = candidate_in_slot0 ? 1 : 0;
    return failure;
  };
  if (auto ready = session.prepare(); !ready) {
    return of_incumbent(ready.failure());
  }
  RoundWorkload measured{.repetitions = plan.repetitions};
  for (int index = 0; index < kAloneWarmup + kAloneBlocks; ++index) {
    const auto kind = index < kAloneWarmup ? BlockKind::warmup : BlockKind::timed;
    const auto block = session.block(kind, plan.order_seed, static_cast<int>(plan.which), index, plan.repetitions, -1);
    if (!block) {
      return of_incumbent(block.failure());
    }
    if (kind == BlockKind::timed) {
      measured.blocks.push_back(*block);
    }
  }
  std::vector<std::size_t> unseen = session.unseen();
  for (int index = 0; guard_is_on(Guard::fresh_inputs) && !unseen.empty(); ++index) {
    if (auto fresh = take_fresh_calls(session, plan.which, index, seed, unseen); !fresh) {
      return of_incumbent(fresh.failure());
    }
  }
  const TypicalCalls both = typical_calls(measured, true);  // the incumbent is in either slot
  checks.alone_incumbent = std::sqrt(both.incumbent_ns * both.candidate_ns);
  checks.alone_fresh = if_any(of_both(session.fresh_ns()), median);
  return Done{};
}

}  // namespace apo
