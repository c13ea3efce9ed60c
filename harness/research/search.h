// harness/research/search.h - strategies that propose settings of a variant's tunables, on one interface.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/core/records/records.h"

namespace apo {

// Settings that were measured. The effect is a log speed-up over a common reference, so a replay needs no device.
struct MeasuredSettings {
  Settings settings;
  double effect = 0;
};

class SearchStrategy {
 public:
  virtual ~SearchStrategy() = default;
  virtual std::string_view name() const = 0;
  // At most `count` settings that are not in `measured` and not `centre`, the most promising first. Every tunable is
  // stated. Deterministic in its arguments.
  virtual std::vector<Settings> propose(const std::vector<Tunable>& tunables, const Settings& centre,
                                        const std::vector<MeasuredSettings>& measured, std::uint64_t seed,
                                        int count) const = 0;
};

// Takes one step up or down along each tunable from the best measured settings, or from the centre when none is better.
// Values are ordered by size, whatever their order in the file.
class NeighbourhoodSearch : public SearchStrategy {
 public:
  std::string_view name() const override { return "neighbourhood"; }
  std::vector<Settings> propose(const std::vector<Tunable>& tunables, const Settings& centre,
                                const std::vector<MeasuredSettings>& measured, std::uint64_t seed,
                                int count) const override;
};

}  // namespace apo
