// harness/research/inputs.h - the inputs of the research stage: the profile, the options, the past.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/research/diagnosis/diagnosis.h"

namespace apo {

// One variant that could be tried on the workload.
struct RegisteredVariant {
  Variant variant;
  bool supported = true;
  std::string why_not;                          // if unsupported: its apo:requires, its target, ...
  LeftOutKind kind = LeftOutKind::unsupported;  // of why_not
  std::string author;                           // of the proposal; empty: it is none
  bool waits = false;                           // an unjudged proposal of any campaign
};

// Settings that a proposer of this campaign asked for: of a registered variant, or the defaults of a new one.
struct ProposedSettings {
  Configuration configuration;
  std::optional<Prediction> prediction;  // over the incumbent; that of a new variant is in its source
};

// One finished experiment of the journal. Effects are natural logs of time(incumbent) / time(candidate).
struct PastResult {
  std::int64_t experiment = 0;
  std::string machine;  // Machine::id
  std::string model;    // of that machine
  std::string isa;      // of that machine: "sm_90", "avx2"
  std::string workload_class;
  std::string workload;  // the first one that it was judged on; "": not known
  std::optional<CachePolicy> cache;
  Configuration candidate;
  Configuration incumbent;
  std::string candidate_source_hash;
  std::string incumbent_source_hash;
  std::vector<std::string> techniques;  // of the candidate
  Prediction prediction;                // over the incumbent, made before
  Outcome outcome = Outcome::valid;
  Verdict verdict = Verdict::inconclusive;
  bool timed = false;  // effect, lower and upper were measured
  double effect = 0;
  double lower = 0;
  double upper = 0;
  std::string evidence;  // of the gate that stopped it
  std::string sentence;  // of the verdict
};

PastResult past_result(const Experiment& experiment, const Machine& machine);

struct ResearchInputs {
  Diagnosis diagnosis;  // of the incumbent; diagnosis.incumbent is its variant
  Configuration incumbent;
  std::string machine;  // Machine::id
  std::string model;    // of this machine
  std::string isa;
  std::string workload_class;
  std::optional<CachePolicy> cache;         // under which candidates will be judged
  std::vector<RegisteredVariant> variants;  // the incumbent's may be among them; its ancestors should be
  std::vector<ProposedSettings> proposed;
  std::vector<PastResult> past;       // of this family, the weightiest last
  std::vector<Scanned> scanned;       // on this machine and workload, the oldest first, with normalised settings
  std::vector<Lesson> lessons;        // those that were reverted against the incumbent's source, and any others
  std::int64_t sms = 0;               // of a GPU
  double share = 1.0;                 // of the application's time that this kernel takes
  double minimum_detectable = 0.003;  // log effect that this machine resolves
  std::uint64_t seed = 0;             // orders candidates of equal score

  // Returns nullptr if no registered variant has this name.
  const RegisteredVariant* registered(std::string_view id) const;
};

// Returns `configuration` with every tunable of `variant` stated, except toggles that are off: omitted defaults and
// written ones are then equal.
Configuration normalised(const Configuration& configuration, const Variant& variant);

}  // namespace apo
