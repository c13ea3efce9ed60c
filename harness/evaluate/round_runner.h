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
#include "harness/evaluate/next_worker.h"

namespace apo {

// Inputs with their expected outputs; each round of a comparison draws two of them.
using InputPool = std::vector<CheckedPointer>;

// Different regimes' inputs take the same path through a kernel; the pool holds typical ones from secret seeds.
InputPool make_pool(const Lab& lab, const Workload& workload, std::uint64_t seed);

struct TimedArm {
  Configuration configuration;
  Build build;
};

// One workload of a comparison, with both arms built for its axes.
struct TimedWorkload {
  std::string name;
  Axes axes;
  TimedArm incumbent;
  TimedArm candidate;
  InputPool pool;
  double floor_ns = 0;  // no call can be faster: physics of this machine
};

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

 private:
  struct Session;
  // The session of this round: a new process, or a later round of the one that is there.
  Result<Session*> open_session(std::size_t which, Round& round, std::uint64_t order_seed);
  // Of the session that will come after this one, whose process starts ahead.
  std::uint64_t next_layout_seed(std::size_t which, const Round& round) const;
  // Adds what it saw of the device to the round's environment.
  Result<RoundWorkload> measure(std::size_t which, Round& round, std::uint64_t order_seed);
  // The timed blocks, with the looks at outputs among them.
  Result<Done> measure_blocks(Session& session, std::size_t which, const Round& round, std::uint64_t order_seed,
                              int blocks, RoundWorkload& result);
  // One call of each arm on inputs of the pool that the session has not seen.
  static Result<Done> take_fresh_calls(Session& session, std::size_t which, int block, std::uint64_t round_seed,
                                       std::vector<std::size_t>& unseen);
  // What the claims of a candidate are held against, into the round's environment.
  void note_claims(const Session& session, std::size_t which, Round& round) const;
  // The incumbent in a process without the candidate; its median call, and what only the parent
  // saw, into the round's environment.
  Result<Done> measure_alone(std::size_t which, Round& round, std::uint64_t order_seed, int repetitions);
  // Target cuda: one more block, which CUPTI Activity records and no verdict rests on. Adds each arm's time to the
  // round's environment.
  Result<Done> check_second_clock(Session& session, std::size_t which, int block, Round& round,
                                  std::uint64_t order_seed);

  const Lab& lab_;
  std::vector<TimedWorkload> workloads_;
  JudgeProfile profile_;
  std::uint64_t campaign_seed_;
  std::string comparison_;
  CachePolicy cache_;
  std::shared_ptr<ArenaMemory> memory_ = std::make_shared<ArenaMemory>();  // of one round's arena after the other
  std::vector<int> repetitions_;                                           // fixed in the first round, 0 before
  int recorded_samples_ = 0;                                               // by the second clock
  std::string no_second_clock_;                                            // why; later rounds do not try again
  RoundOptions options_;
  int rounds_run_ = 0;
  NextWorker workers_;
  std::vector<std::unique_ptr<Session>> sessions_;  // of each workload, as long as their process lives
};

}  // namespace apo
