// harness/research/neighbours.h - settings of a variant that are one step away from the best known ones.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/core/records/records.h"

namespace apo {

// Settings that were measured. The effect is a log speed-up over a common reference, so a replay needs no device.
struct MeasuredSettings {
  Settings settings;
  double effect = 0;
};

// At most `count` settings that are one step up or down along one tunable away from the best of `measured`, or from the
// centre when none is better, and that are neither. Every tunable is stated; values are ordered by size, whatever their
// order in the file. Deterministic in its arguments.
std::vector<Settings> neighbours_of_best(const std::vector<Tunable>& tunables, const Settings& centre,
                                         const std::vector<MeasuredSettings>& measured, std::uint64_t seed, int count);

}  // namespace apo
