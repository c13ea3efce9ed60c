// harness/research/memory/lesson_condition.h - whether what a lesson was learnt under is still so.
#pragma once

#include <string>

#include "harness/core/records/records.h"

namespace apo {

// "is waiting for global memory": of a state of the sampler, "long_scoreboard".
std::string waiting_words(const std::string& stall);

// "" while the incumbent waits for what it waited for then, else what it waits for now. A state counts as the same
// until its share of the samples is less than half of the largest one's: two that are nearly equal change places from
// one profile to the next. Also "" where one of the two was not sampled.
std::string changed_stall(const LessonCondition& then, const Profile& now);

}  // namespace apo
