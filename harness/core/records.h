// harness/core/records.h - the plain structs that stages exchange and the journal keeps.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/device.h"
#include "kernels/family.h"

namespace apo {

// ---------------------------------------------------------------- where and with what

// The device a number was measured on. On host: this CPU and what limits it.
struct Machine {
  Target target = Target::host;
  std::string id;        // stable key: GPU UUID, or a hash of the CPU facts below and the machine id
  std::string model;     // "Intel(R) Xeon(R) Processor" or "NVIDIA H200"
  int cores = 0;         // CPUs this process may use, or SMs
  std::string kernel;    // uname -r
  std::string governor;  // CPU frequency governor, "unknown" where the kernel does not say
  std::string isa;       // "avx512", "avx2", "sse2", or "sm_90"
  std::string driver;    // GPU driver, empty on host
  std::int64_t l2_bytes = 0;
  std::int64_t l3_bytes = 0;
  std::int64_t memory_bytes = 0;
  std::map<std::string, std::string> facts;  // whatever else belongs to the fingerprint
};

struct Toolchain {
  std::string compiler;  // absolute path
  std::string version;   // first line of --version
};

// ---------------------------------------------------------------- variants and configurations

struct Tunable {
  std::string name;
  std::vector<std::int64_t> values;  // the first one is the default
};

struct ScratchBuffer {
  std::string name;
  std::string bytes;  // expression over axes and tunables
};

struct Launch {
  std::string kernel;
  std::map<std::string, std::string> attributes;  // grid, block, shared, cluster, ... as written
};

// The predicted effect over `relative_to` ("parent" or a variant name), as a speed-up ratio band.
struct Prediction {
  double low = 1.0;
  double high = 1.0;
  std::string relative_to = "parent";
  std::string because;
};

// The metadata block at the top of a variant's file.
struct Variant {
  std::string family;
  std::string name;  // without the family
  Target target = Target::host;
  std::string arch;                     // "sm_80" or empty
  std::vector<std::string> techniques;  // at least one
  std::string parent;                   // "<family>/<name>" or empty
  std::string idea;
  std::optional<Prediction> prediction;
  std::string requires_expression;  // empty = always
  std::vector<Tunable> tunables;
  std::vector<ScratchBuffer> scratch;
  std::vector<Launch> launches;
  std::vector<std::string> libraries;  // of the CUDA toolkit, that a library variant is linked with
  std::string path;                    // absolute
  std::string source;                  // the whole file
  std::string source_hash;             // sha256 of it

  std::string id() const { return family + "/" + name; }
};

using Settings = std::map<std::string, std::int64_t, std::less<>>;  // tunable -> value

// A variant with its tunables fixed.
struct Configuration {
  std::string variant;  // "<family>/<name>"
  Settings settings;

  // "e88_backward/chunk_prefetch" or "e88_backward/chunk_prefetch[CHUNK=16]"
  std::string label() const;
  bool operator==(const Configuration&) const = default;
};

// ---------------------------------------------------------------- outcomes

// What happened to a candidate, from cheapest gate to dearest. Only `valid` has a time.
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
};

enum class Verdict : std::uint8_t { accepted, reverted, inconclusive };

// Why, as a word that can be queried.
enum class Reason : std::uint8_t {
  faster,          // both stages passed: accepted
  regression,      // slower beyond the margin
  equivalent,      // inside the equivalence band
  no_gain,         // cannot reach the design effect
  confirm_failed,  // the gain did not come back in fresh processes
  guard_failed,    // one workload or the tail got worse
  gate_failed,     // never timed: `Outcome` says why
  unresolved,      // the budget ran out before the interval was narrow enough
  noisy,           // the machine was too noisy to judge on
  interrupted,
};

// A part of a gate, in seconds from the gate's begin. Parts may overlap.
struct GateStep {
  std::string what;
  double begin_s = 0;
  double end_s = 0;
};

struct GateResult {
  std::string
      gate;  // "metadata", "build", "resources", "correctness", "sanitizers", "timing", "confirmation", "baseline"
  Outcome outcome = Outcome::valid;
  std::string evidence;  // one sentence
  double seconds = 0;
  std::vector<GateStep> steps = {};  // where the time went; not kept in the journal
};

// ---------------------------------------------------------------- builds

struct Build {
  std::string key;  // content address: name + compiler version + flags + code
  Outcome outcome = Outcome::valid;
  std::string object_path;  // shared object (host) or cubin (cuda); empty when it failed
  std::string object_hash;  // sha256 of the file
  std::string code_hash;    // sha256 of the machine code and read-only data only
  std::vector<std::string> flags;
  Toolchain toolchain;
  std::string log;       // the compiler's output, kept for a success too
  std::string evidence;  // one sentence when it failed: the first error
  double seconds = 0;
  bool from_cache = false;
  std::map<std::string, std::int64_t> resources;  // text_bytes, rodata_bytes, ... ; registers, spills on cuda
  LaunchPlan plan;                                // device variants: how its kernels are launched
};

// ---------------------------------------------------------------- judgement

// One call inside a block, in nanoseconds, as the worker's clock saw it.
struct Sample {
  int slot = 0;  // 0 or 1, the neutral one; the round's coin says which arm that was
  std::int64_t ns = 0;
};

// Two of each slot, in coin order.
struct Block {
  std::vector<Sample> samples;  // 4
};

// One workload inside one round.
struct RoundWorkload {
  std::string workload;
  int repetitions = 1;  // r: calls in one sample
  std::vector<Block> warmup;
  std::vector<Block> blocks;    // K
  double effect = 0;            // d_iw = midmean of contrasts; > 0: candidate faster
  double incumbent_p90_ns = 0;  // tail guard
  double candidate_p90_ns = 0;
  double incumbent_median_ns = 0;  // of one call, for people; never used by the rule
  double candidate_median_ns = 0;
};

// One fresh process; one number d_i.
struct Round {
  std::string stage;  // "search", "confirm", "certify", "sentinel"
  int index = 0;
  std::uint64_t seed = 0;
  bool candidate_in_slot0 = false;
  std::vector<RoundWorkload> workloads;
  double effect = 0;                          // mean over workloads of effect
  std::string void_why;                       // empty = counts
  double seconds = 0;                         // wall time of the round
  std::map<std::string, double> environment;  // steal_percent, mhz_before, ... label-blind evidence
};

// The figures of a paired comparison. Effects are natural logs of time(incumbent)/time(candidate).
struct Judgement {
  Verdict verdict = Verdict::inconclusive;
  Reason reason = Reason::unresolved;
  std::string sentence;  // one sentence for people
  double effect = 0;     // HL of the stage that may be claimed (confirmation if it ran, else search)
  double lower = 0;      // interval of that stage
  double upper = 0;
  double confidence = 0.98;       // of that interval
  int rounds = 0;                 // valid rounds of that stage
  int processes = 0;              // fresh processes over all stages, voids included
  int samples = 0;                // timed samples over all stages
  double seconds = 0;             // wall
  double search_effect = 0;       // never quoted as a claim
  double alpha = 0;               // confirmation level that was used
  double minimum_detectable = 0;  // log effect this comparison could have resolved
  double incumbent_ns = 0;        // median of one call, geometric mean over workloads
  double candidate_ns = 0;
  std::string profile;       // "standard", "extended", "strict", "precise"
  std::string cache_policy;  // "cold" or "warm"
  std::string rule_version;
  double minimum_claim = 0;  // log effect below which claims were refused because of noise; 0 = none

  double speedup() const;        // exp(effect)
  double speedup_lower() const;  // exp(lower)
  double speedup_upper() const;
};

// ---------------------------------------------------------------- profile

// One measured quantity with its unit; interval where one was estimated.
struct Metric {
  std::string name;  // "time", "gflops", "gb_per_s", "special_per_s", "instructions", ...
  double value = 0;
  std::string unit;
  std::optional<double> lower;
  std::optional<double> upper;
  int samples = 0;
};

// A rate that this machine was measured to reach; the ceiling of a roofline.
struct Roof {
  std::string name;  // "fp32_fma", "memory_copy", "special_tanh", ...
  double value = 0;
  std::string unit;  // "flop/s", "byte/s", "op/s"
  double lower = 0;
  double upper = 0;
  int samples = 0;
  std::string note;  // how it was measured: sizes, threads, instruction set
};

// Warps that the GPU's sampler found at one instruction in one state.
struct StallSample {
  std::string kernel;
  std::int64_t pc_offset = 0;  // bytes from the kernel's begin
  std::string file;            // without its folder; empty where the cubin has no line for it
  int line = 0;
  std::string stall;  // "barrier", "long_scoreboard", ...; "selected" when it issued
  std::int64_t samples = 0;
  // The instruction that holds the warp up, where the machine code tells: the load that it waits for, the barrier that
  // it stands behind. Else the sampled one.
  std::string opcode;  // "LDG", "BAR", ...; "" for the many that no diagnosis asks for
  std::string cause_file;
  int cause_line = 0;
  bool operator==(const StallSample&) const = default;
};

// What a line was counted to waste or to do in one call, exactly.
struct LineCount {
  std::string what;  // "excess_sectors", "local_sectors", "excess_wavefronts", "divergent_branches", "idle_lanes",
                     // "atomics", "barriers"
  std::string file;
  int line = 0;
  std::int64_t count = 0;
};

// The text of a line that has samples.
struct SourceLine {
  std::string file;
  int line = 0;
  std::string text;
  bool operator==(const SourceLine&) const = default;
};

struct Profile {
  Configuration configuration;
  std::string workload;
  std::string rung;     // "perf_event counters", "timers"; on cuda "counters+pc", "counters", "activity", "events"
  std::string missing;  // which better rung was not there, and why; empty when none
  std::vector<Metric> metrics;
  std::vector<Roof> roofs;
  double floor_ns = 0;              // max over roofs of work / roof
  std::string floor_roof;           // which roof binds
  double time_ns = 0;               // median of one call
  double floor_fraction = 0;        // floor_ns / time_ns
  std::string conditions;           // how the counters were read: state of the caches, passes; empty without counters
  std::vector<StallSample> stalls;  // the most frequent first
  std::vector<SourceLine> lines;    // of `stalls`
  std::vector<LineCount> counts;    // the largest of each kind first

  // NaN when absent.
  double metric(const std::string& name) const;
};

// ---------------------------------------------------------------- research

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

// What could be tried next, with the prediction that was made before it was measured.
struct Candidate {
  Configuration configuration;
  std::vector<std::string> techniques;
  Prediction prediction;  // over the incumbent
  std::string attacks;    // the bottleneck's name
  double score = 0;
  std::string why;     // one sentence
  std::string origin;  // "registered", "tuning", "proposer"
};

// A candidate that was left out, and why (a lesson that still holds, a constraint, ...).
struct LeftOut {
  Configuration configuration;
  std::string why;
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

// ---------------------------------------------------------------- experiments and campaigns

struct Experiment {
  std::int64_t id = 0;
  std::int64_t iteration = 0;  // journal id; 0 outside a campaign (apo compare)
  std::int64_t campaign = 0;
  int index = 0;  // j: counts every timed candidate of the campaign, from 1
  std::string family;
  std::string workload_class;
  std::vector<std::string> workloads;
  Configuration candidate;
  Configuration incumbent;
  std::string candidate_source_hash;
  std::string incumbent_source_hash;
  std::vector<std::string> techniques;
  Prediction prediction;  // over the incumbent, written before measuring
  Build candidate_build;
  Build incumbent_build;
  std::vector<GateResult> gates;
  std::vector<Round> rounds;
  std::optional<Judgement> judgement;  // absent while under way
  Outcome outcome = Outcome::valid;
  std::string started_at;  // ISO 8601 UTC
  std::string finished_at;
  std::string machine;  // Machine::id; where it was measured, empty at first = the campaign's
};

// What the clock needs to settle to what an arm makes of it.
inline constexpr double kSegmentSeconds = 2;

struct Policy {
  std::string family;
  std::string workload_class;
  std::vector<std::string> workloads;
  std::string baseline;  // variant id
  int iterations = 1;
  int candidates_per_iteration = 3;
  double budget_s = 0;  // 0 = none
  std::string cache_policy = "cold";
  std::string judge_profile = "auto";
  std::uint64_t seed = 0;  // secret until the campaign ends; logged
  Target target = Target::host;
  bool target_named = false;  // by a campaign file: then nothing else chooses it
  // How long each arm runs alone, 24 times a certification and workload; 0: 2 s on a GPU and not at all on a CPU, whose
  // clock most machines keep. Not kept in the journal either.
  double segment_s = 0;
  std::string layout = "random";  // or "fixed"; empty of a campaign of before it was kept, whose rounds tell
  // The kernels of an application that this family stands for; empty = the family is all there is. Not kept in the
  // journal: a resumed campaign takes that of its file.
  std::string application_kernels;
};

struct Campaign {
  std::int64_t id = 0;
  Policy policy;
  Configuration baseline;
  std::string machine;
  std::string started_at;
  std::string state;  // "open", "finished", "abandoned"
};

// One arm alone for seconds, call after call. In interleaved rounds both arms run at one clock; here a candidate that
// lowers the clock pays for it alone.
struct Segment {
  std::string workload;
  bool candidate = false;
  double seconds = 0;  // of its calls
  double calls = 0;
  double mhz = 0;    // mean clock over the segment
  int readings = 0;  // of the clock, that the mean is of
  bool operator==(const Segment&) const = default;
};

// Whether the clock depends on the arm that runs, from blocks of four segments. Effects are natural logs of the
// incumbent's cost over the candidate's, as elsewhere.
struct ClockCoupling {
  std::string missing;  // why the clock could not be read, and no segment was taken; empty when it was
  int blocks = 0;
  double segment_s = 0;   // how long each segment was at least
  double confidence = 0;  // of the two intervals: so few blocks give no more
  double time_effect = 0;
  double time_lower = 0;
  double time_upper = 0;
  double cycle_effect = 0;  // the same in cycles of the clock
  double clock_effect = 0;  // ln(clock with the candidate / clock with the incumbent), which is time less cycles
  double clock_lower = 0;
  double clock_upper = 0;
  bool coupled = false;  // by more than 0.5 %, and beyond that interval: time_effect is what may be quoted
  bool operator==(const ClockCoupling&) const = default;
};

// What of a certification may be published.
struct QuotedEffect {
  double effect = 0;
  double lower = 0;
  double upper = 0;
  double confidence = 0;
};

// The champion against the campaign's own baseline, head to head.
struct Certification {
  std::int64_t id = 0;
  std::int64_t campaign = 0;
  Configuration champion;
  Configuration baseline;
  std::string cache_policy;
  double effect = 0;  // HL over n = 38 fresh rounds
  double lower = 0;   // 99.8 % interval
  double upper = 0;
  int rounds = 0;
  double claimed_effect = 0;  // sum of the accepted effects
  bool alarm = false;         // upper < 0.7 x claimed
  double seconds = 0;
  std::string at;
  std::optional<ClockCoupling> clock;  // nullopt: of before segments were taken

  bool clock_coupled() const { return clock && clock->coupled; }
  int quoted_count() const;     // what `n=` says: the rounds, or the segments
  QuotedEffect quoted() const;  // that of the rounds, or where clock_coupled() that of the segments
};

// "copy/b is 1.42x [1.41x, 1.43x] the speed of copy/a, n=38", with what people have to know of the segments.
std::string certified_text(const Certification& certification);
// Only that: "clock-coupled: ...", "whether the champion changes the clock is not known: ...", or "".
std::string clock_text(const Certification& certification);

// Words used in the journal, on the command line and in reports. from_text returns nullopt for an unknown word.
std::string_view to_string(Outcome outcome);
std::string_view to_string(Verdict verdict);
std::string_view to_string(Reason reason);
std::string_view to_string(BottleneckKind kind);
std::optional<Outcome> outcome_from(std::string_view text);
std::optional<Verdict> verdict_from(std::string_view text);
std::optional<Reason> reason_from(std::string_view text);
BottleneckKind bottleneck_kind_from(std::string_view text);  // unknown for any other word

}  // namespace apo
