// tests/journal/facts/workers_test.cpp - workers, what they were given, and what a killed driver leaves.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "tests/journal/samples.h"

namespace apo {
namespace {

using namespace apo::test;

// A campaign with two workers on devices of their own.
struct WithWorkers {
  Scratch scratch;
  Journal journal = scratch.open();
  std::int64_t campaign = 0;
  std::int64_t iteration = 0;
  std::int64_t first = 0;
  std::int64_t second = 0;

  WithWorkers() {
    prepare(journal);
    journal.add_machine(a_machine("gpu-1"));
    journal.add_machine(a_machine("gpu-2"));
    campaign = journal.begin_campaign(a_campaign());
    iteration = journal.begin_iteration({.campaign = campaign, .index = 1, .incumbent = {"e88_backward/simple", {}}});
    first = worker(1, "gpu-1");
    second = worker(2, "gpu-2");
  }

  std::int64_t worker(int number, const std::string& machine) {
    return journal.add_worker({.campaign = campaign,
                               .number = number,
                               .command = "apo worker --serve",
                               .machine = machine,
                               .device = machine + " device"});
  }

  Placement placement_of(std::int64_t worker, const Experiment& experiment) const {
    return {.worker = worker,
            .iteration = iteration,
            .index = experiment.index,
            .candidate = experiment.candidate,
            .incumbent = experiment.incumbent,
            .prediction = experiment.prediction};
  }

  Experiment judged_on(const std::string& machine, Verdict verdict = Verdict::accepted) const {
    Experiment experiment = an_experiment(campaign, iteration);
    experiment.machine = machine;
    experiment.judgement = a_judgement(verdict, verdict == Verdict::accepted ? 0.15 : -0.15);
    return experiment;
  }

  // An invariant whose words these are. The sample's rounds break others.
  bool is_broken(const std::string& words) {
    const std::vector<std::string> findings = journal.check_invariants();
    return std::ranges::any_of(findings, [&](const std::string& one) { return one.find(words) != std::string::npos; });
  }

  std::int64_t answer(std::int64_t worker, Experiment experiment) {
    const std::int64_t placement = journal.begin_placement(placement_of(worker, experiment));
    Journal::Batch batch(journal);
    experiment.id = journal.begin_experiment(experiment);
    journal.finish_experiment(experiment);
    journal.end_placement(placement, {.experiment = experiment.id, .note = "", .seconds = 8});
    batch.commit();
    return experiment.id;
  }
};

TEST(Workers, AnAnswerIsAnExperimentOfItsWorkersDevice) {
  WithWorkers with;
  const std::int64_t id = with.answer(with.second, with.judged_on("gpu-2"));
  EXPECT_EQ(with.journal.worker_of(id)->number, 2);
  EXPECT_EQ(with.journal.worker_of(id)->device, "gpu-2 device");
  EXPECT_FALSE(with.journal.worker_of(id + 1));
  const std::vector<WorkerRow> workers = with.journal.workers(with.campaign);
  ASSERT_EQ(workers.size(), 2U);
  EXPECT_EQ(workers[1].experiments, 1);
  EXPECT_EQ(workers[1].busy_s, 8);
  EXPECT_EQ(workers[0].experiments, 0);
  EXPECT_FALSE(with.is_broken("worker") || with.is_broken("placement") || with.is_broken("number"));
}

TEST(Workers, WhatOneJudgesNowIsShownUntilItIsOver) {
  WithWorkers with;
  const Experiment experiment = with.judged_on("gpu-1");
  const std::int64_t placement = with.journal.begin_placement(with.placement_of(with.first, experiment));
  EXPECT_EQ(with.journal.workers(with.campaign)[0].candidate, experiment.candidate.label());
  with.journal.end_placement(placement, {.state = PlacementState::given_back, .note = "died", .seconds = 3});
  with.journal.end_worker(with.first, WorkerEnd::died, "SIGKILL");
  const WorkerRow worker = with.journal.workers(with.campaign)[0];
  EXPECT_EQ(worker.candidate, "");
  EXPECT_EQ(worker.end, WorkerEnd::died);
  EXPECT_EQ(worker.note, "SIGKILL");
  EXPECT_EQ(worker.lost, 1);
}

TEST(Workers, OneWhoseAcceptanceWaitsForAnotherDeviceMayJudgeAnotherCandidateOrEnd) {
  WithWorkers with;
  const Experiment waiting = with.judged_on("gpu-1");
  Experiment next = waiting;
  next.candidate.settings = {{"PAD", 7}};
  const std::int64_t first = with.journal.begin_placement(with.placement_of(with.first, waiting));
  const std::int64_t second = with.journal.begin_placement(with.placement_of(with.first, next));
  ASSERT_EQ(with.journal.workers(with.campaign).size(), 2U);
  EXPECT_EQ(with.journal.workers(with.campaign)[0].candidate, next.candidate.label());
  with.journal.end_placement(second, {.state = PlacementState::given_back, .note = "died", .seconds = 3});
  with.journal.end_worker(with.first, WorkerEnd::died, "SIGKILL");
  EXPECT_FALSE(with.is_broken("worker"));
  with.journal.finish_iteration(with.iteration);
  EXPECT_TRUE(with.is_broken("over when it ends")) << first;
}

TEST(Workers, AnExperimentAnswersOnePlacementAndAnEndedWorkerGetsNone) {
  WithWorkers with;
  const Experiment experiment = with.judged_on("gpu-1");
  const std::int64_t id = with.answer(with.first, experiment);
  const std::int64_t again = with.journal.begin_placement(with.placement_of(with.second, experiment));
  EXPECT_THROW(with.journal.end_placement(again, {.experiment = id}), std::logic_error);
  with.journal.end_worker(with.first, WorkerEnd::dismissed, "");
  EXPECT_THROW(with.journal.begin_placement(with.placement_of(with.first, experiment)), std::logic_error);
}

TEST(Workers, AKilledDriversWorkersAndWhatTheyHadAreEndedOnce) {
  WithWorkers with;
  with.journal.begin_placement(with.placement_of(with.first, with.judged_on("gpu-1")));
  EXPECT_EQ(with.journal.end_interrupted_workers(with.campaign), 2);
  EXPECT_EQ(with.journal.end_interrupted_workers(with.campaign), 0);
  EXPECT_EQ(with.journal.workers(with.campaign)[0].end, WorkerEnd::driver_ended);
  EXPECT_FALSE(with.is_broken("worker"));
}

TEST(Workers, WhatOneDeviceOfACampaignAcceptsIsTheIncumbentOnAllOfThem) {
  WithWorkers with;
  with.answer(with.second, with.judged_on("gpu-2"));
  for (const std::string machine : {"cpu-1", "gpu-1", "gpu-2"}) {
    const auto incumbent = with.journal.incumbent("e88_backward", "n32", machine);
    ASSERT_TRUE(incumbent) << machine;
    EXPECT_EQ(incumbent->configuration.variant, "e88_backward/padded_cache") << machine;
    EXPECT_EQ(incumbent->machine, machine);
    EXPECT_EQ(with.journal.newest_judged("e88_backward", "n32", machine, 10).size(), 1U) << machine;
  }
  with.journal.add_machine(a_machine("gpu-3"));
  EXPECT_FALSE(with.journal.incumbent("e88_backward", "n32", "gpu-3")) << "it judged for no campaign of theirs";
}

TEST(Workers, AnExperimentOfAnotherDeviceThanItsWorkersIsFound) {
  WithWorkers with;
  with.answer(with.first, with.judged_on("gpu-2"));
  EXPECT_TRUE(with.is_broken("measured on its device"));
}

TEST(Workers, TwoExperimentsOfOneNumberAreFound) {
  WithWorkers with;
  with.answer(with.first, with.judged_on("gpu-1", Verdict::reverted));
  with.answer(with.second, with.judged_on("gpu-2", Verdict::reverted));
  EXPECT_TRUE(with.is_broken("one experiment alone"));
}

}  // namespace
}  // namespace apo
