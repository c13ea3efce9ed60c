// harness/evaluate/judge/preset.h - the numbers of the decision rule, fixed before a comparison starts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace apo {

// Changes whenever the same raw samples could give another verdict.
inline constexpr std::string_view kRuleVersion = "apo-judge-6";

// The search stage may accept at `rounds` rounds when the lower bound at level `alpha` clears the margin.
struct Look {
  int rounds = 0;
  double alpha = 0;
};

// Effects are natural logs of time(incumbent) / time(candidate): 0.01 is about 1 % faster.
struct JudgePreset {
  std::string name;
  std::string note;  // why this preset, for people; empty when it was named by hand

  std::vector<Look> looks;
  double margin = 0.003;          // a gain below this is not worth an accept
  double design_effect = 0.01;    // the gain that the plan is made to find
  double futility_alpha = 0.004;  // stop when the upper bound at this level is below the design effect
  double regression_alpha = 0.005;
  double equivalence_alpha = 0.01;
  double equivalence_band = 0.005;

  double confirm_factor = 6.5;
  int confirm_min = 14;
  int confirm_max = 22;
  double confirm_alpha = 0.01;    // for the first 50 candidates of a campaign, see confirm_alpha()
  double pause_s = 2;             // before the confirmation
  double interval_alpha = 0.01;   // each side of the interval that is shown
  double minimum_claim = 0;       // on noisy machines: smaller gains are not accepted
  bool claims_by_rounds = false;  // the noise is that of the comparison's own rounds, most of them

  double guard_margin = 0.01;  // no workload and no tail may lose more
  double guard_alpha = 0.01;

  // Kernel time of one workload in one round, warm-up included; on a host the time of its windows and of what comes
  // before each.
  double round_s = 0.165;
  int blocks_min = 6;
  int blocks_max = 40;
  // Windows are the samples of host code. The hand-over of a window takes some 20 us, which are subtracted. Other
  // programs on the CPU interrupt long windows more often, so many short ones are better than a few long ones.
  double window_s = 0.00015;
  int window_blocks_min = 2;
  int window_blocks_max = 20;
  double long_round_s = 2;  // calls of the incumbent are long that take more in the fewest blocks and a warm-up
  double warmup_min_s = 0.020;
  int warmup_min_blocks = 2;
  int warmup_max_blocks = 8;
  double warmup_change = 0.02;  // |S_k / S_(k-1) - 1|
  double warmup_spread = 1.03;  // S_k / min S

  bool ranks_only = false;  // gives an interval after the last look, and never a decision

  double void_fraction = 0.2;  // more void rounds than this: too noisy to judge
  // The arms of a block share the clock, and a GPU at its limit of power changes it by up to that in a tenth of a
  // second.
  double clock_change = 0.25;
  double slow_round = 4;  // times the median round
};

JudgePreset standard_preset();  // 10 s of kernel time
JudgePreset extended_preset();  // more rounds, for noisy machines
JudgePreset strict_preset();    // wider margin, where code layouts cannot be equalised
JudgePreset strict_extended_preset();
JudgePreset precise_preset();  // for machines that resolve 0.05 %, layouts drawn anew

// Six rounds, which give a 95 % interval: enough to rank candidates, and no decision.
inline constexpr std::string_view kQuickPreset = "quick";
inline constexpr std::string_view kAutoPreset = "auto";  // the word for: chosen by the measured noise
JudgePreset quick_preset();

// Finds a preset that decides by the name that a judgement records. Throws UserError with the known names.
JudgePreset preset_named(std::string_view name);
// The same, and "quick".
JudgePreset any_preset_named(std::string_view name);

// Both for what a person asks for: nullopt for "auto", which leaves the choice to the measured noise.
std::optional<JudgePreset> asked_preset(std::string_view word);
std::optional<JudgePreset> any_asked_preset(std::string_view word);

// How the placement of code is controlled.
enum class LayoutControl : std::uint8_t { none, aligned, redrawn };

// The smallest gain that may be claimed where identical code differs by this standard deviation a round; 0: any.
double smallest_claim(double sd);

// Chooses from the last sentinel's standard deviation of round effects, before the comparison. Throws UserError unless
// that is a number >= 0.
JudgePreset choose_preset(double sentinel_sd, LayoutControl layout);
// Where the sentinel was of a smaller workload: nothing is known of the rounds' own spread before.
JudgePreset preset_for_unknown_spread(LayoutControl layout);

}  // namespace apo
