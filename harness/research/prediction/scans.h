// harness/research/prediction/scans.h - what scans say of configurations, as effects over one incumbent.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/records/scanned.h"
#include "harness/research/prediction/evidence.h"

namespace apo {

struct ScannedEffect {
  Scanned row;        // the newest of the configuration
  double effect = 0;  // log speed-up over the incumbent; NaN where the outcome is not valid
  double sd = 0;      // of what was measured
};

// What was measured beside another configuration counts where rows connect that one with the incumbent.
class Scans {
 public:
  // `rows` of one place, the oldest first, with their settings normalised as those of `incumbent`.
  Scans(const std::vector<Scanned>& rows, const Subject& incumbent);

  // nullptr: it was not measured.
  const ScannedEffect* find(const Subject& subject) const;
  // The valid ones, the fastest first; then the others, by label.
  std::vector<ScannedEffect> ranked() const;

 private:
  std::map<std::pair<std::string, std::string>, ScannedEffect> newest_;  // by label and source
};

}  // namespace apo
