// tests/journal/facts/facts_test.cpp - facts never change; views follow from them; what is over stays over.
#include <cmath>

#include "journal/implementation.h"
#include "journal/query/queries.h"
#include "tests/journal/journal_test.h"
#include "tests/text.h"

namespace apo {
namespace {

using namespace apo::test;

std::string text_of(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return *text;
  }
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    return std::to_string(*integer);
  }
  return std::holds_alternative<double>(cell) ? std::to_string(std::get<double>(cell)) : "null";
}

// The only value of the only row.
std::string value(const Scratch& scratch, const std::string& sql) {
  const Table table = run_sql(scratch.path, sql);
  return table.rows.size() == 1 ? text_of(table.rows[0].at(0)) : std::to_string(table.rows.size()) + " rows";
}

// Every table has a row after this.
std::int64_t fill(Journal& journal) {
  prepare(journal);
  const std::int64_t campaign = journal.begin_campaign(a_campaign());
  const std::int64_t iteration = journal.begin_iteration({.campaign = campaign, .index = 1});
  Experiment experiment = an_experiment(campaign, iteration);
  journal.add_profile({.configuration = experiment.incumbent,
                       .metrics = {{"time", 1, "ns", {}, {}, 1}},
                       .roofs = {{"copy", 1e10, "byte/s", 1, 2, 3}},
                       .conditions = "L2 flushed",
                       .stalls = {{.kernel = "k", .file = "a.cu", .line = 1, .stall = "wait", .samples = 1}},
                       .lines = {{.file = "a.cu", .line = 1, .text = "x"}}},
                      {.machine = "cpu-1", .iteration = iteration});
  journal.add_brief(iteration, {.bottlenecks = {{"b", "e", 2}},
                                .ranked = {{.configuration = experiment.candidate}},
                                .unwritten = {{.technique = {.name = "t"}, .attacks = "b"}}});
  journal.add_proposer_call(iteration, {.command = "c", .proposals = {{.author = "a", .configuration = {}}}});
  const std::int64_t job = journal.begin_job({.tool = "evaluate", .arguments = "{}", .started_at = "2026-01-01"});
  journal.implementation().job = job;
  experiment.id = journal.begin_experiment(experiment);
  journal.implementation().job = 0;
  journal.finish_job(job, {.state = JobState::failed});
  journal.finish_experiment(experiment, a_lesson(experiment));
  const std::int64_t worker = journal.add_worker({.campaign = campaign, .number = 1});
  const std::int64_t placement = journal.begin_placement({.worker = worker, .iteration = iteration});
  journal.end_placement(placement, {.experiment = experiment.id});
  journal.end_worker(worker, WorkerEnd::dismissed, "");
  journal.add_certification({.campaign = campaign, .clock = ClockCoupling{}}, {}, {{.workload = "w"}});
  journal.add_sentinel({.machine = "cpu-1"});
  const std::int64_t open = journal.begin_replay(experiment, experiment.id, ReplayRow::Kind::replay);
  journal.mark_abandoned({.kind = Unfinished::Kind::experiment, .id = open}, "killed");
  journal.finish_iteration(iteration);
  journal.finish_campaign(campaign, 5);
  ApplicationSummary summary{.total_ns = 5, .work = {{.work = {.name = "k", .calls = 1, .total_ns = 5}}}};
  summary.gaps[0].count = 1;
  summary.ranges = {{.name = "r", .path = "r", .calls = 1, .categories = {{.name = "other", .calls = 1}}}};
  journal.add_application({.source = "ncu", .command = "f.csv", .metrics = {{.kernel = "k", .samples = 1}}}, summary,
                          "");
  Selftest selftest{.machine = "cpu-1", .kernels = {{.configuration = experiment.candidate}}};
  selftest.id = journal.begin_selftest(selftest);
  journal.add_selftest_comparison(selftest.id, {.incumbent = experiment.candidate, .candidate = experiment.candidate});
  journal.finish_selftest(selftest);
  journal.add_variant(a_variant_with_headers());
  ProgramComparison comparison{.kind = ComparisonKind::application,
                               .application = an_application(),
                               .machine = "cpu-1",
                               .judgement = Judgement{.verdict = Verdict::reverted},
                               .figures = {{.metric = "loss"}},
                               .expectation = Expectation{.missing = "none"}};
  comparison.id = journal.begin_comparison(comparison);
  journal.add_comparison_run(comparison.id, {.values = {{"step", 1}, {"loss", 1}}});
  journal.finish_comparison(comparison);
  journal.begin_comparison({.machine = "cpu-1"});
  return experiment.id;
}

void fill_and_close(const Scratch& scratch) {
  Journal journal = scratch.open();
  fill(journal);
}

TEST(AppendOnly, NoTableCanBeUpdatedOrDeletedFrom) {
  Scratch scratch;
  fill_and_close(scratch);
  const Table tables = run_sql(scratch.path, "SELECT name FROM sqlite_schema WHERE type = 'table'");
  EXPECT_GE(tables.rows.size(), 30u);
  for (const auto& row : tables.rows) {
    const std::string table = text_of(row[0]);
    EXPECT_NE(value(scratch, "SELECT count(*) FROM " + table), "0") << table;
    const std::string column = value(scratch, "SELECT name FROM pragma_table_info('" + table + "') LIMIT 1");
    const std::string expected = "the journal is append-only";
    EXPECT_EQ(attack(scratch.path, "UPDATE " + table + " SET " + column + " = " + column), expected) << table;
    EXPECT_EQ(attack(scratch.path, "DELETE FROM " + table), expected) << table;
  }
}

TEST(AppendOnly, ReplaceIsRefusedToo) {
  Scratch scratch;
  fill_and_close(scratch);
  EXPECT_EQ(attack(scratch.path, "PRAGMA recursive_triggers = ON; REPLACE INTO campaign_end VALUES (1, 0, '', '')"),
            "the journal is append-only");
}

TEST(AppendOnly, EveryTableIsStrict) {
  Scratch scratch;
  scratch.open();
  EXPECT_EQ(value(scratch,
                  "SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND schema = 'main'"
                  " AND name NOT LIKE 'sqlite_%' AND NOT strict"),
            "0");
}

using Order = JournalTest;

TEST_F(Order, ExperimentNeedsItsSourcesAndItsMachine) {
  Experiment experiment = an_experiment(0, 0);
  EXPECT_THROW(journal.begin_experiment(experiment), std::logic_error);
  prepare(journal);
  experiment.machine = "unknown";
  EXPECT_THROW(journal.begin_experiment(experiment), std::logic_error);
  experiment.machine = "";
  EXPECT_THROW(journal.begin_experiment(experiment), std::logic_error);
  experiment.campaign = journal.begin_campaign(a_campaign());
  EXPECT_EQ(journal.load_experiment(journal.begin_experiment(experiment)).machine, "cpu-1");
}

TEST_F(Order, AFinishedExperimentTakesNothingMore) {
  Experiment experiment = an_experiment(0, 0);
  experiment.id = fill(journal);
  EXPECT_THROW(journal.add_round(experiment.id, a_round(3, 1)), std::logic_error);
  EXPECT_THROW(journal.add_gate(experiment.id, {}), std::logic_error);
  EXPECT_THROW(journal.finish_experiment(experiment), std::logic_error);
  EXPECT_THROW(journal.mark_abandoned({.id = experiment.id}, "no"), std::logic_error);
  EXPECT_THROW(journal.finish_campaign(1, 6), std::logic_error);
  const std::int64_t abandoned = experiment.id + 1;
  experiment.id = abandoned;
  EXPECT_THROW(journal.finish_experiment(experiment), std::logic_error);
  EXPECT_FALSE(journal.load_experiment(abandoned).judgement);
  EXPECT_THROW(journal.add_round(999, a_round(3, 1)), std::logic_error);
}

TEST_F(Order, AnUnjudgedExperimentCannotBeFinished) {
  prepare(journal);
  Experiment experiment = an_experiment(0, 0);
  experiment.id = journal.begin_experiment(experiment);
  experiment.judgement.reset();
  EXPECT_THROW(journal.finish_experiment(experiment), std::logic_error);
  EXPECT_EQ(journal.unfinished().size(), 1u);
}

TEST_F(Order, AFailedFinishLeavesNoHalf) {
  prepare(journal);
  Experiment experiment = an_experiment(0, 0);
  experiment.id = journal.begin_experiment(experiment);
  experiment.candidate_build.resources["registers"] = 1;
  experiment.judgement->verdict = static_cast<Verdict>(77);  // refused by the schema
  EXPECT_THROW(journal.finish_experiment(experiment, a_lesson(an_experiment(0, 0))), std::logic_error);
  const Experiment back = journal.load_experiment(experiment.id);
  EXPECT_TRUE(back.rounds.empty());
  EXPECT_TRUE(back.gates.empty());
  EXPECT_TRUE(back.candidate_build.key.empty());
  EXPECT_TRUE(journal.lessons().empty());
}

TEST_F(Order, BatchIsAllOrNothing) {
  prepare(journal);
  {
    Journal::Batch batch(journal);
    add_quick(journal, {});
    EXPECT_THROW(journal.add_gate(999, {}), std::logic_error);
  }
  EXPECT_NE(error_of([&] { journal.load_experiment(1); }), "");
  Journal::Batch batch(journal);
  add_quick(journal, {});
  EXPECT_THROW(journal.finish_campaign(999, 0), std::logic_error);
  add_quick(journal, {});
  batch.commit();
  EXPECT_EQ(journal.load_experiment(2).id, 2);
}

using Views = PreparedTest;

TEST_F(Views, ExperimentsRowSaysItAll) {
  const std::int64_t id = fill(journal);
  const auto of = [&](std::int64_t experiment, const std::string& columns) {
    return value(scratch, "SELECT " + columns + " FROM experiments WHERE id = " + std::to_string(experiment));
  };
  EXPECT_EQ(of(id, "variant || settings"), R"(e88_backward/padded_cache{"CHUNK":-16,"HEADS_PER_BLOCK":2})");
  EXPECT_EQ(of(id, "techniques || ' ' || incumbent"), "padded-cache,adaptive-threads e88_backward/simple");
  EXPECT_EQ(of(id, "verdict || ' ' || reason || ' ' || outcome || ' ' || state"), "accepted faster valid finished");
  EXPECT_EQ(of(id, "speedup"), std::to_string(std::exp(0.15)));
  EXPECT_EQ(of(id, "sentence"), std::string("measured: ") + kAwkward);
  EXPECT_EQ(of(id, "machine || '/' || machine_id"), "Intel(R) Xeon(R) Processor/cpu-1");
  EXPECT_EQ(of(id, "judge || ' ' || code_hash"), "judge-1 " + a_build("candidate").code_hash);
  EXPECT_EQ(of(id + 1, "state || ': ' || sentence"), "abandoned: killed");
  EXPECT_EQ(of(id + 1, "verdict"), "null");
  EXPECT_EQ(value(scratch, "SELECT state || experiments || accepted FROM campaigns"), "finished21");
  EXPECT_EQ(value(scratch, "SELECT text FROM lessons_view"), kAwkward);
}

TEST_F(Views, ACandidateThatWasNeverTimedHasNoSpeedup) {
  Experiment experiment = an_experiment(0, 0);
  experiment.outcome = Outcome::incorrect;
  experiment.judgement = {.verdict = Verdict::reverted, .reason = Reason::gate_failed};
  experiment.id = journal.begin_experiment(experiment);
  journal.finish_experiment(experiment);
  EXPECT_EQ(value(scratch, "SELECT speedup FROM experiments"), "null");
  EXPECT_EQ(value(scratch, "SELECT count(*) FROM predictions"), "0");
}

TEST_F(Views, PredictionsAreScored) {
  add_quick(journal, {.effect = std::log(1.15)});  // predicted 1.05..1.25
  add_quick(journal, {.effect = std::log(1.25) + 0.1});
  add_quick(journal, {.effect = std::log(1.05) - 0.2});
  const double width = std::log(1.25) - std::log(1.05);
  const Table table = run_sql(scratch.path, "SELECT hit, log_score, error FROM predictions ORDER BY experiment");
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(std::get<std::int64_t>(table.rows[0][0]), 1);
  EXPECT_EQ(std::get<std::int64_t>(table.rows[1][0]), 0);
  EXPECT_NEAR(std::get<double>(table.rows[0][1]), width, 1e-12);
  EXPECT_NEAR(std::get<double>(table.rows[1][1]), width + 1.0, 1e-12);
  EXPECT_NEAR(std::get<double>(table.rows[2][1]), width + 2.0, 1e-12);
  EXPECT_GT(std::get<double>(table.rows[1][2]), 0);
  EXPECT_LT(std::get<double>(table.rows[2][2]), 0);
}

TEST_F(Views, AnUntouchedBandIsNoPrediction) {
  for (const Prediction& prediction : {Prediction{}, Prediction{-1, 2, "", "x"}, Prediction{2, 1, "", "x"}}) {
    Experiment experiment = an_experiment(0, 0);
    experiment.prediction = prediction;
    experiment.id = journal.begin_experiment(experiment);
    journal.finish_experiment(experiment);
  }
  EXPECT_EQ(value(scratch, "SELECT count(*) FROM predictions"), "0");
}

using Incumbents = PreparedTest;

TEST_F(Incumbents, BaselineUntilSomethingIsAccepted) {
  EXPECT_FALSE(journal.incumbent("e88_backward", "n32", "cpu-1"));
  const std::int64_t campaign = journal.begin_campaign(a_campaign());
  add_quick(journal, {.campaign = campaign, .verdict = Verdict::reverted});
  const Incumbent first = *journal.incumbent("e88_backward", "n32", "cpu-1");
  EXPECT_EQ(first.configuration, a_campaign().baseline);
  EXPECT_EQ(first.experiment, 0);
  EXPECT_EQ(first.source_hash, a_variant("simple").source_hash);

  const std::int64_t accepted =
      add_quick(journal, {.campaign = campaign, .verdict = Verdict::accepted, .effect = 0.1, .setting = 5});
  add_quick(journal, {.campaign = campaign, .verdict = Verdict::inconclusive, .setting = 6});
  add_quick(journal, {.campaign = 0, .verdict = Verdict::accepted, .effect = 0.1, .setting = 7});  // apo compare
  const Incumbent second = *journal.incumbent("e88_backward", "n32", "cpu-1");
  EXPECT_EQ(second.experiment, accepted);
  EXPECT_EQ(second.configuration, (Configuration{"e88_backward/padded_cache", {{"K", 5}}}));
  EXPECT_EQ(second.source_hash, a_variant("padded_cache").source_hash);

  journal.begin_campaign(a_campaign());  // a newer campaign's baseline does not displace what was accepted
  EXPECT_EQ(journal.incumbent("e88_backward", "n32", "cpu-1")->experiment, accepted);
  EXPECT_FALSE(journal.incumbent("e88_backward", "n64", "cpu-1"));
  EXPECT_FALSE(journal.incumbent("e88_backward", "n32", "cpu-2"));
}

TEST_F(Incumbents, AnAlarmWithdrawsTheAcceptsSinceTheLastGoodCertification) {
  const std::int64_t campaign = journal.begin_campaign(a_campaign());
  const auto accept = [&](std::int64_t setting) {
    return add_quick(journal, {.campaign = campaign, .verdict = Verdict::accepted, .effect = 0.1, .setting = setting});
  };
  const auto incumbent = [&] { return journal.incumbent("e88_backward", "n32", "cpu-1")->experiment; };
  const std::int64_t good = accept(1);
  journal.add_certification({.campaign = campaign, .alarm = false});
  const std::set<std::int64_t> since = {accept(2), accept(3)};
  EXPECT_TRUE(journal.withdrawn(campaign).empty());
  journal.add_certification({.campaign = campaign, .alarm = true});
  EXPECT_EQ(incumbent(), good);
  EXPECT_EQ(journal.withdrawn(campaign), since);
  ASSERT_EQ(journal.standing_accepts(campaign).size(), 1U);
  EXPECT_EQ(journal.standing_accepts(campaign).back().id, good);
  journal.add_certification({.campaign = campaign, .cache_policy = CachePolicy::warm, .alarm = false});
  EXPECT_EQ(journal.withdrawn(campaign), since) << "the other cache policy clears no alarm";
  const std::int64_t later = accept(4);
  EXPECT_EQ(incumbent(), later);
  journal.add_certification({.campaign = campaign, .alarm = false});
  EXPECT_EQ(incumbent(), later);
}

TEST(Unfinished, OpenWorkIsFoundInnermostFirstAndAbandoned) {
  Scratch scratch;
  Journal journal = scratch.open();
  prepare(journal);
  const std::int64_t campaign = journal.begin_campaign(a_campaign());
  const std::int64_t iteration = journal.begin_iteration({.campaign = campaign, .index = 3});
  const std::int64_t experiment = journal.begin_experiment(an_experiment(campaign, iteration));
  journal.add_round(experiment, a_round(0, 1));
  const std::vector<Unfinished> open = journal.unfinished();
  ASSERT_EQ(open.size(), 3u);
  EXPECT_EQ(open[0].kind, Unfinished::Kind::experiment);
  EXPECT_EQ(open[0].id, experiment);
  EXPECT_EQ(open[0].campaign, campaign);
  EXPECT_EQ(open[0].rounds, 1);
  EXPECT_EQ(open[0].what, "experiment 1: e88_backward/padded_cache[CHUNK=-16,HEADS_PER_BLOCK=2]");
  EXPECT_EQ(open[1].kind, Unfinished::Kind::iteration);
  EXPECT_EQ(open[1].what, "iteration 3 of campaign 1");
  EXPECT_EQ(open[2].kind, Unfinished::Kind::campaign);
  EXPECT_EQ(open[2].what, "campaign 1: e88_backward n32");
  for (const Unfinished& each : open) {
    journal.mark_abandoned(each, "the process was killed");
    EXPECT_THROW(journal.mark_abandoned(each, "twice"), std::logic_error);
  }
  EXPECT_TRUE(journal.unfinished().empty());
  EXPECT_EQ(journal.campaign(campaign)->state, CampaignState::abandoned);
  EXPECT_EQ(journal.load_experiment(experiment).abandoned, "the process was killed");
  EXPECT_EQ(journal.experiments(campaign, Detail::rounds).at(0).rounds.size(), 1u);
}

}  // namespace
}  // namespace apo
