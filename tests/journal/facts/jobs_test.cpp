// tests/journal/facts/jobs_test.cpp - jobs: written before they start, over once, known to be interrupted, linked to
// their experiments.
#include "journal/facts/jobs.h"

#include <cstdlib>

#include "journal/facts/experiments.h"
#include "tests/journal/journal_test.h"

namespace apo {
namespace {

using namespace apo::test;

Experiment begun(Journal& journal) {
  Experiment experiment = an_experiment(0, 0);
  experiment.machine = "cpu-1";
  experiment.id = begin_experiment(journal, experiment);
  return experiment;
}

// The journal of a command that this job started.
Journal opened_for_job(const Scratch& scratch, std::int64_t job) {
  setenv("APO_JOB", std::to_string(job).c_str(), 1);
  Journal journal = scratch.open();
  unsetenv("APO_JOB");
  return journal;
}

using Jobs = PreparedTest;

TEST_F(Jobs, AnEndedJobReadsBackAsItWasWritten) {
  const std::int64_t id = begin_job(journal, {.tool = "evaluate", .arguments = R"({"family":"copy"})"});
  EXPECT_FALSE(find_job(journal, id)->end);
  const JobEnd end{.state = JobState::done,
                   .exit_code = 1,
                   .document = R"({"verdict":"wrong"})",
                   .message = kAwkward,
                   .at = "2026-01-01"};
  finish_job(journal, id, end);
  const auto job = find_job(journal, id);
  EXPECT_EQ(job->tool, "evaluate");
  EXPECT_EQ(job->arguments, R"({"family":"copy"})");
  EXPECT_FALSE(job->started_at.empty());
  EXPECT_EQ(job->end, end);
  EXPECT_FALSE(find_job(journal, id + 1));
}

TEST_F(Jobs, AJobEndsOnce) {
  const std::int64_t id = begin_job(journal, {.tool = "compare", .arguments = "{}"});
  finish_job(journal, id, {.state = JobState::cancelled});
  EXPECT_FALSE(find_job(journal, id)->end->exit_code);
  EXPECT_THROW(finish_job(journal, id, {.state = JobState::failed}), std::logic_error);
  EXPECT_THROW(finish_job(journal, id + 1, {.state = JobState::failed}), std::logic_error);
}

TEST_F(Jobs, OneThatIsDoneHasADocument) {
  const std::int64_t id = begin_job(journal, {.tool = "compare", .arguments = "{}"});
  EXPECT_THROW(finish_job(journal, id, {.state = JobState::done}), std::logic_error);
}

TEST_F(Jobs, AServerIsKnownUntilItEnds) {
  std::int64_t id = 0;
  {
    Journal server = scratch.open();
    id = begin_job(server, {.tool = "evaluate", .arguments = "{}"});
    EXPECT_TRUE(job_has_server(journal, id));
    EXPECT_FALSE(job_has_server(journal, id + 1));
  }
  EXPECT_FALSE(job_has_server(journal, id));
}

TEST_F(Jobs, ExperimentsOfTheCommandBelongToTheJob) {
  const std::int64_t id = begin_job(journal, {.tool = "evaluate", .arguments = "{}", .started_at = "2026-01-01"});
  Journal command = opened_for_job(scratch, id);
  Experiment finished = begun(command);
  finish_experiment(command, finished);
  const Experiment open = begun(command);
  Journal stranger = scratch.open();
  begun(stranger);
  const auto job = find_job(journal, id);
  ASSERT_EQ(job->experiments.size(), 2u);
  EXPECT_EQ(job->experiments[0].id, finished.id);
  EXPECT_EQ(job->experiments[0].state, "finished");
  EXPECT_EQ(job->experiments[0].verdict, to_string(finished.judgement->verdict));
  EXPECT_EQ(job->experiments[1].id, open.id);
  EXPECT_EQ(job->experiments[1].state, "running");
  EXPECT_EQ(job->experiments[1].verdict, "");
}

TEST_F(Jobs, ANumberThatMeansNothingIsNoError) {
  Journal stranger = opened_for_job(scratch, 77);
  EXPECT_GT(begun(stranger).id, 0);
  const std::int64_t over = begin_job(journal, {.tool = "evaluate", .arguments = "{}"});
  finish_job(journal, over, {.state = JobState::cancelled});
  Journal late = opened_for_job(scratch, over);
  EXPECT_GT(begun(late).id, 0);
  EXPECT_TRUE(find_job(journal, over)->experiments.empty());
  EXPECT_EQ(journal.check_invariants(), std::vector<std::string>());
}

}  // namespace
}  // namespace apo
