// harness/cli/look/experiment_text.h - prints what the journal knows of one experiment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "journal/journal.h"

namespace apo {

struct ExperimentView {
  Experiment experiment;
  std::optional<Layout> layout;
  std::string device;                         // of the worker that judged it; "" where none did
  std::string abandoned;                      // why it was never judged; "" for any other
  std::vector<Bottleneck> bottlenecks;        // of the incumbent
  std::vector<Certification> certifications;  // of the candidate as its campaign's final incumbent
  std::optional<ReplayRow> measures_again;
  std::vector<Experiment> replays;   // experiments that measured it again
  std::optional<Variant> candidate;  // as it was judged
  std::optional<Variant> incumbent;
};

// All but the samples, the sources and the compilers' logs.
std::string experiment_text(const ExperimentView& view);
std::string samples_text(const std::vector<Round>& rounds);
std::string logs_text(const Experiment& experiment);
std::string source_text(const Variant& variant);

// Returns the difference between the sources of an accepted candidate and its incumbent, else "".
std::string diff_of(const ExperimentView& view);

}  // namespace apo
