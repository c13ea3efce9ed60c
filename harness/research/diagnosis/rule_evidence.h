// harness/research/diagnosis/rule_evidence.h - shared by the diagnosis rules: rates, shares of the time.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harness/research/diagnosis/diagnosis.h"

namespace apo::diagnosis {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
// A cause below this share of the time deserves no experiment of its own.
inline constexpr double kMinorShare = 0.10;

// NaN when unmeasured.
double roof_value(const Profile& profile, const std::string& name);
// Returns the speed-up of the calls over one thread, which is the number of threads that they use.
double effective_threads(const Diagnosis& d);
// The rate of a roof at the incumbent's parallelism, on a GPU of the whole device; NaN when unmeasured.
double rate(const Diagnosis& d, const std::string& roof);

bool measured(const Diagnosis& d);
double share_of_time(const Diagnosis& d, double ns);

// Returns the bottleneck where `fires`, with its bound limited by the floor's; nullopt when nothing bounds it.
std::optional<Bottleneck> found(const Diagnosis& d, bool fires, const char* name, const std::string& evidence,
                                double bound);
std::optional<Bottleneck> as(BottleneckKind kind, std::optional<Bottleneck> bottleneck);

// How to find the line of a bottleneck.
struct Where {
  // The line with the largest LineCount of this kind, where instructions were counted.
  std::string count;
  // Else the line where warps are most often sampled in one of these states; in any state where there are none.
  std::vector<std::string> states;
  // Considers only samples that one of these instructions holds up, at its line; all samples where there is none.
  std::vector<std::string> opcodes;
};
// Adds the variant's line, where one is found.
std::optional<Bottleneck> at_line(const Diagnosis& d, std::optional<Bottleneck> bottleneck, const Where& where);
// Returns the bottleneck as a cause, at its line.
std::optional<Bottleneck> cause(const Diagnosis& d, bool fires, const char* name, const std::string& evidence,
                                double bound, const Where& where = {});

// A kernel waits for a unit that needs this share of the time at a measured rate; below it, for something else.
inline constexpr double kBusy = 0.5;
// Above this share of its peak a unit counts as highly used: Nsight Compute's speed-of-light rules, 60 %.
inline constexpr double kHighlyUsed = 0.6;
// The smallest share of the warps at which a state counts.
inline constexpr double kStallShare = 0.15;

// True on a GPU whose profile was measured and not only modelled.
bool counted(const Diagnosis& d);
// Sums the states; 0 where they were not sampled.
double stall_share(const Diagnosis& d, const std::vector<std::string>& states);
bool sampled(const Diagnosis& d);
// Returns the largest counted share of its peak at which a unit works; 0 where none was counted. A wait for a unit
// cannot shrink below its work.
double l2_bytes_moved(const Diagnosis& d);
double l2_share(const Diagnosis& d);      // of its counter's peak, or of what was measured to come from it
double memory_units(const Diagnosis& d);  // DRAM, L2, load and store unit
double shared_units(const Diagnosis& d);  // shared memory, special functions, constants, shuffles
double busiest_unit(const Diagnosis& d);  // all of them
// Returns `bound`, or the bound that remains when a unit that is busy for `share` of the time still has to do its work.
double at_most(double bound, double share);

// Counts the special functions that a call evaluates.
double executed_special(const Diagnosis& d);
// Returns the share of the time that the special functions take at libm's rate. Zero when the incumbent is known not to
// call libm, or was measured to be faster than libm can be.
// The rate of the library for the special functions that run here, in op/s.
double libm_rate(const Diagnosis& d);
double libm_share(const Diagnosis& d);
// Returns the nanoseconds of special functions, at libm's rate where that explains a part of the time, else at the
// roof.
double special_ns(const Diagnosis& d);

}  // namespace apo::diagnosis
