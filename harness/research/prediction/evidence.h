// harness/research/prediction/evidence.h - what past experiments say about a configuration, as long as nothing it
// depends on changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/research/inputs.h"

namespace apo {

// A configuration of one source text. Two texts under one name are different subjects.
struct Subject {
  Configuration configuration;  // normalised
  std::string source_hash;
  bool operator==(const Subject&) const = default;
};

// The log effect of one subject over another, through one comparison or a chain of them.
struct MeasuredEffect {
  double effect = 0;      // > 0: faster
  double half_width = 0;  // of the interval; for a chain the root of the sum of squares
  std::vector<std::int64_t> experiments;
};

// The journal's results that hold for this machine and workload class.
class Evidence {
 public:
  // Normalises settings in `past` and `lessons` with the metadata in `inputs.variants` where the source is the same.
  explicit Evidence(const ResearchInputs& inputs);

  // Returns the effect of `to` over `from` along the chain of comparisons with the least variance; nullopt when none
  // connects them.
  std::optional<MeasuredEffect> measured(const Subject& from, const Subject& to) const;

  // Returns why `candidate` need not be tried against `incumbent`: a reverted experiment of exactly these two, or a
  // gate that this source failed. "" when nothing refutes it.
  std::string refuted(const Subject& candidate, const Subject& incumbent) const;

  // Counts how often this source of this variant was the candidate of an experiment, timed or not.
  int tries(const std::string& variant, const std::string& source_hash) const;

  // Returns (accepted + 1) / (tried + 2), doubled, so that an untried technique has 1: Laplace's rule against an even
  // chance.
  double track_record(const std::string& technique) const;

  const std::vector<PastResult>& results() const { return results_; }
  // Returns the experiments whose prediction can be scored: timed, and predicted from ideas rather than measurements.
  std::vector<PastResult> scorable() const;

 private:
  struct Edge {
    std::size_t to = 0;
    double effect = 0;
    double half_width = 0;
    std::int64_t experiment = 0;
  };
  // The last step of the least-variance chain that leads to a subject.
  struct Way {
    bool found = false;
    double effect = 0;  // of the whole chain
    double variance = 0;
    std::size_t before = 0;
    std::int64_t experiment = 0;
  };
  std::size_t node(const Subject& subject);
  std::optional<std::size_t> find(const Subject& subject) const;
  // The ways from one subject to each, by number.
  const std::vector<Way>& ways_from(std::size_t from) const;

  std::vector<PastResult> results_;
  std::vector<Lesson> lessons_;
  std::map<std::pair<std::string, std::string>, std::size_t> nodes_;  // label and source: number of the subject
  std::vector<std::vector<Edge>> edges_;                              // of each subject; both directions
  mutable std::map<std::size_t, std::vector<Way>> ways_;              // what was asked before
};

// Returns "experiments 3, 7".
std::string name_experiments(const std::vector<std::int64_t>& experiments);

}  // namespace apo
