// harness/core/records/campaign.h - a policy, the campaign under it, and the certificates of its result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/applications/declared_application.h"
#include "harness/core/records/conditions.h"
#include "harness/core/records/machine.h"
#include "harness/core/records/variant.h"
#include "harness/core/words.h"

namespace apo {

// The clock needs this long to settle to the load of an arm.
inline constexpr double kSoloRunSeconds = 2;

// The iterations of a campaign whose candidates somebody named, for `apo try`: nobody resumes it.
inline constexpr int kNamedCandidates = 0;

struct Policy {
  std::string family;
  std::string workload_class;
  std::vector<std::string> workloads;
  std::string baseline;  // variant id
  int iterations = 1;
  int candidates_per_iteration = 3;
  double budget_s = 0;  // 0 = none
  CachePolicy cache_policy = CachePolicy::cold;
  std::string judge_preset = "auto";
  std::uint64_t seed = 0;  // secret until the campaign ends; logged
  Target target = Target::host;
  bool target_named = false;  // by a campaign file: then nothing else chooses it
  // Length of each solo run; a certification makes 24 per workload. 0 means 2 s on a GPU and none on a CPU, because
  // most machines keep their clock. Not stored in the journal.
  double solo_run_s = 0;
  LaunchForm launch = LaunchForm::stream;         // the journal has it with the rounds
  std::optional<Layout> layout = Layout::random;  // nullopt: of a campaign of before it was kept, whose rounds tell
  // The kernels of an application that this family stands for; empty means that the family is the whole
  // application. Not stored in the journal: a resumed campaign reads it from its file.
  std::string application_kernels;
  // Judges what the campaign ends with. Not stored with the campaign either.
  std::optional<DeclaredApplication> application = {};
  bool operator==(const Policy&) const = default;
};

enum class CampaignState : std::uint8_t { open, finished, abandoned };
APO_WORDS(CampaignState, campaign_state_from, open, finished, abandoned)

struct Campaign {
  std::int64_t id = 0;
  Policy policy;
  Configuration baseline;
  std::string machine;
  std::string started_at;
  CampaignState state = CampaignState::open;
  std::string ended_at;  // empty while it is open
  std::string end_note;  // or why it was abandoned
  bool operator==(const Campaign&) const = default;
};

// One arm running alone for seconds, call after call. In interleaved rounds both arms share one clock; here a candidate
// that lowers the clock pays for it alone.
struct SoloRun {
  std::string workload;
  bool candidate = false;
  double seconds = 0;  // of its calls
  double calls = 0;
  double mhz = 0;    // mean clock over the solo run
  int readings = 0;  // of the clock, that the mean is of
  bool operator==(const SoloRun&) const = default;
};

// Says whether the clock depends on the running arm, from blocks of four solo runs. Effects are natural logs of the
// incumbent's cost over the candidate's, as elsewhere.
struct ClockCoupling {
  std::string missing;  // why the clock could not be read, and no solo run was taken; empty when it was
  int blocks = 0;
  double solo_run_s = 0;  // how long each solo run was at least
  double confidence = 0;  // of the two intervals: so few blocks give no more
  double time_effect = 0;
  double time_lower = 0;
  double time_upper = 0;
  double cycle_effect = 0;  // the same in cycles of the clock
  double clock_effect = 0;  // ln(clock with the candidate / clock with the incumbent), which is time less cycles
  double clock_lower = 0;
  double clock_upper = 0;
  bool coupled = false;  // by more than 0.5 %, and beyond that interval: time_effect is what may be quoted
  bool operator==(const ClockCoupling&) const = default;
};

// The effect of a certification that may be published.
struct QuotedEffect {
  double effect = 0;
  double lower = 0;
  double upper = 0;
  double confidence = 0;
};

// The final incumbent against the campaign's own baseline, head to head.
struct Certification {
  std::int64_t id = 0;
  std::int64_t campaign = 0;
  Configuration incumbent;
  Configuration baseline;
  CachePolicy cache_policy = CachePolicy::cold;
  LaunchForm launch = LaunchForm::stream;  // the journal has it with the rounds
  double effect = 0;                       // HL over n = 38 fresh rounds
  double lower = 0;                        // 99.8 % interval
  double upper = 0;
  int rounds = 0;
  double claimed_effect = 0;  // sum of the accepted effects
  bool alarm = false;         // upper < 0.7 x claimed
  double seconds = 0;
  std::string at;
  std::optional<ClockCoupling> clock;  // nullopt: of before solo runs were taken

  bool clock_coupled() const { return clock && clock->coupled; }
  int quoted_count() const;     // what `n=` says: the rounds, or the solo runs
  QuotedEffect quoted() const;  // that of the rounds, or where clock_coupled() that of the solo runs
  bool operator==(const Certification&) const = default;
};

// Prints "copy/b is 1.42x [1.41x, 1.43x] the speed of copy/a, n=38", with a remark on the solo runs where they matter.
std::string certified_text(const Certification& certification);
// Prints that remark alone: "clock-coupled: ...", "whether the final incumbent changes the clock is not known: ...", or
// "".
std::string clock_text(const Certification& certification);

}  // namespace apo
