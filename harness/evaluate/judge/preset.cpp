// harness/evaluate/judge/preset.cpp - the published presets and the choice among them.
#include "harness/evaluate/judge/preset.h"

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

JudgePreset standard_preset() {
  return {.name = "standard", .note = {}, .looks = kStandardLooks};
}

JudgePreset extended_preset() {
  JudgePreset preset = standard_preset();
  preset.name = "extended";
  preset.looks = kExtendedLooks;
  preset.confirm_max = 90;
  return preset;
}

JudgePreset strict_preset() {
  JudgePreset preset = standard_preset();
  preset.name = "strict";
  preset.looks = {{14, 0.001}, {28, 0.002}, {44, 0.003}, {66, 0.004}};
  preset.margin = 0.005;
  preset.confirm_factor = 8.5;
  preset.confirm_max = 40;
  return preset;
}

JudgePreset strict_extended_preset() {
  JudgePreset preset = strict_preset();
  preset.name = "strict-extended";
  preset.looks = kExtendedLooks;
  preset.confirm_max = 90;
  return preset;
}

JudgePreset precise_preset() {
  JudgePreset preset = standard_preset();
  preset.name = "precise";
  preset.margin = 0.001;
  preset.design_effect = 0.003;
  preset.equivalence_band = 0.002;
  preset.round_s = 0.050;  // starting the process is the cost there, not measuring
  return preset;
}

JudgePreset quick_preset() {
  JudgePreset preset = standard_preset();
  preset.name = kQuickPreset;
  // The smallest of six effects is a lower bound at 1/64, which is below 0.025; five give no interval of 95 %.
  preset.looks = {{6, 0.025}};
  preset.interval_alpha = 0.025;
  preset.ranks_only = true;
  return preset;
}

JudgePreset any_preset_named(std::string_view name) {
  return name == kQuickPreset ? quick_preset() : preset_named(name);
}

std::optional<JudgePreset> asked_preset(std::string_view word) {
  return word == kAutoPreset ? std::nullopt : std::optional(preset_named(word));
}

std::optional<JudgePreset> any_asked_preset(std::string_view word) {
  return word == kAutoPreset ? std::nullopt : std::optional(any_preset_named(word));
}

JudgePreset preset_named(std::string_view name) {
  const std::array<JudgePreset, 5> presets = {standard_preset(), extended_preset(), strict_preset(),
                                              strict_extended_preset(), precise_preset()};
  std::vector<std::string> names;
  for (const JudgePreset& preset : presets) {
    if (preset.name == name) {
      return preset;
    }
    names.push_back(preset.name);
  }
  throw UserError("unknown judge preset '" + std::string(name) + "'",
                  did_you_mean(name, names) + " known: " + join(names, ", "));
}

double smallest_claim(double sd) {
  return sd > kExtendedSd ? 0.0025 + 0.85 * sd : 0;
}

JudgePreset choose_preset(double sentinel_sd, LayoutControl layout) {
  if (!std::isfinite(sentinel_sd) || sentinel_sd < 0) {
    throw UserError("the sentinel's standard deviation is not a number >= 0", "run the sentinel again: apo selftest");
  }
  const bool quiet = sentinel_sd <= kStandardSd;
  JudgePreset preset = quiet ? standard_preset() : extended_preset();
  if (layout == LayoutControl::none) {
    preset = quiet ? strict_preset() : strict_extended_preset();
  } else if (layout == LayoutControl::redrawn && sentinel_sd <= kPreciseSd) {
    preset = precise_preset();
  }
  preset.note = "identical code differs by sd " + percent(sentinel_sd) + " a round here";
  preset.minimum_claim = smallest_claim(sentinel_sd);
  if (preset.minimum_claim > 0) {
    preset.note += ": refuse claims below " + percent(preset.minimum_claim);
  }
  return preset;
}

JudgePreset preset_for_unknown_spread(LayoutControl layout) {
  JudgePreset preset = layout == LayoutControl::none ? strict_extended_preset() : extended_preset();
  preset.claims_by_rounds = true;
  preset.note = "the A/A run was on a small workload, as calls are long";
  return preset;
}

}  // namespace apo
