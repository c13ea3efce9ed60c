// harness/core/records/research.h - bottlenecks, ranked candidates, left-out candidates, lessons and proposals.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/json/fields.h"
#include "harness/core/records/outcome.h"
#include "harness/core/records/variant.h"
#include "harness/core/techniques/technique.h"
#include "harness/core/text.h"
#include "harness/core/words.h"

namespace apo {

// Says how to read a bottleneck. The most telling kind comes first.
enum class BottleneckKind : std::uint8_t {
  cause,      // seen in itself, in the code or its launch: what is to be changed
  limit,      // what the time goes to, a unit or a wait, whatever the cause
  remainder,  // what nothing else explains, and how certain the rest is
  unknown,    // read from a journal of before kinds were kept
};
APO_WORDS(BottleneckKind, bottleneck_kind_from, cause, limit, remainder, unknown)

struct Bottleneck {
  std::string name;      // "per-step-conversion", "special-functions", "single-thread", ...
  std::string evidence;  // with numbers
  double bound = 1.0;    // the whole speed-up that removing it alone should give: of a limit the most that it could
  BottleneckKind kind = BottleneckKind::limit;
  std::string file;  // of the variant's line that most of the evidence is sampled at; empty where none is known
  int line = 0;
  bool operator==(const Bottleneck&) const = default;
};

enum class Origin : std::uint8_t { registered, tuning, proposer };
APO_WORDS(Origin, origin_from, registered, tuning, proposer)

// A configuration to try next, with the prediction that was made before it was measured.
struct Candidate {
  Configuration configuration;
  std::vector<std::string> techniques;
  Prediction prediction;  // over the incumbent
  std::string attacks;    // the bottleneck's name
  double score = 0;
  std::string why;  // one sentence
  Origin origin = Origin::registered;
  bool operator==(const Candidate&) const = default;
};

enum class LeftOutKind : std::uint8_t {
  other_target,      // it runs elsewhere
  unsupported,       // it does not support the workload
  incumbent,         // it is the incumbent itself
  below_resolution,  // it is predicted to gain less than the machine resolves
  refuted,           // an experiment refuted it, and its lesson still holds
  unknown,           // none of these words stood in the reason when kinds were not yet kept
};
APO_WORDS(LeftOutKind, left_out_kind_from, other_target, unsupported, incumbent, below_resolution, refuted, unknown)

// A candidate that was left out, and why.
struct LeftOut {
  Configuration configuration;
  std::string why;
  LeftOutKind kind = LeftOutKind::unknown;
  bool operator==(const LeftOut&) const = default;
};

// A technique that attacks a bottleneck found here and that no supported variant applies: something to write.
struct Idea {
  Technique technique;  // read from a journal: its name, its effect elsewhere and the source of that
  std::string attacks;  // the bottleneck
  double score = 0;     // saving under the bound x prior / cost
  std::string why_not;  // "it builds on chunk-prefetch, which the incumbent lacks"; empty: nothing is in its way
  bool operator==(const Idea&) const = default;
};

struct ResearchBrief {
  std::vector<Bottleneck> bottlenecks;
  std::vector<Candidate> ranked;
  std::vector<LeftOut> left_out;
  std::vector<Idea> unwritten = {};
  bool operator==(const ResearchBrief&) const = default;
};

// The conditions of a lesson, beside its sources and incumbent. A member is empty where the journal does not tell.
struct LessonCondition {
  std::string model;                   // of the machine
  std::vector<std::string> workloads;  // that it was judged on
  std::string stall;                   // in which most of the incumbent's warps waited: "long_scoreboard"
  double stall_share = 0;              // of the samples
  bool operator==(const LessonCondition&) const = default;
};

// The result of an experiment as knowledge. It holds while source, device model, workload and incumbent stay the same,
// and what the incumbent waits for does.
struct Lesson {
  std::int64_t id = 0;
  std::int64_t experiment = 0;
  std::string family;
  std::string workload_class;
  std::string machine;  // Machine::id
  Configuration configuration;
  std::string source_hash;  // of the candidate
  Configuration incumbent;
  std::string incumbent_source_hash;
  std::vector<std::string> techniques;
  Verdict verdict = Verdict::inconclusive;
  double speedup = 1.0;
  std::string text;                // one sentence with its number and precondition
  LessonCondition condition = {};  // as the journal reads it from the experiment
  bool operator==(const Lesson&) const = default;
};

// "about 2.55x" of a cause, which is often worth more, since what it slowed down beside itself goes with it; "at most
// 1.24x" of others.
inline std::string worth_text(const Bottleneck& bottleneck) {
  return (bottleneck.kind == BottleneckKind::cause ? "about " : "at most ") + format_ratio(bottleneck.bound);
}

// ---- what a proposer answered, and what became of each of its proposals

// The cost that the proposer reports; NaN where it reports none.
struct ProposalCost {
  double tokens = std::numeric_limits<double>::quiet_NaN();
  double usd = std::numeric_limits<double>::quiet_NaN();
  double seconds = std::numeric_limits<double>::quiet_NaN();
  bool operator==(const ProposalCost&) const = default;
};
APO_FIELDS(ProposalCost, tokens, usd, seconds)

enum class ProposalState : std::uint8_t {
  taken,     // into the ranking, to be judged as any other candidate
  repeated,  // the same source, but for comments and blanks, or the same settings, are known
  refused,   // it is no candidate that can be judged here
};
APO_WORDS(ProposalState, proposal_state_from, taken, repeated, refused)

struct Proposal {
  std::string author;
  Configuration configuration;           // without a variant where it could not be read
  std::string idea;                      // one sentence
  std::optional<Prediction> prediction;  // as its author made it
  ProposalState state = ProposalState::taken;
  std::string why;  // it was not taken, with its line of the answer and the name that it has there
  ProposalCost cost;
  bool operator==(const Proposal&) const = default;
};

enum class ProposerOutcome : std::uint8_t {
  answered,
  failed,     // it ended with another exit code than 0, or by a signal
  timed_out,  // it was ended at its deadline
  flooded,    // it printed more than is read
};
APO_WORDS(ProposerOutcome, proposer_outcome_from, answered, failed, timed_out, flooded)

// One run of a proposer. What it had answered before it failed counts.
struct ProposerCall {
  std::int64_t campaign = 0;  // as the journal reads it from the iteration
  std::string command;
  ProposerOutcome outcome = ProposerOutcome::answered;
  std::string note;  // what went wrong, and lines that became no proposal
  double seconds = 0;
  ProposalCost cost;  // of the call, beside what its proposals say
  std::vector<Proposal> proposals;
  bool operator==(const ProposerCall&) const = default;
};

}  // namespace apo
