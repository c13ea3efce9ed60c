// tests/evaluate/judge/simulation.h - a world of noise in virtual time, in which the production judge is tried.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/comparison.h"
#include "harness/evaluate/judge/preset.h"
#include "kernels/random.h"

namespace apo::simulation {

// What a machine does to the logarithm of a kernel's time. Amplitudes are fractions, times are seconds; 0 switches a
// source off.
struct NoiseModel {
  std::string name;
  double white = 0;
  double correlated = 0, correlation_s = 0.025;                           // Ornstein-Uhlenbeck
  double sine = 0, period_min_s = 2, period_max_s = 60;                   // clock drift
  double drift_per_s = 0;                                                 // of random sign
  double boost_step = 0, boost_dwell_s = 1;                               // telegraph
  double burst_s = 0, quiet_s = 0.2, burst_min = 0.05, burst_max = 0.30;  // a neighbour at work
  double spike_chance = 0, spike_scale = 0, spike_tail = 1.5;             // added, Pareto
  double process_each = 0, process_shared = 0;                            // drawn by each process
  bool process_heavy_tail = false;                                        // Student t with 2 degrees of freedom
  double layout_each = 0;                                       // of each artifact's code: drawn by each process,
  bool layout_fixed = false;                                    // or once a session
  double misaligned_chance = 0, misaligned_cost = 0;            // of each artifact in each process
  double first_call = 0, cold_calls = 0, cold_calls_decay = 3;  // of each artifact
  double process_start = 0, process_start_s = 0.05, session_first_calls = 0;  // in calls' times
  double period4 = 0;                                                         // calls 1 and 2 of every 4
  double slot_bias = 0;                                                       // of slot 1, random sign
  double startup_s = 0.25;                                                    // of a process
  double slow_chance = 0, slow_factor = 1;                                    // of a call of the candidate
  double incumbent_first = 0, candidate_first = 0;                            // as first_call, of one artifact
};

std::vector<NoiseModel> noise_models();                // M0 .. M13 and M8w
const NoiseModel& noise_model(std::string_view name);  // by the part before the space: "M5"

enum class Arm : std::uint8_t { incumbent, candidate };

// One session on such a machine. Its clock only moves when something runs.
class World {
 public:
  // `effect`: the true ln(time of incumbent / time of candidate).
  World(const NoiseModel& model, double call_s, double effect, std::uint64_t seed);

  void start_process();
  void pause(double seconds) { now_s_ += seconds; }
  double call(Arm arm, int slot);  // seconds, as the clock of the worker shows them
  double now_s() const { return now_s_; }
  double kernel_s() const { return kernel_s_; }

 private:
  void draw_layouts();
  double machine_noise();
  double process_noise(Arm arm, int slot);
  double added_time(Arm arm);

  const NoiseModel& model_;
  Random random_;
  double call_s_;
  double effect_;
  double now_s_ = 0;
  double kernel_s_ = 0;
  // Of the session.
  double phase_, angular_, drift_sign_, period4_sign_, slot_sign_;
  bool boosted_ = false, bursting_ = false, fresh_session_ = true;
  double boost_until_s_ = 0, burst_until_s_ = 0, burst_size_ = 0;
  double correlated_ = 0, correlated_at_s_ = 0;
  // Of the process.
  std::array<double, 2> layout_offset_{};
  std::array<double, 2> arm_offset_{};
  std::array<int, 2> arm_calls_{};
  double shared_offset_ = 0, process_started_s_ = 0;
  int calls_ = 0;
};

// Parts of the rule that a test takes away to see what they are good for.
struct Without {
  bool slot_coin = false;
  bool order_coin = false;
  bool robust_centre = false;  // plain means of all runs instead of min-of-2 and midmean
  bool confirmation = false;
  bool untimed_call = false;  // of long calls, of each arm
  bool long_apart = false;    // the time of long calls counts in what makes a round void
};

// How a round of host code is laid out: calls of 2.5 ms, or of a second, of which it has the fewest blocks, behind an
// untimed call of each arm or a block that warms up.
enum class Calls : std::uint8_t { ordinary, long_ones, long_ones_behind_a_block };

struct Trial {
  Verdict verdict = Verdict::inconclusive;
  Reason reason = Reason::unresolved;
  double claimed = 0;
  int processes = 0;
  double kernel_s = 0;
};
// Of a finished comparison.
Trial trial_of(const Judge& judge, double kernel_s);
// One whole comparison by the production code: draws, warm-up, blocks, contrasts, decision,
// guards.
Trial run_trial(const NoiseModel& model, double effect, const JudgePreset& preset, std::uint64_t seed,
                const Without& without = {}, Calls calls = Calls::ordinary);
// The same with the whole rule, for its rounds.
Judge run_comparison(const NoiseModel& model, double effect, const JudgePlan& plan, std::uint64_t seed);

struct Tally {
  int trials = 0;
  int accepted = 0;
  std::map<Reason, int> reasons;
  double claimed_sum = 0;  // of the accepted
  double kernel_s_sum = 0;
  double processes_sum = 0;

  double accept_rate() const { return static_cast<double>(accepted) / trials; }
};
void add_to(Tally& tally, const Trial& trial);
Tally run_trials(const NoiseModel& model, double effect, const JudgePreset& preset, int trials, std::uint64_t seed,
                 const Without& without = {}, Calls calls = Calls::ordinary);

// Wilson's 95 % interval of a rate (Wilson 1927).
struct RateInterval {
  double low = 0;
  double high = 0;
};
RateInterval wilson(int hits, int trials);

}  // namespace apo::simulation
