// harness/evaluate/round_runner.h - one round for real: a fresh process, two blind slots, raw samples out.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records.h"
#include "harness/evaluate/judge_profile.h"
#include "harness/evaluate/lab.h"
#include "harness/evaluate/next_tensors.h"
#include "harness/evaluate/round_session.h"
#include "harness/evaluate/timed_workload.h"
#include "harness/evaluate/worker_yard.h"

namespace apo {

// What is done against the luck of where code and buffers land. `random` draws it anew in every round and for each
// arm: on target host the order and the gaps of the code, by linking again; on both targets the place of the buffers,
// the size of the environment, and which slot is loaded first. `fixed` leaves code as the compiler made it and draws
// the rest once a comparison.
enum class Layout : std::uint8_t { random, fixed };

// "random" or "fixed"; nullopt for another word.
std::optional<Layout> layout_from(std::string_view word);
// What the choice of the judge's profile has to know of it.
LayoutControl layout_control(Layout layout);

// Keys of Round::environment.
inline constexpr const char* kRandomLayout = "random_layout";    // 1, or 0 for a fixed one
inline constexpr const char* kProcessStart = "process_start_s";  // seconds; absent in later rounds of a process

struct RoundOptions {
  Layout layout = Layout::random;
  // `fixed`: what code layouts the incumbent and the candidate keep; 0 is the compiler's.
  std::array<std::uint64_t, 2> fixed_seeds{};
  // More than one only for a single workload, where processes were shown not to differ (resolution.h). Every round
  // still has coins, loads and buffers of its own.
  int rounds_per_process = 1;
  // More than one to see what a layout is worth: these rounds keep coin, code and buffers, and no verdict may use them.
  int rounds_per_layout = 1;
};

// Whose rounds these are, for the coins: what differs in one of them draws anew.
struct RoundCoins {
  std::uint64_t campaign_seed = 0;
  std::string comparison;
};
// What chance decides about the session of workload `which`, of so many, in a round.
SessionDraw draw_session(const RoundCoins& coins, const std::string& stage, int index, std::size_t which,
                         const std::vector<TimedWorkload>& workloads, const RoundOptions& options);

// Runs rounds of one comparison. Only the parent knows which slot holds the candidate.
class RoundRunner {
 public:
  RoundRunner(const Lab& lab, std::vector<TimedWorkload> workloads, JudgeProfile profile, std::uint64_t campaign_seed,
              std::string comparison, CachePolicy cache, RoundOptions options = {});
  ~RoundRunner();

  // A Failure says which arm misbehaved: slot 0 is the incumbent and slot 1 the candidate here, -1 unknown.
  Result<Round> run(const std::string& stage, int index);
  // What the second clock of a GPU said in the rounds so far, in words; empty on target host.
  std::string second_clock() const;
  // Calls in a sample of each workload, as the first round fixed them.
  const std::vector<int>& repetitions() const { return repetitions_; }

 private:
  // A round's place for a session: that of the workload at `position` of its order.
  struct Opening {
    std::string stage;
    int index = 0;
    std::size_t position = 0;
  };
  Opening opening(const Round& round, std::size_t which) const;
  // The one that comes then if the comparison goes on as it is; in another round, so many later.
  Opening after(const Opening& opening, int rounds) const;
  std::size_t workload_of(const Opening& opening) const;
  SessionDraw draw_session(const Opening& opening) const;
  // The session of this round: a new process, or a later round of the one that is there.
  Result<RoundSession*> open_session(std::size_t which, Round& round);
  void start_workers_ahead(const Opening& opened);
  // Adds what it saw of the device to the round's environment.
  Result<RoundWorkload> measure(std::size_t which, Round& round, std::uint64_t order_seed);
  // The timed blocks, with the looks at outputs among them.
  Result<Done> measure_blocks(RoundSession& session, std::size_t which, const Round& round, std::uint64_t order_seed,
                              int blocks, RoundWorkload& result);
  // One call of each arm on inputs of the pool that the session has not seen.
  static Result<Done> take_fresh_calls(RoundSession& session, std::size_t which, int block, std::uint64_t round_seed,
                                       std::vector<std::size_t>& unseen);
  // What the claims of a candidate are held against, into the round's environment.
  void note_claims(const RoundSession& session, std::size_t which, Round& round) const;
  // The incumbent in a process without the candidate; its median call, and what only the parent
  // saw, into the round's environment.
  Result<Done> measure_alone(std::size_t which, Round& round, std::uint64_t order_seed, int repetitions);
  // Target cuda: one more block, which CUPTI Activity records and no verdict rests on. Adds each arm's time to the
  // round's environment.
  Result<Done> check_second_clock(RoundSession& session, std::size_t which, int block, Round& round,
                                  std::uint64_t order_seed);

  const Lab& lab_;
  std::vector<TimedWorkload> workloads_;
  JudgeProfile profile_;
  RoundCoins coins_;
  CachePolicy cache_;
  std::vector<int> repetitions_;  // fixed in the first round, 0 before
  int recorded_samples_ = 0;      // by the second clock
  std::string no_second_clock_;   // why; later rounds do not try again
  RoundOptions options_;
  std::string stage_;  // of the last round
  int age_ = 0;        // rounds that the process of the next one has had
  WorkerYard workers_;
  NextTensors tensors_;
  std::vector<std::unique_ptr<RoundSession>> sessions_;  // of each workload, as long as their process lives
};

}  // namespace apo
