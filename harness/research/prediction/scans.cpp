// harness/research/prediction/scans.cpp - finds the newest row of each configuration, and its effect over the incumbent
// through the rows between them.
#include "harness/research/prediction/scans.h"

#include <algorithm>
#include <cmath>

namespace apo {
namespace {

using Key = std::pair<std::string, std::string>;

Key key_of(const Configuration& configuration, const std::string& source_hash) {
  return {configuration.label(), source_hash};
}

// Configurations that were measured beside each other, as trees: what a path between two has in common with others
// cancels.
class Tree {
 public:
  struct Edge {
    Key reference;
    double effect = 0;  // over it
    double variance = 0;
  };

  // Takes the place of what connected the two before.
  void add(const Key& key, const Edge& edge) {
    make_root(key);
    for (Key at = edge.reference; edges_.contains(at); at = edges_.at(at).reference) {
      if (edges_.at(at).reference == key) {
        edges_.erase(at);
        break;
      }
    }
    edges_[key] = edge;
  }

  void make_root(const Key& key) {
    if (const auto found = edges_.find(key); found != edges_.end()) {
      const Edge edge = found->second;
      edges_.erase(found);
      make_root(edge.reference);
      edges_[edge.reference] = {.reference = key, .effect = -edge.effect, .variance = edge.variance};
    }
  }

  // Over its root, which is the reference.
  Edge over_root(Key key) const {
    Edge sum;
    for (auto found = edges_.find(key); found != edges_.end(); found = edges_.find(key)) {
      sum.effect += found->second.effect;
      sum.variance += found->second.variance;
      key = found->second.reference;
    }
    sum.reference = key;
    return sum;
  }

 private:
  std::map<Key, Edge> edges_;
};

}  // namespace

Scans::Scans(const std::vector<Scanned>& rows, const Subject& incumbent) {
  Tree tree;
  std::map<Key, const Scanned*> newest;
  for (const Scanned& row : rows) {
    const Key key = key_of(row.configuration, row.source_hash);
    const Key beside = key_of(row.incumbent, row.incumbent_source_hash);
    newest[key] = &row;
    if (row.times.outcome == Outcome::valid && key != beside) {
      tree.add(key, {.reference = beside, .effect = row.times.effect, .variance = row.times.sd * row.times.sd});
    }
  }
  const Key root = key_of(incumbent.configuration, incumbent.source_hash);
  tree.make_root(root);
  for (const auto& [key, row] : newest) {
    const Tree::Edge over = tree.over_root(key);
    if (row->times.outcome != Outcome::valid) {
      newest_[key] = {.row = *row, .effect = row->times.effect, .sd = row->times.sd};
    } else if (over.reference == root) {
      newest_[key] = {.row = *row, .effect = over.effect, .sd = std::sqrt(over.variance)};
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
