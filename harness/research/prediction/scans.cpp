// harness/research/prediction/scans.cpp - finds the newest row of each configuration and relates it to the incumbent.
#include "harness/research/prediction/scans.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace apo {
namespace {

using Key = std::pair<std::string, std::string>;

struct Link {  // from a row's incumbent to today's
  double effect = 0;
  double sd = 0;
};

Key key_of(const Configuration& configuration, const std::string& source_hash) {
  return {configuration.label(), source_hash};
}

}  // namespace

Scans::Scans(const std::vector<Scanned>& rows, const Subject& incumbent) {
  const Key own = key_of(incumbent.configuration, incumbent.source_hash);
  std::map<Key, Link> links = {{own, {}}};
  for (const Scanned& row : rows) {
    const Key beside = key_of(row.incumbent, row.incumbent_source_hash);
    if (key_of(row.configuration, row.source_hash) == own && beside != own && row.times.outcome == Outcome::valid) {
      links[beside] = {.effect = row.times.effect, .sd = row.times.sd};
    }
  }
  for (const Scanned& row : rows) {
    const auto link = links.find(key_of(row.incumbent, row.incumbent_source_hash));
    const bool valid = row.times.outcome == Outcome::valid;
    if (valid && link == links.end()) {
      continue;
    }
    newest_[key_of(row.configuration, row.source_hash)] = {
        .row = row,
        .effect = valid ? row.times.effect - link->second.effect : row.times.effect,
        .sd = valid ? std::hypot(row.times.sd, link->second.sd) : row.times.sd};
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
