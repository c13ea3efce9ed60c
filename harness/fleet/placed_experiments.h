// harness/fleet/placed_experiments.h - several candidates at once against one incumbent, each on a worker.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/fleet/device_answers.h"
#include "harness/fleet/fleet.h"
#include "harness/loop/satellites.h"

namespace apo {

// Of one iteration, whose incumbent stays the same as long as this object lives. Each candidate becomes one experiment
// of the journal when it has its verdict, however many workers were lost with it.
class PlacedExperiments {
 public:
  PlacedExperiments(const CampaignFrame& frame, CampaignProgress& state, Fleet& fleet, std::int64_t iteration);

  // A worker is idle and no candidate waits for it.
  bool can_take() const;
  void place(const Candidate& candidate);
  bool is_empty() const { return jobs_.empty(); }
  // Waits until something has changed. Returns an experiment that is in the journal now. An accepted candidate is the
  // state's incumbent then, and stop() is due. Throws EnvironmentError when no worker is left.
  std::optional<Experiment> wait();
  // Another candidate is the incumbent now: the rest is discarded, and its cost told. Its workers are idle when they
  // have stopped.
  void stop();
  // Candidates that were left out because workers could not judge them, and why; "" for none.
  const std::string& given_up() const { return given_up_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Job {
    Experiment planned;
    // A worker judges it under this number of the journal; 0: it waits for one. The rest is about that placement.
    std::int64_t placement = 0;
    std::size_t worker = 0;
    Clock::time_point start;
    std::string started_at;
    int losses = 0;                   // workers that were lost with it, perhaps because of it
    int killed = 0;                   // of them, those that it may have killed
    std::set<std::size_t> lost_with;  // these workers
  };
  using Jobs = std::list<Job>;

  Jobs::iterator judged_under(std::int64_t placement);
  void assign();
  void give(Job& job, std::size_t worker);
  Task task_of(const Job& job, std::size_t worker) const;
  std::vector<std::size_t> judges_of(const Job& job) const;
  std::optional<Experiment> on_answer(const FleetEvent& event);
  std::optional<Experiment> on_left(const FleetEvent& event);
  std::optional<Experiment> give_up(Jobs::iterator job, const FleetEvent& last);
  void tell();

  const CampaignFrame& frame_;
  CampaignProgress& state_;
  Fleet& fleet_;
  std::int64_t iteration_;
  Jobs jobs_;  // in the order in which they were placed
  std::string given_up_;
  int placed_ = 0;
  int settled_ = 0;
};

// Starts the workers, and keeps as many as there are devices busy until an iteration has its acceptance. The frame
// outlives what is returned.
std::unique_ptr<RemoteJudge> start_fleet(const FleetOptions& options, const CampaignFrame& frame);

}  // namespace apo
