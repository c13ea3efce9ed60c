// harness/evaluate/rounds/claims.cpp - runs calls on fresh inputs, and the incumbent without the candidate.
#include "harness/evaluate/rounds/claims.h"

#include <array>
#include <cmath>
#include <memory>

#include "harness/core/records/guards.h"
#include "harness/evaluate/judge/claim.h"
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

template <class Note, class Middle>
void note_if_any(const Note& note, const char* key, const std::vector<double>& values, Middle middle) {
  if (!values.empty()) {
    note(key, middle(values));
  }
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

void note_claims(const RoundSession& session, std::size_t workloads, Round& round) {
  const auto note = [&](const char* key, double ns) {
    round.environment[environment_key(key, session.workload().name, workloads)] = ns;
  };
  if (!session.fresh_ns()[0].empty()) {
    const std::size_t candidate = round.candidate_in_slot0 ? 0 : 1;
    note(kFreshCandidate, median(session.fresh_ns().at(candidate)));
    note(kFreshIncumbent, median(session.fresh_ns().at(1 - candidate)));
    note_if_any(note, kFreshWork, session.fresh_work_ns().at(candidate), median);
  }
  note_if_any(note, kUnaccounted, of_both(session.unaccounted_ns()), midmean);
  note_if_any(note, kUnaccountedCandidate, session.unaccounted_ns().at(round.candidate_in_slot0 ? 0 : 1), midmean);
}

Result<Done> measure_alone(const Runtime& runtime, const TimedWorkload& workload, const AlonePlan& plan,
                           NextTensors& tensors, Round& round) {
  TimedWorkload alone = workload;
  alone.candidate = alone.incumbent;
  const std::uint64_t seed = derive_seed(plan.order_seed, "alone");
  const SessionDraw draw{.layout_seed = seed, .sets = {0, alone.pool.size() - 1}};
  RoundSession session(runtime, alone, draw, plan.cache, tensors.take(alone, draw),
                       std::make_unique<Worker>(RoundSession::options(runtime, seed)), true);
  const auto of_incumbent = [&](Failure failure) {
    failure.slot = round.candidate_in_slot0 ? 1 : 0;
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
  const auto note = [&](const char* key, double ns) {
    round.environment[environment_key(key, alone.name, plan.workloads)] = ns;
  };
  const TypicalCalls both = typical_calls(measured, true);  // the incumbent is in either slot
  note(kAloneIncumbent, std::sqrt(both.incumbent_ns * both.candidate_ns));
  note_if_any(note, kAloneUnaccounted, of_both(session.unaccounted_ns()), midmean);
  note_if_any(note, kAloneFresh, of_both(session.fresh_ns()), median);
  note_if_any(note, kAloneFreshWork, of_both(session.fresh_work_ns()), median);
  return Done{};
}

}  // namespace apo
