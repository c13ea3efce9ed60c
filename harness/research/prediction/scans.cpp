// harness/research/prediction/scans.cpp - finds the newest row of each configuration, and its effect over the incumbent
// through the rows between them.
#include "harness/research/prediction/scans.h"

#include <algorithm>
#include <cmath>

namespace apo {
namespace {

using Key = std::pair<std::string, std::string>;

// The log speed of a configuration, beside others that rows connect it with.
struct Placed {
  int component = 0;
  double speed = 0;
  double variance = 0;
};

Key key_of(const Configuration& configuration, const std::string& source_hash) {
  return {configuration.label(), source_hash};
}

}  // namespace

Scans::Scans(const std::vector<Scanned>& rows, const Subject& incumbent) {
  std::map<Key, Placed> placed;
  std::map<Key, const Scanned*> newest;
  int components = 0;
  for (const Scanned& row : rows) {
    const Key key = key_of(row.configuration, row.source_hash);
    const Key beside = key_of(row.incumbent, row.incumbent_source_hash);
    newest[key] = &row;
    if (row.times.outcome != Outcome::valid) {
      continue;
    }
    const auto [reference, is_new] = placed.try_emplace(beside);
    if (is_new) {
      reference->second.component = components++;
    }
    if (key != beside) {
      const Placed& from = reference->second;
      placed[key] = {.component = from.component,
                     .speed = from.speed + row.times.effect,
                     .variance = from.variance + row.times.sd * row.times.sd};
    }
  }
  const auto own = placed.find(key_of(incumbent.configuration, incumbent.source_hash));
  for (const auto& [key, row] : newest) {
    if (row->times.outcome != Outcome::valid) {
      newest_[key] = {.row = *row, .effect = row->times.effect, .sd = row->times.sd};
      continue;
    }
    const Placed& one = placed.at(key);
    if (own != placed.end() && own->second.component == one.component) {
      newest_[key] = {.row = *row,
                      .effect = one.speed - own->second.speed,
                      .sd = std::max(row->times.sd, std::sqrt(one.variance + own->second.variance))};
    }
  }
}

const ScannedEffect* Scans::find(const Subject& subject) const {
  const auto found = newest_.find(key_of(subject.configuration, subject.source_hash));
  return found == newest_.end() ? nullptr : &found->second;
}

std::vector<ScannedEffect> Scans::ranked() const {
  std::vector<ScannedEffect> all;
  for (const auto& [key, scanned] : newest_) {
    all.push_back(scanned);
  }
  std::ranges::stable_sort(all, {}, [](const ScannedEffect& one) {
    const bool out = one.row.times.outcome != Outcome::valid;
    return std::pair(out, out ? 0 : -one.effect);
  });
  return all;
}

}  // namespace apo
