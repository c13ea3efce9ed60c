// journal/facts/applications.h - writes and reads profiles of whole applications.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/applications/application_profile.h"

namespace apo {

class Journal;

// A profile of an application, as far as research needs it: without categories, gaps, ranges and processes.
struct ApplicationRow {
  std::int64_t id = 0;
  std::string command;
  ApplicationSummary summary;
};

// A profile of an application with the first rows of each list, for people.
struct RecordedApplication {
  std::int64_t id = 0;
  std::string at;
  std::string command;
  double total_ns = 0;
  double busy_ns = 0;
  double span_ns = 0;         // 0 where it is not known
  std::vector<WorkRow> work;  // by time
  std::int64_t kernels = 0;   // rows of all its work
  std::vector<CategoryRow> categories;
  std::vector<RangeRow> ranges;    // that launched something, depth first
  std::int64_t all_ranges = 0;     // that did
  std::vector<std::string> notes;  // what the numbers lack
};

struct ApplicationLimits {  // rows at most
  int applications = 3;
  int work = 10;
  int ranges = 20;
};

std::int64_t add_application(Journal& journal, const ApplicationProfile& profile, const ApplicationSummary& summary,
                             const std::string& machine);
std::optional<ApplicationRow> newest_application(Journal& journal);  // that had any GPU time
// On the campaign's machine, the newest first.
std::vector<RecordedApplication> applications_of(Journal& journal, std::int64_t campaign,
                                                 const ApplicationLimits& limits = {});

}  // namespace apo
