// harness/loop/trial/candidate_answer.h - the answer for one candidate: a verdict in one word, a score, and feedback.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/records/records.h"
#include "harness/loop/trial/trial.h"

namespace apo {

enum class CandidateVerdict : std::uint8_t {
  accepted,
  reverted,
  inconclusive,
  ranked,      // timed in a few rounds and not decided
  wrong,       // a gate failed, or it is no valid variant
  incumbent,   // the same code as the incumbent
  not_judged,  // this machine cannot judge it, which says nothing about the candidate
};
std::string_view to_string(CandidateVerdict verdict);
// Returns the verdict on the candidate of a finished experiment.
CandidateVerdict verdict_of(const Experiment& experiment);

struct CandidateAnswer {
  std::string variant;
  CandidateVerdict verdict = CandidateVerdict::not_judged;
  double score = 0;  // the lower end of the speed-up's interval; 0 where nothing right was judged
  std::string incumbent;
  std::vector<GateResult> gates;
  std::optional<Experiment> experiment;
  std::vector<Bottleneck> bottlenecks;  // of the candidate, where it was timed
  std::vector<std::string> feedback;
};

// Adds verdict, score, gates and feedback of an experiment of this trial.
void add_experiment(CandidateAnswer& answer, const Variant& variant, Experiment experiment, Trial& trial);

// Adds what its own profile says of a candidate that was timed.
void add_bottlenecks(CandidateAnswer& answer, std::vector<Bottleneck> bottlenecks);

// Marks the answer as not judged, for what this machine lacks.
void fail_for(CandidateAnswer& answer, const EnvironmentError& error);
// Marks the answer as wrong, for what is no valid variant.
void fail_for(CandidateAnswer& answer, const UserError& error);

// Marks the answer as wrong for its last gate; `log` is the compiler's.
void fail_at_gate(CandidateAnswer& answer, const std::string& log);

nlohmann::ordered_json to_document(const CandidateAnswer& answer);

}  // namespace apo
