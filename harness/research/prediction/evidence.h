// harness/research/prediction/evidence.h - past results that still apply to a configuration on this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/research/inputs.h"

namespace apo {

// A configuration of one source text. Two texts under one name are different subjects.
struct Subject {
  Configuration configuration;  // normalised
  std::string source_hash;
  bool operator==(const Subject&) const = default;
};

// The journal's results, and which of them hold for this machine and workload class.
class Evidence {
 public:
  // Normalises settings in `past` and `lessons` with the metadata in `inputs.variants` where the source is the same.
  explicit Evidence(const ResearchInputs& inputs);

  // Returns why `candidate` need not be tried against `incumbent`: on a device of this model a reverted experiment of
  // exactly these two on this workload, while the incumbent waits for the same, or a gate that this source failed. ""
  // when nothing refutes it.
  std::string refuted(const Subject& candidate, const Subject& incumbent) const;
  // Returns what has changed since such an experiment: "experiment 12 refuted it, but the incumbent waited for
  // barriers then and waits for global or local memory now". "" where none is, or it still holds.
  std::string expired(const Subject& candidate, const Subject& incumbent) const;

  // Counts how often this source of this variant was the candidate of an experiment here, timed or not.
  int tries(const std::string& variant, const std::string& source_hash) const;
  // The same for all texts of the variant.
  int tries(const std::string& variant) const;

  // Returns all results, of other machines and classes too; settings are normalised if the source is registered.
  const std::vector<PastResult>& results() const { return results_; }

 private:
  bool is_here(const PastResult& past) const;
  bool is_alike(const std::string& machine, const std::string& model) const;  // a device of this model

  std::string machine_;
  std::string model_;
  std::string workload_class_;
  Profile profile_;  // of the incumbent
  std::vector<PastResult> results_;
  std::vector<Lesson> lessons_;  // of this model and class, and of this workload where theirs is known
};

// The ends of a band, which holds four effects of five, are this many standard deviations from its middle.
inline constexpr double kBandReach = 1.2816;

// Returns whether a judgement was made on this machine and workload, with these caches.
bool is_same_place(const ResearchInputs& inputs, const PastResult& past);
// Returns the standard deviation of its effect here, in logs: that of its interval, and of each difference of place.
double deviation_here(const ResearchInputs& inputs, const PastResult& past);

// Returns "experiments 3, 7".
std::string name_experiments(const std::vector<std::int64_t>& experiments);

// Describes a state of the sampler: "global or local memory" for "long_scoreboard".
std::string waiting_words(const std::string& stall);

// Returns what the incumbent waits for now if its main wait has changed, else "". A state counts as unchanged until its
// share of the samples is less than half of the largest one: nearly equal states swap from profile to profile. Also ""
// if one of the two profiles was not sampled.
std::string changed_stall(const LessonCondition& then, const Profile& now);

}  // namespace apo
