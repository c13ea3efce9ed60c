// harness/evaluate/rounds/second_clock.cpp - runs one more block under CUPTI Activity, repeated before a disagreement
// counts.
#include "harness/evaluate/rounds/second_clock.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <vector>

#include "harness/core/guards.h"
#include "harness/core/nvtx.h"
#include "harness/evaluate/rounds/clocks.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr int kSecondClockAttempts = 5;

// Each arm has two samples in a block: their mean is their median.
void note_activity(RoundWorkload& workload, const std::vector<RawSample>& samples, bool candidate_in_slot0) {
  std::array<double, 2> total{};
  std::array<double, 2> count{};
  for (const RawSample& sample : samples) {
    total.at(static_cast<std::size_t>(sample.slot)) += static_cast<double>(sample.activity_ns) / workload.repetitions;
    count.at(static_cast<std::size_t>(sample.slot)) += 1;
  }
  const std::size_t candidate = candidate_in_slot0 ? 0 : 1;
  workload.checks.activity_candidate = total.at(candidate) / count.at(candidate);
  workload.checks.activity_incumbent = total.at(1 - candidate) / count.at(1 - candidate);
}

}  // namespace

bool SecondClock::is_due(std::uint64_t round_seed, std::size_t which) const {
  constexpr std::uint64_t kRecordedRounds = 4;  // one in so many
  return recorded_samples_ == 0 || derive_seed(round_seed, "second clock", which) % kRecordedRounds == 0;
}

// Another process may take the GPU between an event and a kernel and cause one disagreement; a false clock causes all.
Result<Done> SecondClock::check(RoundSession& session, std::size_t which, int block, RoundWorkload& workload,
                                Round& round, std::uint64_t order_seed) {
  if (session.target() != Target::cuda || !guard_is_on(Guard::second_clock)) {
    return Done{};
  }
  const StageRange range("second clock");
  std::array<std::int64_t, 2> kernels{};
  for (std::size_t slot = 0; slot < kernels.size(); ++slot) {
    kernels.at(slot) = session.launches(static_cast<int>(slot)) * workload.repetitions;
  }
  std::optional<GpuClockDisagreement> wrong;
  for (int attempt = 0; attempt < kSecondClockAttempts && no_second_clock_.empty(); ++attempt) {
    RunRequest request = session.block_request(BlockKind::timed, order_seed, static_cast<int>(which), block + attempt,
                                               workload.repetitions);
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
      note_activity(workload, *samples, round.candidate_in_slot0);
      round.environment.second_clock =
          round.environment.second_clock.value_or(true);  // false of another workload stays
      return Done{};
    }
  }
  round.environment.second_clock = false;
  if (wrong) {
    return Failure{.outcome = Outcome::unstable_clock, .evidence = wrong->evidence, .slot = wrong->slot};
  }
  return Done{};
}

std::string SecondClock::in_words() const {
  if (!no_second_clock_.empty()) {
    return "no second clock beside the events: " + no_second_clock_;
  }
  return fmt::format("events and CUPTI Activity agree about {} samples", recorded_samples_);
}

}  // namespace apo
