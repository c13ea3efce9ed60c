// harness/core/records/outcome.h - outcome, verdict and reason of a candidate, and the results of its gates.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/words.h"

namespace apo {

// Outcomes of a candidate, from the cheapest gate to the dearest. Only `valid` has a time.
enum class Outcome : std::uint8_t {
  valid,
  refused,  // its apo:requires or apo_launch says no to this workload
  build_failed,
  no_change,  // machine code identical to the incumbent's
  wrong_abi,
  incorrect,
  faulted,  // signal, abort, exit: the evidence names it
  timed_out,
  out_of_memory,
  unstable_clock,  // the clocks disagree about its calls
  no_metric,       // a command ended well and gave no number, or more than one
  not_finite,      // an application's step has a NaN or an infinity
  left_processes,  // an application ended, and what it started did not
  not_checkable,   // the CPU executor has no equivalent of what the source uses
};
APO_WORDS(Outcome, outcome_from, valid, refused, build_failed, no_change, wrong_abi, incorrect, faulted, timed_out,
          out_of_memory, unstable_clock, no_metric, not_finite, left_processes, not_checkable)

enum class Verdict : std::uint8_t { accepted, reverted, inconclusive };
APO_WORDS(Verdict, verdict_from, accepted, reverted, inconclusive)

// The reason of a verdict, as a word that can be queried.
enum class Reason : std::uint8_t {
  faster,          // both stages passed: accepted
  regression,      // slower beyond the margin
  equivalent,      // inside the equivalence band
  no_gain,         // cannot reach the design effect
  confirm_failed,  // the gain did not come back in fresh processes
  guard_failed,    // one workload or the tail got worse
  gate_failed,     // never timed: `Outcome` says why
  quality_lost,    // the application's quality got worse, whatever its speed
  not_replicated,  // of older journals: accepted on one device, and not on another one of its model
  unresolved,      // the budget ran out before the interval was narrow enough
  ranked,          // timed in a few rounds to be compared with other candidates: no decision was asked for
  noisy,           // the machine was too noisy to judge on
  interrupted,
};
APO_WORDS(Reason, reason_from, faster, regression, equivalent, no_gain, confirm_failed, guard_failed, gate_failed,
          quality_lost, not_replicated, unresolved, ranked, noisy, interrupted)

// The verdict of `apo gate` on one variant.
enum class GateVerdict : std::uint8_t {
  passed,     // not slower than the margin allows, or the same machine code
  regressed,  // slower by more than the margin
  failed,     // a gate before the timing, or a failure while it was timed
  undecided,  // this machine cannot tell, with this margin
};
APO_WORDS(GateVerdict, gate_verdict_from, passed, regressed, failed, undecided)

// A part of a gate, in seconds from the gate's begin. Parts may overlap.
struct GateStep {
  std::string what;
  double begin_s = 0;
  double end_s = 0;
  bool operator==(const GateStep&) const = default;
};

// The largest errors of a candidate's outputs on one workload, over all calls. The relative error of an element is
// relative to max(|reference|, 1e-2), as in SOL-ExecBench.
struct OutputErrors {
  std::string workload;
  double max_absolute = 0;  // of the finite elements
  double max_relative = 0;
  bool has_nan = false;
  bool has_inf = false;
  bool operator==(const OutputErrors&) const = default;
};

// The value of an input where its axes are those of a wrong element.
struct InputValue {
  std::string tensor;
  std::vector<std::int64_t> index = {};
  double value = 0;
  bool operator==(const InputValue&) const = default;
};

// The first element of an output that was out of bounds, with what it was computed from; where no single element is,
// but a unit as a whole, its worst.
struct WrongElement {
  std::string workload = {};
  std::string regime = {};  // of the inputs
  std::uint64_t seed = 0;   // of the inputs; 0: secret, because later experiments get the same
  std::string tensor;
  std::vector<std::string> axes = {};  // "B", "T", as the tensor's shape names them
  std::vector<std::int64_t> index = {};
  double expected = 0;
  double got = 0;
  double bound = 0;                     // of |got - expected|
  std::vector<InputValue> inputs = {};  // at the same indices, of each input whose axes are among these
  bool operator==(const WrongElement&) const = default;
};

// The call at which a gate found an output wrong, so that its inputs can be drawn again.
struct WrongCase {
  std::string workload;
  std::map<std::string, std::int64_t, std::less<>> axes;
  std::string regime;
  std::uint64_t seed = 0;  // of the inputs; 0: secret, because later experiments get the same
  bool operator==(const WrongCase&) const = default;
};

// How large the shapes were that a gate found right. Axis name -> value.
struct CheckedSizes {
  std::map<std::string, std::int64_t, std::less<>> largest;  // the shape with the most elements
  std::int64_t elements = 0;                                 // of all its tensors
  std::map<std::string, std::int64_t, std::less<>> up_to;    // the largest value of each axis, in whatever shape
  bool operator==(const CheckedSizes&) const = default;
};

struct GateResult {
  std::string gate;  // "metadata", "build", "resources", "correctness", "sanitizers", "timing", "confirmation",
                     // "regimes", "history", "baseline", "workers"
  Outcome outcome = Outcome::valid;
  std::string evidence;  // one sentence
  double seconds = 0;
  bool ran = true;                   // false: nothing was checked, and the evidence says why; not kept in the journal
  std::vector<GateStep> steps = {};  // where the time went; not kept in the journal
  std::vector<OutputErrors> errors = {};   // of the gate correctness
  CheckedSizes checked = {};               // of the gate correctness; the journal has it in the evidence
  std::optional<WrongElement> wrong = {};  // where an output was; the journal has it in the evidence
  std::optional<WrongCase> wrong_case = {};
  bool operator==(const GateResult&) const = default;
};

// True for an answer of a gate that the same source gets again. An unstable clock is the machine's, and no change
// against one incumbent says nothing about the next.
constexpr bool is_lasting(Outcome outcome) {
  return outcome != Outcome::valid && outcome != Outcome::unstable_clock && outcome != Outcome::no_change;
}

inline std::string_view outcome_text(const GateResult& gate) {
  return gate.ran ? to_string(gate.outcome) : "not checked";
}

}  // namespace apo
