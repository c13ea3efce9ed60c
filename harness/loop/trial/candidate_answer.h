// harness/loop/trial/candidate_answer.h - what a candidate is told: of its gates, its judgement and its place.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/records/records.h"
#include "harness/core/words.h"

namespace apo {

enum class CandidateVerdict : std::uint8_t {
  accepted,
  reverted,
  inconclusive,
  ranked,              // timed in a few rounds and not decided
  wrong,               // a gate failed, or it is no valid variant
  incumbent,           // the same code as the incumbent
  not_judged,          // this machine cannot judge it, which says nothing about the candidate
  registered,          // its gates passed, and nothing was to be timed
  already_registered,  // the catalogue has this text
};
APO_WORDS(CandidateVerdict, candidate_verdict_from, accepted, reverted, inconclusive, ranked, wrong, incumbent,
          not_judged, registered, already_registered)
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
  std::string call;  // "norm4(out, inp, N=rows)", where a plain function is not called as the contract has it
  std::string log;   // the compiler's
  std::string path;  // where the catalogue keeps it; empty when it does not
  int version = 1;   // of the texts that this journal has had under the name
};

// Adds verdict, score, gates and feedback of a finished experiment.
void add_experiment(CandidateAnswer& answer, Experiment experiment);

// Adds what its own profile says of a candidate that was timed.
void add_bottlenecks(CandidateAnswer& answer, std::vector<Bottleneck> bottlenecks);

// Marks the answer as not judged, for what this machine lacks.
void fail_for(CandidateAnswer& answer, const EnvironmentError& error);
// Marks the answer as wrong, for what is no valid variant.
void fail_for(CandidateAnswer& answer, const UserError& error);

// Marks the answer as wrong for its last gate, with the compiler's log where it does not build.
void fail_at_gate(CandidateAnswer& answer);

nlohmann::ordered_json to_document(const CandidateAnswer& answer);

}  // namespace apo
