// harness/loop/experiment.h - a candidate's way: research chose it, implement builds it, evaluate judges it, the
// journal keeps it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/evaluate/plan.h"
#include "harness/loop/campaign_progress.h"

namespace apo {

// The work of one candidate that needs no device. A failure stands where it does in turn: a build that fails ahead is
// built again when it is asked for, and gates or an error of the check come out of take().
struct AheadSteps {
  std::function<void()> build;
  BackgroundGates::Run check;  // the executor's gate; empty: the candidate does not take it
};

class WorkAhead {
 public:
  // `steps_of` is asked in the thread that calls begin(). Where it is empty, nothing is ever begun.
  explicit WorkAhead(std::function<AheadSteps(const Configuration&)> steps_of) : steps_of_(std::move(steps_of)) {}

  // Names the candidate that comes next, as far as is known.
  void expect(std::optional<Configuration> next) { next_ = std::move(next); }
  // Begins its work beside the caller, unless it was begun before or other work is under way.
  void begin();
  // What the check of this candidate said, after waiting for it; nullopt when it was not begun, or was taken before. A
  // `stop` cancels it.
  std::optional<std::vector<GateResult>> take(const Configuration& candidate, const std::stop_token& stop = {});

 private:
  std::function<AheadSteps(const Configuration&)> steps_of_;
  std::optional<Configuration> next_;
  std::map<std::string, BackgroundGates> begun_;  // by label
};

// Whether the machine has cores that no timing needs: a host times on its idle cores, a GPU does not.
bool has_idle_cores(Target target, int cores);

// Work ahead for the candidates of this campaign; none where the machine has no idle cores.
WorkAhead work_ahead(const CampaignFrame& frame, const CampaignProgress& state);

// Judges the candidate against the incumbent. An accepted candidate becomes the state's incumbent. `judge`, a preset's
// word, judges this candidate otherwise than the campaign. A machine that was not checked yet is checked before the
// first timing that decides. Throws EnvironmentError when it cannot judge: the experiment is then abandoned.
// What `ahead` expects begins with the timing.
Experiment run_experiment(const CampaignFrame& frame, CampaignProgress& state, std::int64_t iteration,
                          const Candidate& candidate, const std::string& judge = "", WorkAhead* ahead = nullptr);

// The same in steps, for a candidate that is judged elsewhere. Its record before it is judged, which has no id yet:
Experiment planned_experiment(const CampaignFrame& frame, const Configuration& incumbent, std::int64_t iteration,
                              const Candidate& candidate, int index);
// The last step: stores the verdict of an experiment that was begun, with its lesson.
void keep_verdict(const CampaignFrame& frame, const Experiment& experiment);

}  // namespace apo
