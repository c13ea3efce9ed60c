// harness/fleet/task_judge.h - judges one task after the other on the device of this process, as `apo run` does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/fleet/answer_journal.h"
#include "harness/fleet/messages.h"
#include "harness/loop/campaign_progress.h"

namespace apo {

// A driver's campaign is one of this process too, in a journal of its own, with the same gates, rounds, sentinels and
// rules. A worker judges for one driver, and so for one campaign.
class TaskJudge {
 public:
  // Judges on the workspace's target.
  TaskJudge(Workspace& workspace, Observer& observer);

  // Takes what the message of a task brings along and is not known here. Throws UserError for what cannot be used,
  // because this program has another text under that name.
  void take_sources(const Policy& policy, const std::vector<TaskSide>& sides, const Message& message);

  // Throws EnvironmentError when this device cannot judge, and whatever the observer throws to stop it.
  JudgedTask judge(const Task& task);
  // The same; `tell` gets each candidate as soon as it is measured. None where the reference has other code here.
  void scan(const ScanTask& task, const std::function<void(const ScanMeasurement&)>& tell);

 private:
  struct OwnCampaign;
  void take_family(const std::string& name, const std::vector<SourceFile>& files);
  OwnCampaign& campaign_of(std::int64_t of_driver, const Policy& policy, const Configuration& incumbent);
  JudgedTask collect(const Experiment& experiment);

  Workspace& workspace_;
  Observer& observer_;
  std::shared_ptr<OwnCampaign> own_;  // from the first task on
  std::int64_t last_sentinel_ = 0;    // that was sent
};

}  // namespace apo
