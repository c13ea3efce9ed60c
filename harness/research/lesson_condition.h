// harness/research/lesson_condition.h - checks whether the condition of a lesson still holds.
#pragma once

#include <string>

#include "harness/core/records/records.h"

namespace apo {

// Describes a state of the sampler: "global or local memory" for "long_scoreboard".
std::string waiting_words(const std::string& stall);

// Returns what the incumbent waits for now if its main wait has changed, else "". A state counts as unchanged until its
// share of the samples is less than half of the largest one: nearly equal states swap from profile to profile. Also ""
// if one of the two profiles was not sampled.
std::string changed_stall(const LessonCondition& then, const Profile& now);

}  // namespace apo
