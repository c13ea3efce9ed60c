// harness/evaluate/judge_profile.cpp - the published profiles and the choice among them.
#include "harness/evaluate/judge_profile.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace apo {
namespace {

// What a machine must be able to resolve, as the standard deviation of the round effects of identical code.
constexpr double kPreciseSd = 0.0005;
constexpr double kStandardSd = 0.009;
constexpr double kExtendedSd = 0.02;

const std::vector<Look> kStandardLooks = {{14, 0.001}, {22, 0.002}, {30, 0.003}, {38, 0.004}};
const std::vector<Look> kExtendedLooks = {{14, 0.001}, {22, 0.0015}, {30, 0.002}, {38, 0.0025},
                                          {60, 0.001}, {90, 0.001},  {128, 0.001}};

std::string percent(double fraction) {
  return format_g(100 * fraction, 3) + " %";
}

}  // namespace

JudgeProfile standard_profile() {
  return {.name = "standard", .note = {}, .looks = kStandardLooks};
}

JudgeProfile extended_profile() {
  JudgeProfile profile = standard_profile();
  profile.name = "extended";
  profile.looks = kExtendedLooks;
  profile.confirm_max = 90;
  return profile;
}

JudgeProfile strict_profile() {
  JudgeProfile profile = standard_profile();
  profile.name = "strict";
  profile.looks = {{14, 0.001}, {28, 0.002}, {44, 0.003}, {66, 0.004}};
  profile.margin = 0.005;
  profile.confirm_factor = 8.5;
  profile.confirm_max = 40;
  return profile;
}

JudgeProfile strict_extended_profile() {
  JudgeProfile profile = strict_profile();
  profile.name = "strict-extended";
  profile.looks = kExtendedLooks;
  profile.confirm_max = 90;
  return profile;
}

JudgeProfile precise_profile() {
  JudgeProfile profile = standard_profile();
  profile.name = "precise";
  profile.margin = 0.001;
  profile.design_effect = 0.003;
  profile.equivalence_band = 0.002;
  profile.round_s = 0.050;  // starting the process is the cost there, not measuring
  return profile;
}

JudgeProfile profile_named(std::string_view name) {
  const std::array<JudgeProfile, 5> profiles = {standard_profile(), extended_profile(), strict_profile(),
                                                strict_extended_profile(), precise_profile()};
  std::vector<std::string> names;
  for (const JudgeProfile& profile : profiles) {
    if (profile.name == name) {
      return profile;
    }
    names.push_back(profile.name);
  }
  throw UserError("unknown judge profile '" + std::string(name) + "'",
                  did_you_mean(name, names) + " known: " + join(names, ", "));
}

JudgeProfile choose_profile(double sentinel_sd, LayoutControl layout) {
  if (!std::isfinite(sentinel_sd) || sentinel_sd < 0) {
    throw UserError("the sentinel's standard deviation is not a number >= 0", "run the sentinel again: apo selftest");
  }
  const bool quiet = sentinel_sd <= kStandardSd;
  JudgeProfile profile = quiet ? standard_profile() : extended_profile();
  if (layout == LayoutControl::none) {
    profile = quiet ? strict_profile() : strict_extended_profile();
  } else if (layout == LayoutControl::redrawn && sentinel_sd <= kPreciseSd) {
    profile = precise_profile();
  }
  profile.note = "identical code differs by sd " + percent(sentinel_sd) + " a round here";
  if (sentinel_sd > kExtendedSd) {
    profile.minimum_claim = 0.0025 + 0.85 * sentinel_sd;
    profile.note += ": refuse claims below " + percent(profile.minimum_claim);
  }
  return profile;
}

}  // namespace apo
