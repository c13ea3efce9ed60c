// harness/fleet/placed_experiments.cpp - hands out candidates, takes answers, and judges lost candidates again.
#include "harness/fleet/placed_experiments.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/fleet/spread_bench.h"
#include "harness/loop/experiment.h"
#include "journal/facts/experiments.h"
#include "journal/facts/workers.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr auto kLook = std::chrono::milliseconds(500);
constexpr int kMostLosses = 3;  // a candidate that cost three workers is not placed again
constexpr int kMostKilled = 2;  // of them

// A preempted worker and a restless device are not the candidate's fault.
bool may_be_due_to_candidate(WorkerEnd why) {
  return why != WorkerEnd::gave_back && why != WorkerEnd::sentinel;
}

bool may_have_killed(WorkerEnd why) {
  return why == WorkerEnd::died || why == WorkerEnd::silent;
}

// Throws UserError for an answer to another question.
void check_answer(const JudgedTask& judged, const Experiment& asked, const std::string& machine) {
  const Experiment& answer = judged.experiment;
  const bool same = answer.candidate == asked.candidate && answer.incumbent == asked.incumbent &&
                    answer.candidate_source_hash == asked.candidate_source_hash &&
                    answer.incumbent_source_hash == asked.incumbent_source_hash && answer.index == asked.index &&
                    answer.workloads == asked.workloads;
  if (!same || judged.machine.id != machine) {
    throw UserError("it answered for another candidate, incumbent, number or device");
  }
}

}  // namespace

PlacedExperiments::PlacedExperiments(const CampaignFrame& frame, CampaignProgress& state, Fleet& fleet,
                                     std::int64_t iteration)
    : frame_(frame), state_(state), fleet_(fleet), iteration_(iteration) {}

PlacedExperiments::Jobs::iterator PlacedExperiments::judged_under(std::int64_t placement) {
  return placement == 0 ? jobs_.end() : std::ranges::find(jobs_, placement, &Job::placement);
}

bool PlacedExperiments::can_take() const {
  std::set<std::size_t> wanted;
  for (const Job& job : jobs_) {
    if (job.placement == 0) {
      std::ranges::copy(judges_of(job), std::inserter(wanted, wanted.end()));
    }
  }
  for (std::size_t i = 0; i < fleet_.size(); ++i) {
    if (fleet_.is_idle(i) && !wanted.contains(i)) {
      return true;
    }
  }
  return false;
}

void PlacedExperiments::place(const Candidate& candidate) {
  Job job;
  job.planned = planned_experiment(frame_, state_.incumbent, iteration_, candidate, ++state_.timed_candidates);
  jobs_.push_back(std::move(job));
  ++placed_;
  assign();
}

void PlacedExperiments::assign() {
  for (Job& job : jobs_) {
    if (job.placement == 0) {
      const std::vector<std::size_t> judges = judges_of(job);
      const auto idle = std::ranges::find_if(judges, [&](std::size_t worker) { return fleet_.is_idle(worker); });
      if (idle != judges.end()) {
        give(job, *idle);
      }
    }
  }
}

// Workers that may judge it, now or later: not where it was lost before as long as another one works.
std::vector<std::size_t> PlacedExperiments::judges_of(const Job& job) const {
  std::vector<std::size_t> able;
  std::vector<std::size_t> fresh;
  bool works = false;
  for (std::size_t i = 0; i < fleet_.size(); ++i) {
    if (fleet_.is_out(i)) {
      continue;
    }
    able.push_back(i);
    if (!job.lost_with.contains(i)) {
      fresh.push_back(i);
      works = works || fleet_.hello(i) != nullptr;
    }
  }
  return works ? fresh : able;
}

Task PlacedExperiments::task_of(const Job& job, std::size_t worker) const {
  const Experiment& planned = job.planned;
  const Machine& machine = fleet_.hello(worker)->machine;
  const auto is_judged_before = [&](const Job& other) { return other.planned.index < planned.index; };
  Task task{.id = job.placement,
            .campaign = frame_.campaign,
            .policy = frame_.policy,
            .candidate = {planned.candidate, planned.candidate_source_hash},
            .incumbent = {planned.incumbent, planned.incumbent_source_hash},
            .prediction = planned.prediction,
            .index = planned.index,
            .judged = judged_candidates(frame_.journal, planned.family, planned.workload_class, machine.id) +
                      static_cast<int>(std::ranges::count_if(jobs_, is_judged_before)),
            .floor = claim_floor(&frame_.journal, machine, frame_.family.name, frame_.policy.workloads)};
  // The secret of a campaign is enough for all its workers, and no two draw the same rounds.
  task.policy.seed = derive_seed(frame_.policy.seed, "worker", static_cast<std::uint64_t>(fleet_.row(worker)));
  return task;
}

void PlacedExperiments::give(Job& job, std::size_t worker) {
  job.worker = worker;
  job.start = Clock::now();
  job.started_at = utc_now();
  job.placement = begin_placement(frame_.journal, {.worker = fleet_.row(worker),
                                                   .iteration = iteration_,
                                                   .index = job.planned.index,
                                                   .candidate = job.planned.candidate,
                                                   .incumbent = job.planned.incumbent,
                                                   .prediction = job.planned.prediction,
                                                   .started_at = job.started_at});
  fleet_.give(worker, task_of(job, worker));
  frame_.observer.say(fmt::format("  {}: {}, predicted {}", fleet_.name(worker), job.planned.candidate.label(),
                                  format_band(job.planned.prediction.low, job.planned.prediction.high)));
}

std::optional<Experiment> PlacedExperiments::wait() {
  assign();
  tell();
  std::optional<Experiment> experiment;
  if (const std::optional<FleetEvent> event = fleet_.next(kLook)) {
    experiment = event->kind == FleetEvent::Kind::answered ? on_answer(*event) : on_left(*event);
  }
  if (!experiment) {
    fleet_.check_any_left();
  }
  return experiment;
}

std::optional<Experiment> PlacedExperiments::on_answer(const FleetEvent& event) {
  const auto job = judged_under(event.task);
  APO_CHECK(job != jobs_.end());
  const Hello& hello = *fleet_.hello(event.worker);
  DeviceAnswer answer{.placement = event.task,
                      .device = hello.device,
                      .started_at = job->started_at,
                      .seconds = seconds_since(job->start),
                      .judged = {}};
  try {
    answer.judged = judged_task(event.journal);
    check_answer(answer.judged, job->planned, hello.machine.id);
  } catch (const UserError& error) {
    FleetEvent refused = fleet_.refuse(event.worker, error.what());
    refused.task = event.task;
    return on_left(refused);
  }
  Experiment experiment = store_answer(frame_, job->planned, answer);
  jobs_.erase(job);
  ++settled_;
  if (experiment.judgement->verdict == Verdict::accepted) {
    state_.incumbent = experiment.candidate;
    ++state_.accepts_since_certificate;
  }
  return experiment;
}

// A worker that had no task, or one that was cancelled, leaves nothing to judge again.
std::optional<Experiment> PlacedExperiments::on_left(const FleetEvent& event) {
  const auto job = judged_under(event.task);
  if (event.kind != FleetEvent::Kind::left || job == jobs_.end()) {
    return std::nullopt;
  }
  end_placement(frame_.journal, event.task,
                {.state = PlacementState::given_back,
                 .note = std::string(to_string(event.why)),
                 .seconds = seconds_since(job->start)});
  job->placement = 0;
  if (may_be_due_to_candidate(event.why)) {
    ++job->losses;
    job->killed += may_have_killed(event.why) ? 1 : 0;
    job->lost_with.insert(event.worker);
  }
  return job->losses >= kMostLosses ? give_up(job, event) : std::nullopt;
}

// A candidate has failed where it killed its workers. A worker that cannot judge says nothing about it.
std::optional<Experiment> PlacedExperiments::give_up(Jobs::iterator job, const FleetEvent& last) {
  const std::string label = job->planned.candidate.label();
  frame_.observer.say(fmt::format("  giving up on {}: {} workers were lost with it", label, job->losses));
  for (const std::size_t worker : job->lost_with) {
    fleet_.forgive(worker);
  }
  const std::string evidence =
      fmt::format("{} workers were lost with it, the last one as {}: {}", job->losses, to_string(last.why), last.note);
  std::optional<Experiment> failed;
  if (job->killed >= kMostKilled) {
    failed = store_failure(frame_, job->planned, last.why == WorkerEnd::silent ? Outcome::timed_out : Outcome::faulted,
                           evidence);
    ++settled_;
  } else {
    given_up_ += fmt::format("{}{}: {}", given_up_.empty() ? "" : "; ", label, evidence);
  }
  jobs_.erase(job);
  return failed;
}

void PlacedExperiments::stop() {
  double wasted_s = 0;
  int stopped = 0;
  for (const Job& job : jobs_) {
    if (job.placement != 0) {
      const double seconds = seconds_since(job.start);
      end_placement(frame_.journal, job.placement,
                    {.state = PlacementState::rebased, .note = "another candidate was accepted", .seconds = seconds});
      wasted_s += seconds;
      ++stopped;
      fleet_.cancel(job.worker);
    }
  }
  jobs_.clear();
  if (stopped > 0) {
    frame_.observer.say(fmt::format("  {} discarded, because the incumbent changed: {} of devices' time",
                                    stopped == 1 ? "1 judgement was" : fmt::format("{} judgements were", stopped),
                                    format_seconds(wasted_s)));
  }
}

void PlacedExperiments::tell() {
  const auto running = std::ranges::count_if(jobs_, [](const Job& job) { return job.placement != 0; });
  const std::string doing = fleet_.doing();
  frame_.observer.progress(
      {.what = doing.empty() ? fmt::format("{} workers", fleet_.size()) : fmt::format("{} judging: {}", running, doing),
       .done = settled_,
       .expected = placed_});
}

namespace {

class FleetJudge : public RemoteJudge {
 public:
  FleetJudge(const FleetOptions& options, const CampaignFrame& frame) : frame_(frame), fleet_(options, frame) {}

  std::vector<Experiment> judge(CampaignProgress& state, std::int64_t iteration,
                                RankedCandidates& candidates) override {
    PlacedExperiments placed(frame_, state, fleet_, iteration);
    std::vector<Experiment> experiments;
    while (candidates.best() || !placed.is_empty()) {
      if (candidates.best() && placed.can_take()) {
        placed.place(*candidates.take());
        continue;
      }
      if (auto experiment = placed.wait()) {
        experiment->rounds.clear();
        experiments.push_back(std::move(*experiment));
        if (experiments.back().judgement->verdict == Verdict::accepted) {
          break;
        }
        candidates.rank_anew();
      }
    }
    placed.stop();
    if (experiments.empty() && !placed.given_up().empty()) {
      throw EnvironmentError("no candidate of this iteration could be judged: " + placed.given_up(),
                             "the same command goes on with the campaign once its workers can judge them");
    }
    return experiments;
  }

  std::unique_ptr<ScanBench> bench() override {
    const auto has_joined = [&] {
      bool any = false;
      for (std::size_t i = 0; i < fleet_.size(); ++i) {
        any = any || fleet_.hello(i) != nullptr;
      }
      return any;
    };
    while (!has_joined()) {
      frame_.observer.progress({.what = fmt::format("{} workers", fleet_.size())});
      fleet_.next(kLook);
      fleet_.check_any_left();
    }
    auto bench = std::make_unique<SpreadBench>(frame_, fleet_);
    return bench->can_measure() ? std::move(bench) : nullptr;
  }

  void finish() override { fleet_.dismiss(); }

 private:
  const CampaignFrame& frame_;
  Fleet fleet_;
};

}  // namespace

std::unique_ptr<RemoteJudge> start_fleet(const FleetOptions& options, const CampaignFrame& frame) {
  return std::make_unique<FleetJudge>(options, frame);
}

}  // namespace apo
