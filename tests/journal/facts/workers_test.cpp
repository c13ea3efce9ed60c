// tests/journal/facts/workers_test.cpp - workers, what they were given, and what a killed driver leaves.
#include "journal/facts/workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "journal/facts/campaigns.h"
#include "journal/facts/experiments.h"
#include "journal/facts/incumbents.h"
#include "journal/facts/machines.h"
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
    add_machine(journal, a_machine("gpu-1"));
    add_machine(journal, a_machine("gpu-2"));
    campaign = begin_campaign(journal, a_campaign());
    iteration = begin_iteration(journal, {.campaign = campaign, .index = 1, .incumbent = {"e88_backward/simple", {}}});
    first = worker(1, "gpu-1");
    second = worker(2, "gpu-2");
  }

  std::int64_t worker(int number, const std::string& machine) {
    return add_worker(journal, {.campaign = campaign,
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
    const std::int64_t placement = begin_placement(journal, placement_of(worker, experiment));
    Journal::Batch batch(journal);
    experiment.id = begin_experiment(journal, experiment);
    finish_experiment(journal, experiment);
    end_placement(journal, placement, {.experiment = experiment.id, .note = "", .seconds = 8});
    batch.commit();
    return experiment.id;
  }
};

TEST(Workers, AnAnswerIsAnExperimentOfItsWorkersDevice) {
  WithWorkers with;
  const std::int64_t id = with.answer(with.second, with.judged_on("gpu-2"));
  EXPECT_EQ(worker_of(with.journal, id)->number, 2);
  EXPECT_EQ(worker_of(with.journal, id)->device, "gpu-2 device");
  EXPECT_FALSE(worker_of(with.journal, id + 1));
  const std::vector<WorkerRow> workers = workers_of(with.journal, with.campaign);
  ASSERT_EQ(workers.size(), 2U);
  EXPECT_EQ(workers[1].experiments, 1);
  EXPECT_EQ(workers[1].busy_s, 8);
  EXPECT_EQ(workers[0].experiments, 0);
  EXPECT_FALSE(with.is_broken("worker") || with.is_broken("placement") || with.is_broken("number"));
}

TEST(Workers, WhatOneJudgesNowIsShownUntilItIsOver) {
  WithWorkers with;
  const Experiment experiment = with.judged_on("gpu-1");
  const std::int64_t placement = begin_placement(with.journal, with.placement_of(with.first, experiment));
  EXPECT_EQ(workers_of(with.journal, with.campaign)[0].candidate, experiment.candidate.label());
  end_placement(with.journal, placement, {.state = PlacementState::given_back, .note = "died", .seconds = 3});
  end_worker(with.journal, with.first, WorkerEnd::died, "SIGKILL");
  const WorkerRow worker = workers_of(with.journal, with.campaign)[0];
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
  const std::int64_t first = begin_placement(with.journal, with.placement_of(with.first, waiting));
  const std::int64_t second = begin_placement(with.journal, with.placement_of(with.first, next));
  ASSERT_EQ(workers_of(with.journal, with.campaign).size(), 2U);
  EXPECT_EQ(workers_of(with.journal, with.campaign)[0].candidate, next.candidate.label());
  end_placement(with.journal, second, {.state = PlacementState::given_back, .note = "died", .seconds = 3});
  end_worker(with.journal, with.first, WorkerEnd::died, "SIGKILL");
  EXPECT_FALSE(with.is_broken("worker"));
  finish_iteration(with.journal, with.iteration);
  EXPECT_TRUE(with.is_broken("over when it ends")) << first;
}

TEST(Workers, AnExperimentAnswersOnePlacementAndAnEndedWorkerGetsNone) {
  WithWorkers with;
  const Experiment experiment = with.judged_on("gpu-1");
  const std::int64_t id = with.answer(with.first, experiment);
  const std::int64_t again = begin_placement(with.journal, with.placement_of(with.second, experiment));
  EXPECT_THROW(end_placement(with.journal, again, {.experiment = id}), std::logic_error);
  end_worker(with.journal, with.first, WorkerEnd::dismissed, "");
  EXPECT_THROW(begin_placement(with.journal, with.placement_of(with.first, experiment)), std::logic_error);
}

TEST(Workers, AKilledDriversWorkersAndWhatTheyHadAreEndedOnce) {
  WithWorkers with;
  begin_placement(with.journal, with.placement_of(with.first, with.judged_on("gpu-1")));
  EXPECT_EQ(end_interrupted_workers(with.journal, with.campaign), 2);
  EXPECT_EQ(end_interrupted_workers(with.journal, with.campaign), 0);
  EXPECT_EQ(workers_of(with.journal, with.campaign)[0].end, WorkerEnd::driver_ended);
  EXPECT_FALSE(with.is_broken("worker"));
}

TEST(Workers, WhatOneDeviceOfACampaignAcceptsIsTheIncumbentOnAllOfThem) {
  WithWorkers with;
  with.answer(with.second, with.judged_on("gpu-2"));
  for (const std::string machine : {"cpu-1", "gpu-1", "gpu-2"}) {
    const auto incumbent = find_incumbent(with.journal, "e88_backward", "n32", machine);
    ASSERT_TRUE(incumbent) << machine;
    EXPECT_EQ(incumbent->configuration.variant, "e88_backward/padded_cache") << machine;
    EXPECT_EQ(incumbent->machine, machine);
    EXPECT_EQ(newest_judged(with.journal, "e88_backward", "n32", machine, 10).size(), 1U) << machine;
  }
  add_machine(with.journal, a_machine("gpu-3"));
  EXPECT_FALSE(find_incumbent(with.journal, "e88_backward", "n32", "gpu-3")) << "it judged for no campaign of theirs";
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
