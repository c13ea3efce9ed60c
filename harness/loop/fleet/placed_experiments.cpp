// harness/loop/fleet/placed_experiments.cpp - hands out candidates, takes answers, and judges lost candidates again.
#include "harness/loop/fleet/placed_experiments.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/evaluate.h"
#include "harness/loop/experiment.h"
#include "harness/loop/fleet/agreement.h"
#include "harness/loop/fleet/task_sources.h"
#include "harness/loop/workspace/known_roofs.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr auto kLook = std::chrono::milliseconds(500);
constexpr int kMostLosses = 3;
constexpr int kMostKilled = 2;  // of them

// What the candidate may be the cause of. A preempted worker and a restless device are not its fault.
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

PlacedExperiments::PlacedExperiments(const CampaignFrame& frame, CampaignProgress& state, std::int64_t iteration)
    : frame_(frame), state_(state), fleet_(*frame.fleet), iteration_(iteration) {}

bool PlacedExperiments::can_take() const {
  std::set<std::size_t> wanted;
  for (const std::shared_ptr<Job>& job : waiting_) {
    std::ranges::copy(judges_of(*job), std::inserter(wanted, wanted.end()));
  }
  for (std::size_t i = 0; i < fleet_.workers().size(); ++i) {
    if (fleet_.workers().is_idle(i) && !wanted.contains(i)) {
      return true;
    }
  }
  return false;
}

void PlacedExperiments::place(const Candidate& candidate) {
  waiting_.push_back(std::make_shared<Job>(
      Job{.candidate = candidate, .index = ++state_.timed_candidates, .answers = {}, .devices = {}, .lost_with = {}}));
  ++placed_;
  assign();
}

void PlacedExperiments::assign() {
  std::erase_if(waiting_, [&](const std::shared_ptr<Job>& job) { return assign(job); });
}

bool PlacedExperiments::assign(const std::shared_ptr<Job>& job) {
  const std::vector<std::size_t> judges = judges_of(*job);
  const auto idle = std::ranges::find_if(judges, [&](std::size_t worker) { return fleet_.workers().is_idle(worker); });
  if (idle == judges.end()) {
    return false;
  }
  give(job, *idle);
  return true;
}

// Workers that may judge it, now or later: on a device that has not answered yet, and not where it was lost before as
// long as another one works. None: no device is left for it.
std::vector<std::size_t> PlacedExperiments::judges_of(const Job& job) const {
  std::vector<std::size_t> able;
  std::vector<std::size_t> fresh;
  bool works = false;
  for (std::size_t i = 0; i < fleet_.workers().size(); ++i) {
    const Hello* hello = fleet_.workers().hello(i);
    if (fleet_.workers().is_out(i) || (hello != nullptr && job.devices.contains(hello->device))) {
      continue;
    }
    able.push_back(i);
    if (!job.lost_with.contains(i)) {
      fresh.push_back(i);
      works = works || hello != nullptr;
    }
  }
  return works ? fresh : able;
}

Task PlacedExperiments::task_of(const Job& job, std::size_t worker, std::int64_t placement) const {
  const Catalogue& catalogue = frame_.workspace.catalogue();
  Task task{.id = placement,
            .campaign = frame_.campaign,
            .policy = frame_.policy,
            .candidate = {job.candidate.configuration, catalogue.get(job.candidate.configuration.variant).source_hash},
            .incumbent = {state_.incumbent, catalogue.get(state_.incumbent.variant).source_hash},
            .prediction = job.candidate.prediction,
            .index = job.index,
            .floor = claim_floor(frame_.journal, fleet_.workers().hello(worker)->machine, frame_.family.name,
                                 frame_.policy.workloads)};
  // The secret of a campaign is enough for all its workers, and no two draw the same rounds.
  task.policy.seed = derive_seed(frame_.policy.seed, "worker", static_cast<std::uint64_t>(fleet_.row(worker)));
  return task;
}

void PlacedExperiments::give(const std::shared_ptr<Job>& job, std::size_t worker) {
  const bool replicates = !job->answers.empty();
  const Hello& hello = *fleet_.workers().hello(worker);
  Placed placed{.job = job,
                .worker = worker,
                .device = hello.device,
                .machine = hello.machine.id,
                .start = Clock::now(),
                .started_at = utc_now()};
  const std::int64_t placement =
      frame_.journal.begin_placement({.worker = fleet_.row(worker),
                                      .iteration = iteration_,
                                      .replicates = replicates ? job->answers.front().placement : 0,
                                      .index = job->index,
                                      .candidate = job->candidate.configuration,
                                      .incumbent = state_.incumbent,
                                      .prediction = job->candidate.prediction,
                                      .started_at = placed.started_at});
  fleet_.workers().give(worker, task_of(*job, worker, placement), task_sources(frame_.workspace));
  running_.emplace(placement, std::move(placed));
  frame_.observer.say(fmt::format("  {}: {}{}, predicted {}", fleet_.name(worker), replicates ? "again " : "",
                                  job->candidate.configuration.label(),
                                  format_band(job->candidate.prediction.low, job->candidate.prediction.high)));
}

std::optional<Experiment> PlacedExperiments::wait() {
  assign();
  tell();
  const std::optional<FleetEvent> event = fleet_.next(kLook);
  std::optional<Experiment> experiment = event ? on_event(*event) : std::nullopt;
  if (!experiment) {
    experiment = settle_unreplicated();  // before the last worker is missed: it has an answer
  }
  if (!experiment) {
    fleet_.check_any_left();
  }
  return experiment;
}

std::optional<Experiment> PlacedExperiments::on_event(const FleetEvent& event) {
  switch (event.kind) {
    case FleetEvent::Kind::answered:
      return on_answer(event);
    case FleetEvent::Kind::left:
      return on_left(event);
    case FleetEvent::Kind::joined:
    case FleetEvent::Kind::cancelled:
      break;
  }
  return std::nullopt;
}

std::optional<Experiment> PlacedExperiments::on_answer(const FleetEvent& event) {
  const auto found = running_.find(event.task);
  APO_CHECK(found != running_.end());
  const Placed& placed = found->second;
  Answer answer{.placement = event.task,
                .device = placed.device,
                .started_at = placed.started_at,
                .seconds = seconds_since(placed.start),
                .judged = {}};
  try {
    answer.judged = judged_task(event.journal);
    check_answer(answer.judged, record_of(*placed.job, answer), placed.machine);
  } catch (const UserError& error) {
    FleetEvent refused = fleet_.refuse(event.worker, error.what());
    refused.task = event.task;
    return on_left(refused);
  }
  const std::shared_ptr<Job> job = placed.job;
  running_.erase(found);
  job->devices.insert(answer.device);
  job->answers.push_back(std::move(answer));
  return settle(job);
}

// A worker that had no task, or one that was cancelled, leaves nothing to judge again.
std::optional<Experiment> PlacedExperiments::on_left(const FleetEvent& event) {
  const auto found = running_.find(event.task);
  if (found == running_.end()) {
    return std::nullopt;
  }
  const std::shared_ptr<Job> job = found->second.job;
  frame_.journal.end_placement(event.task, {.state = PlacementState::given_back,
                                            .note = std::string(to_string(event.why)),
                                            .seconds = seconds_since(found->second.start)});
  running_.erase(found);
  if (may_be_due_to_candidate(event.why)) {
    ++job->losses;
    job->killed += may_have_killed(event.why) ? 1 : 0;
    job->lost_with.insert(event.worker);
  }
  if (job->losses >= kMostLosses) {
    return give_up(*job, event);
  }
  waiting_.push_front(job);
  return std::nullopt;
}

// What ends every worker is not worth the next one. What other devices have found of it is kept; without that it has
// failed where it killed them. A worker that cannot judge says nothing about it.
std::optional<Experiment> PlacedExperiments::give_up(const Job& job, const FleetEvent& last) {
  const std::string label = job.candidate.configuration.label();
  frame_.observer.say(fmt::format("  {} is judged no more: {} workers were lost with it", label, job.losses));
  for (const std::size_t worker : job.lost_with) {
    fleet_.workers().forgive(worker);
  }
  if (!job.answers.empty()) {
    return store(job);
  }
  if (job.killed >= kMostKilled) {
    return store_killer(job, last);
  }
  given_up_ += fmt::format("{}{}: {} workers were lost with it, the last one as {}: {}", given_up_.empty() ? "" : "; ",
                           label, job.losses, to_string(last.why), last.note);
  return std::nullopt;
}

void PlacedExperiments::end_rebased(std::int64_t placement, double seconds, const std::string& note) {
  frame_.journal.end_placement(placement, {.state = PlacementState::rebased, .note = note, .seconds = seconds});
}

// Accepted so far, on fewer devices than have to.
bool PlacedExperiments::needs_replication(const Job& job) const {
  const auto accepted = [](const Answer& answer) {
    return answer.judged.experiment.judgement->verdict == Verdict::accepted;
  };
  return std::ssize(job.answers) < fleet_.replicate() && std::ranges::all_of(job.answers, accepted);
}

std::optional<Experiment> PlacedExperiments::settle(const std::shared_ptr<Job>& job) {
  if (needs_replication(*job) && !judges_of(*job).empty()) {
    waiting_.push_front(job);
    return std::nullopt;
  }
  return store(*job);
}

// The devices that it waits for are gone.
std::optional<Experiment> PlacedExperiments::settle_unreplicated() {
  const auto stuck = std::ranges::find_if(
      waiting_, [&](const std::shared_ptr<Job>& job) { return !job->answers.empty() && judges_of(*job).empty(); });
  if (stuck == waiting_.end()) {
    return std::nullopt;
  }
  const std::shared_ptr<Job> job = *stuck;
  waiting_.erase(stuck);
  return settle(job);
}

// What was planned here, with what was found there.
Experiment PlacedExperiments::record_of(const Job& job, const Answer& answer) const {
  Experiment experiment = planned_experiment(frame_, state_.incumbent, iteration_, job.candidate, job.index);
  const Experiment& found = answer.judged.experiment;
  experiment.started_at = answer.started_at;
  experiment.finished_at = utc_now();
  experiment.machine = answer.judged.machine.id;
  experiment.candidate_build = found.candidate_build;
  experiment.incumbent_build = found.incumbent_build;
  experiment.gates = found.gates;
  experiment.rounds = found.rounds;
  experiment.judgement = found.judgement;
  experiment.outcome = found.outcome;
  return experiment;
}

void PlacedExperiments::store_device(const Answer& answer) {
  Journal& journal = frame_.journal;
  journal.add_machine(answer.judged.machine);
  if (known_roofs(journal, answer.judged.machine).empty()) {
    journal.add_roofs(answer.judged.machine.id, answer.judged.roofs);
  }
  for (SentinelRun sentinel : answer.judged.sentinels) {
    sentinel.row.campaign = frame_.campaign;
    journal.add_sentinel(sentinel.row, sentinel.rounds);
  }
}

void PlacedExperiments::end_answered(const Answer& answer, std::int64_t experiment) {
  frame_.journal.end_placement(
      answer.placement,
      {.state = PlacementState::answered, .experiment = experiment, .note = "", .seconds = answer.seconds});
}

void PlacedExperiments::store_replica(const Job& job, const Answer& answer, std::int64_t original) {
  store_device(answer);
  Experiment again = record_of(job, answer);
  again.campaign = 0;
  again.iteration = 0;
  again.id = frame_.journal.begin_replay(again, original, ReplayRow::Kind::replay);
  frame_.journal.finish_experiment(again);
  end_answered(answer, again.id);
}

// Answers of one moment wait for the disk once: what a loss of power takes is judged again.
Durable PlacedExperiments::durability() {
  constexpr double kMoment_s = 0.2;
  if (seconds_since(durable_at_) < kMoment_s) {
    return Durable::with_the_next;
  }
  durable_at_ = Clock::now();
  return Durable::at_once;
}

// All that one candidate leaves behind, in one transaction: it counts once or not at all.
Experiment PlacedExperiments::store(const Job& job) {
  Journal::Batch batch(frame_.journal, durability());
  const Catalogue& catalogue = frame_.workspace.catalogue();
  const Answer& first = job.answers.front();
  Experiment experiment = record_of(job, first);
  std::vector<DeviceVerdict> others;
  for (auto answer = job.answers.begin() + 1; answer != job.answers.end(); ++answer) {
    others.push_back({.device = answer->device, .judgement = *answer->judged.experiment.judgement});
  }
  demand_agreement(experiment, {.device = first.device, .judgement = *experiment.judgement}, others,
                   fleet_.replicate());
  store_device(first);
  frame_.journal.add_variant(catalogue.get(experiment.candidate.variant));
  frame_.journal.add_variant(catalogue.get(experiment.incumbent.variant));
  experiment.id = frame_.journal.begin_experiment(experiment);
  frame_.observer.say(
      fmt::format("  experiment {} on {}: {}", experiment.id, first.device, experiment.candidate.label()));
  keep_verdict(frame_, experiment);
  end_answered(first, experiment.id);
  for (auto answer = job.answers.begin() + 1; answer != job.answers.end(); ++answer) {
    store_replica(job, *answer, experiment.id);
  }
  frame_.journal.add_machine(frame_.workspace.machine());  // what this process measures is of that one again
  batch.commit();
  ++settled_;
  if (experiment.judgement->verdict == Verdict::accepted) {
    state_.incumbent = experiment.candidate;
    ++state_.accepts_since_certificate;
  }
  return experiment;
}

Experiment PlacedExperiments::store_killer(const Job& job, const FleetEvent& last) {
  Journal::Batch batch(frame_.journal);
  const Catalogue& catalogue = frame_.workspace.catalogue();
  Experiment experiment = planned_experiment(frame_, state_.incumbent, iteration_, job.candidate, job.index);
  experiment.outcome = last.why == WorkerEnd::silent ? Outcome::timed_out : Outcome::faulted;
  experiment.gates = {{.gate = "workers",
                       .outcome = experiment.outcome,
                       .evidence = fmt::format("{} workers were lost with it, the last one as {}: {}", job.losses,
                                               to_string(last.why), last.note)}};
  experiment.judgement = not_timed(experiment.gates.back());
  experiment.finished_at = utc_now();
  frame_.journal.add_variant(catalogue.get(experiment.candidate.variant));
  frame_.journal.add_variant(catalogue.get(experiment.incumbent.variant));
  experiment.id = frame_.journal.begin_experiment(experiment);
  keep_verdict(frame_, experiment);
  batch.commit();
  ++settled_;
  return experiment;
}

void PlacedExperiments::stop() {
  double wasted_s = 0;
  int stopped = 0;
  const auto end = [&](std::int64_t placement, double seconds) {
    end_rebased(placement, seconds, "another candidate was accepted");
    wasted_s += seconds;
    ++stopped;
  };
  for (const std::shared_ptr<Job>& job : waiting_) {
    for (const Answer& answer : job->answers) {
      end(answer.placement, answer.seconds);
    }
  }
  waiting_.clear();
  for (const auto& [placement, placed] : running_) {
    for (const Answer& answer : placed.job->answers) {
      end(answer.placement, answer.seconds);
    }
    end(placement, seconds_since(placed.start));
    fleet_.workers().cancel(placed.worker);
  }
  running_.clear();
  if (stopped > 0) {
    frame_.observer.say(fmt::format("  {} judged against the old incumbent meanwhile, in vain: {} of devices' time",
                                    stopped == 1 ? "1 candidate was" : fmt::format("{} candidates were", stopped),
                                    format_seconds(wasted_s)));
  }
}

void PlacedExperiments::tell() {
  const std::vector<std::string> doing = fleet_.workers().doing();
  frame_.observer.progress({.what = doing.empty() ? fmt::format("{} workers", fleet_.workers().size())
                                                  : fmt::format("{} judging: {}", running_.size(), doing.front()),
                            .done = settled_,
                            .expected = placed_});
}

}  // namespace apo
