// harness/research/rule_evidence.h - what the diagnosis rules share: rates, shares of the time, numbers as text.
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "harness/research/rules.h"

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
