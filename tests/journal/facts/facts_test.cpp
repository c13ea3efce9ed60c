// tests/journal/facts/facts_test.cpp - facts never change; views follow from them; what is over stays over.
#include <cmath>

#include "journal/facts/applications.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/checks.h"
#include "journal/facts/comparisons.h"
#include "journal/facts/experiments.h"
#include "journal/facts/incumbents.h"
#include "journal/facts/jobs.h"
#include "journal/facts/profiles.h"
#include "journal/facts/replays.h"
#include "journal/facts/research/briefs.h"
#include "journal/facts/research/lessons.h"
#include "journal/facts/research/proposals.h"
#include "journal/facts/research/scans.h"
#include "journal/facts/selftests.h"
#include "journal/facts/unfinished.h"
#include "journal/facts/variants.h"
#include "journal/facts/workers.h"
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
  const std::int64_t campaign = begin_campaign(journal, a_campaign());
  const std::int64_t iteration = begin_iteration(journal, {.campaign = campaign, .index = 1});
  Experiment experiment = an_experiment(campaign, iteration);
  add_profile(journal,
              {.configuration = experiment.incumbent,
               .metrics = {{"time", 1, "ns", {}, {}, 1}},
               .roofs = {{"copy", 1e10, "byte/s", 1, 2, 3}},
               .conditions = "L2 flushed",
               .stalls = {{.kernel = "k", .file = "a.cu", .line = 1, .stall = "wait", .samples = 1}},
               .lines = {{.file = "a.cu", .line = 1, .text = "x"}},
               .launches = {{.kernel = "k", .time_ns = 1}}},
              {.machine = "cpu-1", .iteration = iteration});
  add_brief(journal, iteration,
            {.bottlenecks = {{"b", "e", 2}},
             .ranked = {{.configuration = experiment.candidate}},
             .unwritten = {{.technique = {.name = "t"}, .attacks = "b"}}});
  add_proposer_call(journal, iteration, {.command = "c", .proposals = {{.author = "a", .configuration = {}}}});
  const std::int64_t job = begin_job(journal, {.tool = "evaluate", .arguments = "{}", .started_at = "2026-01-01"});
  journal.implementation().job = job;
  experiment.id = begin_experiment(journal, experiment);
  journal.implementation().job = 0;
  finish_job(journal, job, {.state = JobState::failed});
  experiment.gates.front().wrong_case = WrongCase{.workload = "w"};
  finish_experiment(journal, experiment, a_lesson(experiment));
  const std::int64_t worker = add_worker(journal, {.campaign = campaign, .number = 1});
  const std::int64_t placement = begin_placement(journal, {.worker = worker, .iteration = iteration});
  end_placement(journal, placement, {.experiment = experiment.id});
  end_worker(journal, worker, WorkerEnd::dismissed, "");
  add_certification(journal, {.campaign = campaign, .clock = ClockCoupling{}}, {}, {{.workload = "w"}});
  add_sentinel(journal, {.machine = "cpu-1"});
  add_scanned(journal, {.place = {.machine = "cpu-1", .family = experiment.family, .workload = "w"},
                        .configuration = experiment.candidate,
                        .source_hash = experiment.candidate_source_hash,
                        .incumbent = experiment.incumbent,
                        .incumbent_source_hash = experiment.incumbent_source_hash,
                        .times = {.outcome = Outcome::faulted},
                        .worker = worker});
  const std::int64_t open = begin_replay(journal, experiment, experiment.id, ReplayRow::Kind::replay);
  mark_abandoned(journal, {.kind = Unfinished::Kind::experiment, .id = open}, "killed");
  finish_iteration(journal, iteration);
  finish_campaign(journal, campaign, 5);
  ApplicationSummary summary{.total_ns = 5, .work = {{.work = {.name = "k", .calls = 1, .total_ns = 5}}}};
  summary.gaps[0].count = 1;
  summary.ranges = {{.name = "r", .path = "r", .calls = 1, .categories = {{.name = "other", .calls = 1}}}};
  add_application(journal, {.command = "f"}, summary, "cpu-1");
  Selftest selftest{.machine = "cpu-1", .kernels = {{.configuration = experiment.candidate}}};
  selftest.id = begin_selftest(journal, selftest);
  add_selftest_comparison(journal, selftest.id, {.incumbent = experiment.candidate, .candidate = experiment.candidate});
  finish_selftest(journal, selftest);
  add_variant(journal, a_variant_with_headers());
  ProgramComparison comparison{.kind = ComparisonKind::application,
                               .application = an_application(),
                               .machine = "cpu-1",
                               .judgement = Judgement{.verdict = Verdict::reverted},
                               .figures = {{.metric = "loss"}}};
  comparison.id = begin_comparison(journal, comparison);
  add_comparison_run(journal, comparison.id, {.values = {{"step", 1}, {"loss", 1}}});
  finish_comparison(journal, comparison);
  begin_comparison(journal, {.machine = "cpu-1"});
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
  EXPECT_THROW(begin_experiment(journal, experiment), std::logic_error);
  prepare(journal);
  experiment.machine = "unknown";
  EXPECT_THROW(begin_experiment(journal, experiment), std::logic_error);
  experiment.machine = "";
  EXPECT_THROW(begin_experiment(journal, experiment), std::logic_error);
  experiment.campaign = begin_campaign(journal, a_campaign());
  EXPECT_EQ(load_experiment(journal, begin_experiment(journal, experiment)).machine, "cpu-1");
}

TEST_F(Order, AFinishedExperimentTakesNothingMore) {
  Experiment experiment = an_experiment(0, 0);
  experiment.id = fill(journal);
  EXPECT_THROW(add_round(journal, experiment.id, a_round(3, 1)), std::logic_error);
  EXPECT_THROW(add_gate(journal, experiment.id, {}), std::logic_error);
  EXPECT_THROW(finish_experiment(journal, experiment), std::logic_error);
  EXPECT_THROW(mark_abandoned(journal, {.id = experiment.id}, "no"), std::logic_error);
  EXPECT_THROW(finish_campaign(journal, 1, 6), std::logic_error);
  const std::int64_t abandoned = experiment.id + 1;
  experiment.id = abandoned;
  EXPECT_THROW(finish_experiment(journal, experiment), std::logic_error);
  EXPECT_FALSE(load_experiment(journal, abandoned).judgement);
  EXPECT_THROW(add_round(journal, 999, a_round(3, 1)), std::logic_error);
}

TEST_F(Order, AnUnjudgedExperimentCannotBeFinished) {
  prepare(journal);
  Experiment experiment = an_experiment(0, 0);
  experiment.id = begin_experiment(journal, experiment);
  experiment.judgement.reset();
  EXPECT_THROW(finish_experiment(journal, experiment), std::logic_error);
  EXPECT_EQ(all_unfinished(journal).size(), 1u);
}

TEST_F(Order, AFailedFinishLeavesNoHalf) {
  prepare(journal);
  Experiment experiment = an_experiment(0, 0);
  experiment.id = begin_experiment(journal, experiment);
  experiment.candidate_build.resources["registers"] = 1;
  experiment.judgement->verdict = static_cast<Verdict>(77);  // refused by the schema
  EXPECT_THROW(finish_experiment(journal, experiment, a_lesson(an_experiment(0, 0))), std::logic_error);
  const Experiment back = load_experiment(journal, experiment.id);
  EXPECT_TRUE(back.rounds.empty());
  EXPECT_TRUE(back.gates.empty());
  EXPECT_TRUE(back.candidate_build.key.empty());
  EXPECT_TRUE(lessons_of(journal).empty());
}

TEST_F(Order, BatchIsAllOrNothing) {
  prepare(journal);
  {
    Journal::Batch batch(journal);
    add_quick(journal, {});
    EXPECT_THROW(add_gate(journal, 999, {}), std::logic_error);
  }
  EXPECT_NE(error_of([&] { load_experiment(journal, 1); }), "");
  Journal::Batch batch(journal);
  add_quick(journal, {});
  EXPECT_THROW(finish_campaign(journal, 999, 0), std::logic_error);
  add_quick(journal, {});
  batch.commit();
  EXPECT_EQ(load_experiment(journal, 2).id, 2);
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
  experiment.id = begin_experiment(journal, experiment);
  finish_experiment(journal, experiment);
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
    experiment.id = begin_experiment(journal, experiment);
    finish_experiment(journal, experiment);
  }
  EXPECT_EQ(value(scratch, "SELECT count(*) FROM predictions"), "0");
}

using Incumbents = PreparedTest;

TEST_F(Incumbents, BaselineUntilSomethingIsAccepted) {
  EXPECT_FALSE(find_incumbent(journal, "e88_backward", "n32", "cpu-1"));
  const std::int64_t campaign = begin_campaign(journal, a_campaign());
  add_quick(journal, {.campaign = campaign, .verdict = Verdict::reverted});
  const Incumbent first = *find_incumbent(journal, "e88_backward", "n32", "cpu-1");
  EXPECT_EQ(first.configuration, a_campaign().baseline);
  EXPECT_EQ(first.experiment, 0);
  EXPECT_EQ(first.source_hash, a_variant("simple").source_hash);

  const std::int64_t accepted =
      add_quick(journal, {.campaign = campaign, .verdict = Verdict::accepted, .effect = 0.1, .setting = 5});
  add_quick(journal, {.campaign = campaign, .verdict = Verdict::inconclusive, .setting = 6});
  add_quick(journal, {.campaign = 0, .verdict = Verdict::accepted, .effect = 0.1, .setting = 7});  // apo compare
  const Incumbent second = *find_incumbent(journal, "e88_backward", "n32", "cpu-1");
  EXPECT_EQ(second.experiment, accepted);
  EXPECT_EQ(second.configuration, (Configuration{"e88_backward/padded_cache", {{"K", 5}}}));
  EXPECT_EQ(second.source_hash, a_variant("padded_cache").source_hash);

  begin_campaign(journal, a_campaign());  // a newer campaign's baseline does not displace what was accepted
  EXPECT_EQ(find_incumbent(journal, "e88_backward", "n32", "cpu-1")->experiment, accepted);
  EXPECT_FALSE(find_incumbent(journal, "e88_backward", "n64", "cpu-1"));
  EXPECT_FALSE(find_incumbent(journal, "e88_backward", "n32", "cpu-2"));
}

TEST_F(Incumbents, AnAlarmWithdrawsTheAcceptsSinceTheLastGoodCertification) {
  const std::int64_t campaign = begin_campaign(journal, a_campaign());
  const auto accept = [&](std::int64_t setting) {
    return add_quick(journal, {.campaign = campaign, .verdict = Verdict::accepted, .effect = 0.1, .setting = setting});
  };
  const auto incumbent = [&] { return find_incumbent(journal, "e88_backward", "n32", "cpu-1")->experiment; };
  const std::int64_t good = accept(1);
  add_certification(journal, {.campaign = campaign, .alarm = false});
  const std::set<std::int64_t> since = {accept(2), accept(3)};
  EXPECT_TRUE(withdrawn_accepts(journal, campaign).empty());
  add_certification(journal, {.campaign = campaign, .alarm = true});
  EXPECT_EQ(incumbent(), good);
  EXPECT_EQ(withdrawn_accepts(journal, campaign), since);
  ASSERT_EQ(standing_accepts(journal, campaign).size(), 1U);
  EXPECT_EQ(standing_accepts(journal, campaign).back().id, good);
  add_certification(journal, {.campaign = campaign, .cache_policy = CachePolicy::warm, .alarm = false});
  EXPECT_EQ(withdrawn_accepts(journal, campaign), since) << "the other cache policy clears no alarm";
  const std::int64_t later = accept(4);
  EXPECT_EQ(incumbent(), later);
  add_certification(journal, {.campaign = campaign, .alarm = false});
  EXPECT_EQ(incumbent(), later);
}

struct Judged {
  const char* what;
  void (*change)(Experiment&);
  bool counts;
};

void make_quick(Experiment& experiment, Reason reason) {
  experiment.judgement->preset = "quick";
  experiment.judgement->verdict = Verdict::inconclusive;
  experiment.judgement->reason = reason;
}

TEST(Counting, CandidatesThatCameToTimingCountWhateverCommandAskedForThem) {
  const Judged cases[] = {{"outside of a campaign", [](Experiment&) {}, true},
                          {"abandoned after a round", [](Experiment& e) { e.judgement.reset(); }, true},
                          {"a gate failed", [](Experiment& e) { e.rounds.clear(), e.judgement->rounds = 0; }, false},
                          {"only ranked", [](Experiment& e) { make_quick(e, Reason::ranked); }, false},
                          {"too noisy to be ranked", [](Experiment& e) { make_quick(e, Reason::noisy); }, false},
                          {"another class", [](Experiment& e) { e.workload_class = "n64"; }, false},
                          {"another family", [](Experiment& e) { e.family = "copy"; }, false}};
  Scratch scratch;
  Journal journal = scratch.open();
  prepare(journal);
  int counted = 0;
  for (const Judged& one : cases) {
    Experiment experiment = an_experiment(0, 0);
    one.change(experiment);
    experiment.id = begin_experiment(journal, experiment);
    for (const Round& round : experiment.rounds) {
      add_round(journal, experiment.id, round);
    }
    if (experiment.judgement) {
      finish_experiment(journal, experiment);
    }
    counted += one.counts ? 1 : 0;
    EXPECT_EQ(judged_candidates(journal, "e88_backward", "n32", "cpu-1"), counted) << one.what;
  }
  Experiment again = an_experiment(0, 0);
  again.id = begin_replay(journal, again, 1, ReplayRow::Kind::replay);
  finish_experiment(journal, again);
  EXPECT_EQ(judged_candidates(journal, "e88_backward", "n32", "cpu-1"), counted) << "a replay";
  EXPECT_EQ(judged_candidates(journal, "e88_backward", "n32", "cpu-2"), 0);
}

// Wrong in its timed calls.
void make_wrong(Experiment& experiment) {
  experiment.workloads = {"ragged"};
  experiment.gates.push_back({.gate = "timing", .outcome = Outcome::incorrect, .evidence = "y[3] is nan"});
  experiment.outcome = Outcome::incorrect;
  experiment.judgement->verdict = Verdict::reverted;
  experiment.judgement->reason = Reason::gate_failed;
}

TEST(ProofOfWrong, StaysWithTheTextAndWhereTimedCallsWereWrongWithTheMachineCode) {
  const struct {
    const char* what;
    void (*change_proof)(Experiment&);
    void (*change_candidate)(Experiment&);
    bool is_proof;
  } cases[] = {
      {"the same", [](Experiment&) {}, [](Experiment&) {}, true},
      {"the same text without a build", [](Experiment&) {}, [](Experiment& e) { e.candidate_build = {}; }, true},
      {"by another name", [](Experiment&) {}, [](Experiment& e) { e.candidate.variant = "e88_backward/other"; }, true},
      {"other settings", [](Experiment&) {},
       [](Experiment& e) { e.candidate.settings["CHUNK"] = 1, e.candidate_build = a_build("other"); }, false},
      {"another text, the same machine code", [](Experiment&) {},
       [](Experiment& e) { e.candidate_source_hash = e.incumbent_source_hash; }, true},
      {"the same machine code on another workload", [](Experiment&) {},
       [](Experiment& e) { e.candidate_source_hash = e.incumbent_source_hash, e.workloads = {"n4k"}; }, false},
      {"another text, wrong in the gate of correctness", [](Experiment& e) { e.gates.back().gate = "correctness"; },
       [](Experiment& e) { e.candidate_source_hash = e.incumbent_source_hash; }, false},
      {"the text that was, in the gate of correctness", [](Experiment& e) { e.gates.back().gate = "correctness"; },
       [](Experiment&) {}, true},
      {"undecided", [](Experiment& e) { e.judgement->verdict = Verdict::inconclusive; }, [](Experiment&) {}, false},
      {"faulted", [](Experiment& e) { e.outcome = Outcome::faulted; }, [](Experiment&) {}, false}};
  for (const auto& one : cases) {
    Scratch scratch;
    Journal journal = scratch.open();
    prepare(journal);
    Experiment proof = an_experiment(0, 0);
    make_wrong(proof);
    one.change_proof(proof);
    proof.id = begin_experiment(journal, proof);
    finish_experiment(journal, proof);
    Experiment candidate = an_experiment(0, 0);
    candidate.workloads = {"ragged"};
    one.change_candidate(candidate);
    EXPECT_EQ(oldest_proof_of_wrong(journal, candidate), one.is_proof ? std::optional(proof.id) : std::nullopt)
        << one.what;
  }
}

std::int64_t add_wrong(Journal& journal, const std::string& workload) {
  Experiment experiment = an_experiment(0, 0);
  make_wrong(experiment);
  experiment.gates.back().wrong_case =
      WrongCase{.workload = workload, .axes = {{"B", 2}, {"T", 7}}, .regime = "offset", .seed = ~std::uint64_t{6}};
  experiment.id = begin_experiment(journal, experiment);
  finish_experiment(journal, experiment);
  EXPECT_EQ(load_experiment(journal, experiment.id), experiment);
  return experiment.id;
}

TEST(ProofOfWrong, HasTheCaseThatShowedItAndTheNewestOfTheFamily) {
  Scratch scratch;
  {
    Journal journal = scratch.open();
    prepare(journal);
    const std::int64_t own = add_wrong(journal, "held out B=2 T=7");
    add_wrong(journal, "another");
    add_wrong(journal, "newest");
    const std::vector<KnownCase> cases = wrong_cases(journal, "e88_backward", own);
    ASSERT_EQ(cases.size(), 2U);
    EXPECT_EQ(cases[0].experiment, own);
    EXPECT_EQ(cases[0].where.workload, "held out B=2 T=7");
    EXPECT_EQ(cases[1].where.workload, "newest");
    EXPECT_EQ(wrong_cases(journal, "e88_backward", std::nullopt).size(), 1U);
    EXPECT_TRUE(wrong_cases(journal, "copy", std::nullopt).empty());
  }
  ASSERT_EQ(attack(scratch.path, "DROP TABLE wrong_case"), "");  // as the first journals of this version
  Journal reader = Journal::open(scratch.path, Access::read_only);
  EXPECT_TRUE(wrong_cases(reader, "e88_backward", 1).empty());
  EXPECT_FALSE(load_experiment(reader, 1).gates.back().wrong_case);
  Journal writer = scratch.open();
  EXPECT_TRUE(wrong_cases(writer, "e88_backward", add_wrong(writer, "again")).size() == 1);
}

TEST(Scans, EachMeasurementIsARowOfItsPlaceAndReadersOfOldJournalsFindNone) {
  Scratch scratch;
  const ScanPlace place{.machine = "cpu-1", .family = "e88_backward", .workload = "w", .cache = CachePolicy::warm};
  const std::string source = an_experiment(0, 0).candidate_source_hash;
  {
    Journal journal = scratch.open();
    prepare(journal);
    EXPECT_TRUE(scanned_at(journal, {.machine = "nobody"}).empty());
    Scanned row{.place = place,
                .configuration = {"e88_backward/a", {{"CHUNK", 8}}},
                .source_hash = source,
                .incumbent = {"e88_backward/b", {}},
                .incumbent_source_hash = source,
                .build_key = "key",
                .resources = {{"registers", 32}},
                .level = 1,
                .times = {.pairs = 9, .time_ns = 10, .incumbent_ns = 20, .effect = 0.7, .sd = 0.01},
                .seconds = 1.5};
    row.id = add_scanned(journal, row);
    add_scanned(journal, {.place = place,
                          .configuration = row.configuration,
                          .source_hash = source,
                          .incumbent = row.incumbent,
                          .incumbent_source_hash = source,
                          .times = {.outcome = Outcome::faulted, .evidence = "SIGSEGV"}});
    ScanPlace elsewhere = place;
    elsewhere.workload = "another";
    EXPECT_TRUE(scanned_at(journal, elsewhere).empty());
    const std::vector<Scanned> rows = scanned_at(journal, place);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].id, row.id);
    EXPECT_EQ(rows[0].place.machine, "cpu-1");
    EXPECT_EQ(rows[0].configuration, row.configuration);
    EXPECT_EQ(rows[0].resources, row.resources);
    EXPECT_EQ(std::tuple(rows[0].level, rows[0].times.pairs, rows[0].times.effect, rows[0].times.sd),
              std::tuple(1, 9, 0.7, 0.01));
    EXPECT_EQ(rows[1].times.outcome, Outcome::faulted);
    EXPECT_TRUE(std::isnan(rows[1].times.effect));
  }
  ASSERT_EQ(attack(scratch.path, "DROP TABLE scanned"), "");  // as earlier journals of this version
  Journal reader = Journal::open(scratch.path, Access::read_only);
  EXPECT_TRUE(scanned_at(reader, place).empty());
}

TEST(Unfinished, OpenWorkIsFoundInnermostFirstAndAbandoned) {
  Scratch scratch;
  Journal journal = scratch.open();
  prepare(journal);
  const std::int64_t campaign = begin_campaign(journal, a_campaign());
  const std::int64_t iteration = begin_iteration(journal, {.campaign = campaign, .index = 3});
  const std::int64_t experiment = begin_experiment(journal, an_experiment(campaign, iteration));
  add_round(journal, experiment, a_round(0, 1));
  const std::int64_t comparison =
      begin_comparison(journal, {.purpose = ComparisonPurpose::gate, .a = "old", .b = "new", .machine = "cpu-1"});
  const std::vector<Unfinished> open = all_unfinished(journal);
  ASSERT_EQ(open.size(), 4u);
  EXPECT_EQ(open[0].kind, Unfinished::Kind::experiment);
  EXPECT_EQ(open[0].id, experiment);
  EXPECT_EQ(open[0].campaign, campaign);
  EXPECT_EQ(open[0].rounds, 1);
  EXPECT_EQ(open[0].what, "experiment 1: e88_backward/padded_cache[CHUNK=-16,HEADS_PER_BLOCK=2]");
  EXPECT_EQ(open[1].kind, Unfinished::Kind::iteration);
  EXPECT_EQ(open[1].what, "iteration 3 of campaign 1");
  EXPECT_EQ(open[2].kind, Unfinished::Kind::campaign);
  EXPECT_EQ(open[2].what, "campaign 1: e88_backward n32");
  EXPECT_EQ(open[3].what, "comparison c1: new against old");
  EXPECT_TRUE(who_works_on(journal, open[3]));
  for (const Unfinished& each : open) {
    mark_abandoned(journal, each, "the process was killed");
    EXPECT_THROW(mark_abandoned(journal, each, "twice"), std::logic_error);
  }
  EXPECT_TRUE(all_unfinished(journal).empty());
  EXPECT_EQ(find_campaign(journal, campaign)->state, CampaignState::abandoned);
  const ProgramComparison ended = load_comparison(journal, comparison);
  EXPECT_EQ(ended.judgement->reason, Reason::interrupted);
  EXPECT_EQ(ended.judgement->sentence, "the process was killed");
  EXPECT_EQ(ended.gate, GateVerdict::undecided);
  EXPECT_EQ(load_experiment(journal, experiment).abandoned, "the process was killed");
  EXPECT_EQ(experiments_of(journal, campaign, Detail::rounds).at(0).rounds.size(), 1u);
}

}  // namespace
}  // namespace apo
