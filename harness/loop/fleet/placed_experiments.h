// harness/loop/fleet/placed_experiments.h - several candidates at once against one incumbent, each on a worker.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/loop/campaign_progress.h"
#include "harness/loop/fleet/answer_journal.h"
#include "harness/loop/fleet/campaign_fleet.h"

namespace apo {

// Of one iteration. The incumbent stays the same as long as this object lives. Of each candidate the journal gets one
// experiment, when it has its verdict, however many workers were lost with it.
class PlacedExperiments {
 public:
  PlacedExperiments(const CampaignFrame& frame, CampaignProgress& state, std::int64_t iteration);

  // A worker is idle and no candidate waits for one.
  bool can_take() const;
  void place(const Candidate& candidate);
  bool is_empty() const { return waiting_.empty() && running_.empty(); }
  // Waits until something has changed. Returns an experiment that is in the journal now. An accepted candidate is the
  // state's incumbent then, and stop() is due. Throws EnvironmentError when no worker is left.
  std::optional<Experiment> wait();
  // Another candidate is the incumbent now: what was judged against the old one is over, and its cost told. Its workers
  // are idle when they have stopped.
  void stop();
  // Candidates that were left out because workers could not judge them, and why; "" for none.
  const std::string& given_up() const { return given_up_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Answer {
    std::int64_t placement = 0;
    std::string device;
    std::string started_at;
    double seconds = 0;
    JudgedTask judged;
  };
  struct Job {
    Candidate candidate;
    int index = 0;
    std::vector<Answer> answers;
    std::set<std::string> devices;    // that have answered
    int losses = 0;                   // workers that were lost with it, perhaps because of it
    int killed = 0;                   // of them, those that it may have killed
    std::set<std::size_t> lost_with;  // these workers
  };
  struct Placed {
    std::shared_ptr<Job> job;
    std::size_t worker = 0;
    std::string device;
    std::string machine;  // Machine::id
    Clock::time_point start;
    std::string started_at;
  };

  void assign();
  bool assign(const std::shared_ptr<Job>& job);
  void give(const std::shared_ptr<Job>& job, std::size_t worker);
  Task task_of(const Job& job, std::size_t worker, std::int64_t placement) const;
  std::vector<std::size_t> judges_of(const Job& job) const;
  std::optional<Experiment> on_event(const FleetEvent& event);
  std::optional<Experiment> on_answer(const FleetEvent& event);
  std::optional<Experiment> on_left(const FleetEvent& event);
  std::optional<Experiment> give_up(const Job& job, const FleetEvent& last);
  void end_rebased(std::int64_t placement, double seconds, const std::string& note);
  void end_answered(const Answer& answer, std::int64_t experiment);
  bool needs_replication(const Job& job) const;
  std::optional<Experiment> settle(const std::shared_ptr<Job>& job);
  std::optional<Experiment> settle_unreplicated();
  Experiment store(const Job& job);
  Durable durability();
  Experiment store_killer(const Job& job, const FleetEvent& last);
  void store_device(const Answer& answer);
  void store_replica(const Job& job, const Answer& answer, std::int64_t original);
  Experiment record_of(const Job& job, const Answer& answer) const;
  void tell();

  const CampaignFrame& frame_;
  CampaignProgress& state_;
  CampaignFleet& fleet_;
  std::int64_t iteration_;
  std::deque<std::shared_ptr<Job>> waiting_;
  std::map<std::int64_t, Placed> running_;  // by placement
  std::string given_up_;
  int placed_ = 0;
  int settled_ = 0;
  Clock::time_point durable_at_;  // when an answer last waited for the disk
};

}  // namespace apo
