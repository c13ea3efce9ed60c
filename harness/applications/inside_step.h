// harness/applications/inside_step.h - judges two variants in the place of a kernel's launches within a recorded step
// of a program.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "harness/applications/recorded_family.h"
#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/loop/comparison.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

inline constexpr const char* kStepExtension = ".step";

// The family of a whole step: its tensors are what its kernels take. Named for the file and its content. Throws
// UserError, also where it is larger than the record of a variant may be.
RecordedFamily step_family(const ProgramCall& step, const std::string& file);

struct InsideStep {
  Experiment own;                  // the two alone
  std::optional<Experiment> step;  // the step with either; nullopt where one of them is wrong alone
  std::string kernel;              // whose launches were replaced
  int replaced = 0;
  int kept = 0;  // launches of it on other sizes or numbers, which stay
};

// What the rest of the step takes beside each arm: the step's time without that of the replaced launches, each as long
// as a call alone. Caches and clocks are other ones inside the step, so that what they do to the kernel is in it, too.
struct RestOfStep {
  double with_incumbent_ns = 0;
  double with_candidate_ns = 0;
  // Of the rounds, in which both arms ran: the median; nullopt without NVML.
  std::optional<double> own_mhz;
  std::optional<double> step_mhz;
  std::optional<double> own_watts;
  std::optional<double> step_watts;
};
RestOfStep rest_of_step(const InsideStep& inside);

// The launch that the family was made of: of its recorded kernels one that the step launches, if any; of these the
// first recording. UserError where it has none.
RecordedKernel recorded_kernel(const Catalogue& catalogue, const Family& family, const RecordedCall& step);

// `file`: of `apo record --to FILE.step`. `at`: the kernel; empty: the one that the family is a recording of. The
// outputs of the step with either arm are held against the recorded ones. UserError for a family without a recorded
// kernel, and for a step that does not launch it.
InsideStep compare_inside(Workspace& workspace, const ComparisonRequest& request, const std::string& file,
                          const std::string& at, Observer& observer);

nlohmann::ordered_json to_document(const InsideStep& inside);
std::string inside_text(const InsideStep& inside);

}  // namespace apo
