// harness/core/records/research.h - bottlenecks, ranked candidates, left-out candidates, and lessons.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/outcome.h"
#include "harness/core/records/variant.h"

namespace apo {

// How a bottleneck is to be read, the most telling first.
enum class BottleneckKind : std::uint8_t {
  cause,      // seen in itself, in the code or its launch: what is to be changed
  limit,      // what the time goes to, a unit or a wait, whatever the cause
  remainder,  // what nothing else explains, and how certain the rest is
  unknown,    // read from a journal of before kinds were kept
};

struct Bottleneck {
  std::string name;      // "per-step-conversion", "special-functions", "single-thread", ...
  std::string evidence;  // with numbers
  double bound = 1.0;    // the whole speed-up that removing it could give at most
  BottleneckKind kind = BottleneckKind::limit;
  std::string file;  // of the variant's line that most of the evidence is sampled at; empty where none is known
  int line = 0;
};

enum class Origin : std::uint8_t { registered, tuning, proposer };
std::string_view to_string(Origin origin);
std::optional<Origin> origin_from(std::string_view word);

// What could be tried next, with the prediction that was made before it was measured.
struct Candidate {
  Configuration configuration;
  std::vector<std::string> techniques;
  Prediction prediction;  // over the incumbent
  std::string attacks;    // the bottleneck's name
  double score = 0;
  std::string why;  // one sentence
  Origin origin = Origin::registered;
};

// A candidate that was left out, and why (a lesson that still holds, a constraint, ...).
enum class LeftOutReason : std::uint8_t { incumbent, refuted, too_small, unsupported };

struct LeftOut {
  Configuration configuration;
  std::string why;
  LeftOutReason reason = LeftOutReason::too_small;  // not kept in a journal
};

struct ResearchBrief {
  std::vector<Bottleneck> bottlenecks;
  std::vector<Candidate> ranked;
  std::vector<LeftOut> left_out;
};

// What an experiment taught. It holds while source, device, workload class, and incumbent stay what they were.
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
  std::string text;  // one sentence with its number and precondition
};

std::string_view to_string(BottleneckKind kind);
BottleneckKind bottleneck_kind_from(std::string_view text);  // unknown for any other word

}  // namespace apo
