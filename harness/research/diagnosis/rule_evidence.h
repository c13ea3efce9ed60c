// harness/research/diagnosis/rule_evidence.h - what the diagnosis rules share: rates, shares of the time, numbers as
// text.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harness/research/diagnosis/diagnosis.h"

namespace apo::diagnosis {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Below this share of the time a cause is not worth an experiment of its own.
inline constexpr double kMinorShare = 0.10;

// NaN when unmeasured.
double roof_value(const Profile& profile, const std::string& name);
// How many threads' worth of this machine the calls use: their speed-up over one thread.
double effective_threads(const Diagnosis& d);
// Rate of a roof at the parallelism that the incumbent reaches, of a GPU as a whole; NaN when unmeasured.
double rate(const Diagnosis& d, const std::string& roof);

bool measured(const Diagnosis& d);
double share_of_time(const Diagnosis& d, double ns);

// The bottleneck with its bound held under the floor's; nullopt when nothing bounds it.
std::optional<Bottleneck> found(const Diagnosis& d, const char* name, const std::string& evidence, double bound);

// How a bottleneck's line is found.
struct Where {
  // The line with the largest LineCount of this kind, where instructions were counted.
  std::string count;
  // Else the line where warps are most often sampled in one of these states; in any where there are none.
  std::vector<std::string> states;
  // Of those only the ones that one of these instructions holds up, and at its line; all where there is no such one.
  std::vector<std::string> opcodes;
};
// With the variant's line, where one is found.
std::optional<Bottleneck> at_line(const Diagnosis& d, std::optional<Bottleneck> bottleneck, const Where& where);
// Found, as a cause, and at its line.
std::optional<Bottleneck> cause(const Diagnosis& d, const char* name, const std::string& evidence, double bound,
                                const Where& where = {});

// A unit that needs this share of the time, by a measured rate, is what a kernel waits for; below it, something else
// is.
inline constexpr double kBusy = 0.5;
// Above this share of its peak a unit counts as highly used: Nsight Compute's speed-of-light rules, 60 %.
inline constexpr double kHighlyUsed = 0.6;
// A state of a seventh of the warps.
inline constexpr double kStallShare = 0.15;

// On a GPU, and not from a model alone.
bool counted(const Diagnosis& d);
// Sum over states; 0 where they were not sampled.
double stall_share(const Diagnosis& d, const std::vector<std::string>& states);
bool sampled(const Diagnosis& d);
// The largest share of its peak that a unit works at, as counted: 0 where nothing was. A wait for a unit cannot shrink
// below its work.
double l2_bytes_moved(const Diagnosis& d);
double l2_share(const Diagnosis& d);      // of its counter's peak, or of what was measured to come from it
double memory_units(const Diagnosis& d);  // DRAM, L2, load and store unit
double shared_units(const Diagnosis& d);  // shared memory, special functions, constants, shuffles
double busiest_unit(const Diagnosis& d);  // all of them
// `bound`, or what is left when a unit that is busy for `share` of the time has to do its work still.
double at_most(double bound, double share);

std::string percent(double share);
std::string per_second(double value, const char* unit);

// The special functions that a call evaluates.
double executed_special(const Diagnosis& d);
// Share of the time that the special functions take at libm's rate. Zero when the incumbent is known not to call libm,
// or was measured to be faster than libm can be.
double libm_share(const Diagnosis& d);
// Nanoseconds of special functions: at libm's rate where that explains a part of the time, else at the roof.
double special_ns(const Diagnosis& d);

}  // namespace apo::diagnosis
