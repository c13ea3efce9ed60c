// journal/facts/research/lessons.h - reads lessons, each with the condition under which it was learnt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/judgement.h"
#include "harness/core/records/research.h"

namespace apo {

class Journal;

struct LessonFilter {  // empty = any
  std::string family;
  std::string workload_class;
  std::string machine;
  std::string model;  // of the machine
  std::string variant;
  std::string technique;
  std::optional<Verdict> verdict;
  std::int64_t campaign = 0;
  std::int64_t experiment = 0;
  std::string incumbent_source;
  std::int64_t newest = 0;  // only among so many newest ones of exactly this family, class and model; 0: among all
};

std::vector<Lesson> lessons_of(Journal& journal, const LessonFilter& filter = {});

}  // namespace apo
