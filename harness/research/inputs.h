// harness/research/inputs.h - the inputs of the research stage: the profile, the options, the past.
#pragma once

#include <cstdint>
#include <functional>
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
  std::string why_not;                          // when it is not: its apo:requires, its target, ...
  LeftOutKind kind = LeftOutKind::unsupported;  // of why_not
  std::string author;                           // who proposed it; empty: nobody did, it was there
  bool waits = false;                           // a proposal, of any campaign, that was not judged yet
};

// What a proposer of this campaign asked for: settings of a registered variant, or the defaults of a new one.
struct ProposedSettings {
  Configuration configuration;
  std::optional<Prediction> prediction;  // over the incumbent; that of a new variant is in its source
  std::string author;
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
  double seconds = 0;    // that judging it took
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
  std::vector<PastResult> past;  // of this family, the weightiest last
  std::vector<Lesson> lessons;   // those that were reverted against the incumbent's source, and any others
  // Why a variant does not support settings on the workload; "": it does. Empty: all settings are supported.
  std::function<std::string(const Variant&, const Settings&)> unsupported;
  // The blocks that a call on the workload of this name launches, 0 where that is not known. Empty on a host.
  std::function<std::int64_t(const std::string&, const Variant&, const Settings&)> blocks;
  std::int64_t sms = 0;
  double share = 1.0;                 // of the application's time that this kernel takes
  double minimum_detectable = 0.003;  // log effect that this machine resolves
  std::uint64_t seed = 0;             // orders candidates of equal score

  // nullptr where no registered variant has this name.
  const RegisteredVariant* registered(std::string_view id) const;
};

// The part of the GPU's multiprocessors that work on the workload while the busiest of them does, 0..1: blocks over
// rounds times multiprocessors. 1 where the blocks are not known.
double busy_part(const ResearchInputs& inputs, const std::string& workload, const Variant& variant,
                 const Settings& settings);

// `configuration` with every tunable of `variant` stated, but for toggles that are off, so that "defaults left out" and
// "defaults written" are equal.
Configuration normalised(const Configuration& configuration, const Variant& variant);

}  // namespace apo
