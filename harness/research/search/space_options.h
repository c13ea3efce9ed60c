// harness/research/search/space_options.h - the settings of a variant that are worth a prediction.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/core/records/records.h"

namespace apo {

// Spaces of up to so many legal settings are considered whole.
inline constexpr std::size_t kWholeSpace = 512;
// Of a larger one the model suggests so many.
inline constexpr std::size_t kSuggestions = 8;

// Settings whose effect is known. It is a log speed-up over a common reference.
struct KnownSettings {
  Settings settings;
  double effect = 0;
};

// Returns the whole space of the variant, in the order of its file; of a larger one the legal neighbours of the best
// known settings and the points that the model suggests after `known`. Every tunable is stated. Deterministic in its
// arguments. Empty where more combinations exist than settings_space() gives.
std::vector<Settings> space_options(const Variant& variant, const std::function<bool(const Settings&)>& is_legal,
                                    const std::vector<KnownSettings>& known, std::uint64_t seed);

}  // namespace apo
