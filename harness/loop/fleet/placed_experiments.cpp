// harness/loop/fleet/placed_experiments.cpp - hands out candidates, takes answers, and judges lost candidates again.
#include "harness/loop/fleet/placed_experiments.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/loop/experiment.h"
#include "harness/loop/fleet/agreement.h"
#include "harness/loop/fleet/task_sources.h"
#include "harness/loop/workspace/known_roofs.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr auto kLook = std::chrono::milliseconds(500);
constexpr int kMostLosses = 3;

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

// Not before all events are known: a worker that has joined again is another row.
bool PlacedExperiments::can_take() const {
  if (!waiting_.empty() || !events_.empty()) {
    return false;
  }
  for (std::size_t i = 0; i < fleet_.workers().size(); ++i) {
    if (fleet_.workers().is_idle(i)) {
      return true;
    }
  }
  return false;
}

void PlacedExperiments::place(const Candidate& candidate) {
  waiting_.push_back(std::make_shared<Job>(
      Job{.candidate = candidate, .index = ++state_.timed_candidates, .answers = {}, .devices = {}}));
  ++placed_;
  assign();
}

void PlacedExperiments::assign() {
  std::erase_if(waiting_, [&](const std::shared_ptr<Job>& job) { return assign(job); });
}

bool PlacedExperiments::assign(const std::shared_ptr<Job>& job) {
  for (std::size_t i = 0; i < fleet_.workers().size(); ++i) {
    if (fleet_.workers().is_idle(i) && !job->devices.contains(fleet_.workers().hello(i)->device)) {
      give(job, i);
      return true;
    }
  }
  return false;
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
  if (events_.empty()) {
    std::ranges::move(fleet_.workers().wait(kLook), std::back_inserter(events_));
  }
  while (!events_.empty()) {
    const FleetEvent event = std::move(events_.front());
    events_.pop_front();
    if (std::optional<Experiment> experiment = on_event(event)) {
      return experiment;
    }
  }
  fleet_.check_any_left();
  if (std::optional<Experiment> experiment = settle_unreplicated()) {
    return experiment;
  }
  assign();
  tell();
  return std::nullopt;
}

std::optional<Experiment> PlacedExperiments::on_event(const FleetEvent& event) {
  if (event.kind == FleetEvent::Kind::answered) {
    return on_answer(event);
  }
  if (event.kind == FleetEvent::Kind::left) {
    on_left(event);
  } else {
    fleet_.keep(event);
  }
  return std::nullopt;
}

std::optional<Experiment> PlacedExperiments::on_answer(const FleetEvent& event) {
  const auto found = running_.find(event.task);
  if (found == running_.end()) {
    return std::nullopt;  // of a worker that was given up for it
  }
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
    FleetEvent refused = fleet_.workers().refuse(event.worker, WorkerEnd::bad_answer, error.what());
    refused.task = event.task;
    on_left(refused);
    return std::nullopt;
  }
  const std::shared_ptr<Job> job = placed.job;
  running_.erase(found);
  job->devices.insert(answer.device);
  job->answers.push_back(std::move(answer));
  return settle(job);
}

void PlacedExperiments::on_left(const FleetEvent& event) {
  if (const auto found = running_.find(event.task); found != running_.end()) {
    const std::shared_ptr<Job> job = found->second.job;
    frame_.journal.end_placement(event.task, {.state = PlacementState::given_back,
                                              .note = std::string(to_string(event.why)),
                                              .seconds = seconds_since(found->second.start)});
    running_.erase(found);
    if (++job->losses < kMostLosses) {
      waiting_.push_front(job);
    } else {
      give_up(*job);
    }
  }
  fleet_.keep(event);
}

// What ends every worker is not worth the next one.
void PlacedExperiments::give_up(const Job& job) {
  for (const Answer& answer : job.answers) {
    end_rebased(answer.placement, answer.seconds, "no other device could judge it");
  }
  frame_.observer.say(fmt::format("  {} is left out of this iteration: {} workers were lost with it",
                                  job.candidate.configuration.label(), job.losses));
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

bool PlacedExperiments::can_replicate(const Job& job) const {
  for (std::size_t i = 0; i < fleet_.workers().size(); ++i) {
    const Hello* hello = fleet_.workers().hello(i);
    if (!fleet_.workers().is_out(i) && (hello == nullptr || !job.devices.contains(hello->device))) {
      return true;
    }
  }
  return false;
}

std::optional<Experiment> PlacedExperiments::settle(const std::shared_ptr<Job>& job) {
  if (needs_replication(*job) && can_replicate(*job)) {
    waiting_.push_front(job);
    return std::nullopt;
  }
  ++settled_;
  return store(*job);
}

// The devices that it waits for are gone.
std::optional<Experiment> PlacedExperiments::settle_unreplicated() {
  const auto stuck = std::ranges::find_if(
      waiting_, [&](const std::shared_ptr<Job>& job) { return !job->answers.empty() && !can_replicate(*job); });
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

// All that one candidate leaves behind, in one transaction: it counts once or not at all.
Experiment PlacedExperiments::store(const Job& job) {
  Journal::Batch batch(frame_.journal);
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
  if (experiment.judgement->verdict == Verdict::accepted) {
    state_.incumbent = experiment.candidate;
    ++state_.accepts_since_certificate;
  }
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
    if (fleet_.workers().task(placed.worker) == placement) {
      fleet_.workers().cancel(placed.worker);
    }
  }
  while (!running_.empty()) {
    if (events_.empty()) {
      std::ranges::move(fleet_.workers().wait(kLook), std::back_inserter(events_));
      continue;
    }
    const FleetEvent event = std::move(events_.front());
    events_.pop_front();
    if (const auto found = running_.find(event.task); found != running_.end()) {
      end(event.task, seconds_since(found->second.start));
      running_.erase(found);
    }
    if (event.kind == FleetEvent::Kind::joined || event.kind == FleetEvent::Kind::left) {
      fleet_.keep(event);
    }
  }
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
