// tests/journal/facts/round_trip_test.cpp - every record comes back as it was written.
#include "tests/core/json/round_trip.h"

#include <cmath>
#include <limits>

#include "harness/core/hash.h"
#include "harness/core/sources.h"
#include "journal/encode.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/checks.h"
#include "journal/facts/experiments.h"
#include "journal/facts/machines.h"
#include "journal/facts/profiles.h"
#include "journal/facts/research/briefs.h"
#include "journal/facts/research/lessons.h"
#include "journal/facts/research/proposals.h"
#include "journal/facts/variants.h"
#include "journal/query/queries.h"
#include "tests/journal/journal_test.h"

namespace apo {

APO_FIELDS(ClockCoupling, missing, blocks, solo_run_s, confidence, time_effect, time_lower, time_upper, cycle_effect,
           clock_effect, clock_lower, clock_upper, coupled)
APO_FIELDS(Certification, id, campaign, incumbent, baseline, cache_policy, launch, effect, lower, upper, rounds,
           claimed_effect, alarm, seconds, at, clock)
APO_FIELDS(SentinelRow, id, campaign, machine, configuration, effect, lower, upper, confidence, sd, p_value, rounds,
           alarm, preset, cache_policy, rule_version, seconds, at)
APO_FIELDS(Profile, configuration, workload, rung, missing, metrics, roofs, floor_ns, floor_roof, time_ns,
           floor_fraction, conditions, stalls, lines, counts, launches)

namespace {

using namespace apo::test;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::int64_t begin(Journal& journal) {
  prepare(journal);
  return begin_campaign(journal, a_campaign());
}

using RoundTrip = JournalTest;

TEST_F(RoundTrip, ExperimentAddedStepByStepSurvivesReopening) {
  const std::int64_t campaign = begin(journal);
  Experiment experiment = an_experiment(campaign, begin_iteration(journal, {.campaign = campaign, .index = 1}));
  begin_with_evidence(journal, experiment);
  finish_experiment(journal, experiment);
  { const Journal closed = std::move(journal); }
  Journal reopened = scratch.open(Access::read_only);
  EXPECT_EQ(load_experiment(reopened, experiment.id), experiment);
  EXPECT_TRUE(load_experiment(reopened, experiment.id, Detail::summary).rounds.empty());
  EXPECT_TRUE(reopened.check_integrity().empty());
}

TEST_F(RoundTrip, FinishAddsTheEvidenceThatIsNotThereYet) {
  Experiment experiment = an_experiment(begin(journal), 0);
  experiment.id = begin_experiment(journal, experiment);
  add_gate(journal, experiment.id, experiment.gates[0]);
  add_round(journal, experiment.id, experiment.rounds[0]);
  finish_experiment(journal, experiment);
  EXPECT_EQ(load_experiment(journal, experiment.id), experiment);
}

TEST_F(RoundTrip, EveryOutcomeVerdictAndReasonHasItsWord) {
  const std::int64_t campaign = begin(journal);
  for (int value = 0; value <= static_cast<int>(Outcome::unstable_clock); ++value) {
    Experiment experiment = an_experiment(campaign, 0);
    experiment.rounds.clear();
    experiment.outcome = static_cast<Outcome>(value);
    experiment.gates[0].outcome = static_cast<Outcome>(value);
    experiment.candidate_build.outcome = static_cast<Outcome>(value);
    experiment.judgement->reason = static_cast<Reason>(value);
    experiment.judgement->verdict = static_cast<Verdict>(value % 3);
    experiment.id = begin_experiment(journal, experiment);
    finish_experiment(journal, experiment);
    EXPECT_EQ(load_experiment(journal, experiment.id), experiment);
  }
}

TEST_F(RoundTrip, NotANumberAndWhatIsAbsentComeBackAsThat) {
  Experiment experiment = an_experiment(begin(journal), 0);
  experiment.rounds.resize(1);
  experiment.rounds[0].effect = kNaN;
  experiment.rounds[0].environment.celsius = kNaN;
  experiment.judgement->effect = kNaN;
  experiment.judgement->cache_policy.reset();
  experiment.judgement->upper = std::numeric_limits<double>::infinity();
  experiment.id = begin_experiment(journal, experiment);
  finish_experiment(journal, experiment);
  const Experiment back = load_experiment(journal, experiment.id);
  EXPECT_TRUE(std::isnan(back.rounds[0].effect));
  EXPECT_TRUE(std::isnan(back.rounds[0].environment.celsius.value()));
  EXPECT_TRUE(std::isnan(back.judgement->effect));
  EXPECT_FALSE(back.judgement->cache_policy);
  EXPECT_EQ(back.judgement->upper, std::numeric_limits<double>::infinity());
}

// padded_cache is the candidate and simple the incumbent of each.
TEST_F(RoundTrip, TheNewestWorkloadThatTwoVariantsWereTimedOnIsFoundFromEitherSide) {
  const std::int64_t campaign = begin(journal);
  EXPECT_FALSE(newest_judged_workload(journal, "e88_backward/simple", "", "cpu-1"));
  add_quick(journal, {.campaign = campaign, .workload_class = "n32"});
  const std::int64_t newest = add_quick(journal, {.campaign = campaign, .workload_class = "n64"});
  Experiment stopped = an_experiment(campaign, 0);
  stopped.workloads = {"b9_n128"};
  stopped.rounds.clear();
  stopped.judgement->effect = kNaN;
  stopped.id = begin_experiment(journal, stopped);
  finish_experiment(journal, stopped);
  for (const auto& [variant, opponent] :
       {std::pair{"e88_backward/simple", "e88_backward/padded_cache"},
        std::pair{"e88_backward/padded_cache", "e88_backward/simple"}, std::pair{"e88_backward/simple", ""}}) {
    const auto judged = newest_judged_workload(journal, variant, opponent, "cpu-1");
    ASSERT_TRUE(judged) << variant;
    EXPECT_EQ(judged->experiment, newest) << "the one behind it was stopped by a gate";
    EXPECT_EQ(judged->workload, "b1_n64");
  }
  EXPECT_FALSE(newest_judged_workload(journal, "e88_backward/simple", "e88_backward/simple", "cpu-1"));
  EXPECT_FALSE(newest_judged_workload(journal, "e88_backward/simple", "", "another machine"));
}

TEST_F(RoundTrip, CampaignKeepsItsSeedSecretUntilItEnds) {
  const Campaign campaign = a_campaign();
  const std::int64_t id = begin(journal);
  EXPECT_EQ(find_campaign(journal, id)->policy.seed, 0u);
  EXPECT_EQ(find_campaign(journal, id)->state, CampaignState::open);
  EXPECT_EQ(find_open_campaign(journal, "e88_backward", "n32", "cpu-1")->id, id);
  finish_campaign(journal, id, campaign.policy.seed, kAwkward);
  EXPECT_FALSE(find_open_campaign(journal, "e88_backward", "n32", "cpu-1"));

  Campaign ended = campaign;
  ended.id = id;
  ended.state = CampaignState::finished;
  ended.end_note = kAwkward;
  ended.ended_at = find_campaign(journal, id)->ended_at;
  EXPECT_NE(ended.ended_at, "");
  EXPECT_EQ(find_campaign(journal, id), ended);
}

TEST_F(RoundTrip, VariantKeepsItsMetadataAndEveryByteOfItsSourceAndHeaders) {
  Variant headed = a_variant_with_headers();
  for (const Variant& variant : {a_variant("register_owned"), headed}) {
    add_variant(journal, variant);
    add_variant(journal, variant);
  }
  EXPECT_EQ(find_variant(journal, a_variant("register_owned").source_hash), a_variant("register_owned"));
  headed.headers[0].path = "";  // where it was read is not kept
  EXPECT_EQ(find_variant(journal, headed.source_hash), headed);
  EXPECT_EQ(variants_of(journal, "e88_backward").size(), 2u);
  EXPECT_TRUE(variants_of(journal, "copy").empty());
  EXPECT_TRUE(journal.check_invariants().empty());
}

TEST_F(RoundTrip, AnEditedVariantIsANewRowAndTheNewestOne) {
  Variant variant = a_variant("simple");
  add_variant(journal, variant);
  const std::string first = variant.source_hash;
  variant.source += "// edited\n";
  variant.source_hash = sha256(variant.source);
  variant.prediction.reset();
  add_variant(journal, variant);
  EXPECT_EQ(newest_variant(journal, "e88_backward/simple")->source_hash, variant.source_hash);
  EXPECT_EQ(variants_of(journal, "e88_backward").at(0).source_hash, variant.source_hash);
  EXPECT_FALSE(newest_variant(journal, "e88_backward/simple")->prediction);
  EXPECT_TRUE(find_variant(journal, first)->prediction);
  EXPECT_FALSE(newest_variant(journal, "e88_backward/none"));
}

TEST_F(RoundTrip, VariantWithAWrongHashIsRefused) {
  Variant variant = a_variant("simple");
  variant.source += " ";
  EXPECT_THROW(add_variant(journal, variant), std::logic_error);
  EXPECT_FALSE(newest_variant(journal, "e88_backward/simple"));
}

TEST_F(RoundTrip, MachineStatesAreKeptApart) {
  prepare(journal);
  const std::int64_t before = add_quick(journal, {});
  Machine newer = a_machine();
  newer.kernel = "6.2.0";
  add_machine(journal, newer);
  const std::int64_t after = add_quick(journal, {});
  add_machine(journal, a_machine());
  EXPECT_EQ(find_machine(journal, "cpu-1")->kernel, "6.1.0");
  EXPECT_EQ(machine_of(journal, before)->kernel, "6.1.0");
  EXPECT_EQ(machine_of(journal, after)->kernel, "6.2.0");
  EXPECT_EQ(machine_of(journal, after)->facts, newer.facts);
  EXPECT_EQ(machine_of(journal, after)->memory_bytes, newer.memory_bytes);
  EXPECT_FALSE(find_machine(journal, "cpu-2"));
}

TEST_F(RoundTrip, ProfilesRoofsAndBriefs) {
  const std::int64_t campaign = begin(journal);
  const std::int64_t iteration = begin_iteration(journal, {.campaign = campaign,
                                                           .index = 1,
                                                           .incumbent = {"e88_backward/simple", {{"K", 4}}},
                                                           .started_at = "2026-01-01T00:00:00Z"});
  add_roofs(journal, "cpu-1", {{"fp32_fma", 1e11, "flop/s", 9e10, 1.1e11, 20}, {"copy", 1e10, "byte/s", 1, 2, 3}});
  add_roofs(journal, "cpu-1", {{"fp32_fma", 2e11, "flop/s", 1.9e11, 2.1e11, 21, kAwkward}});
  const std::vector<Roof> roofs = roofs_of(journal, "cpu-1");
  ASSERT_EQ(roofs.size(), 2u);
  EXPECT_EQ(roofs[0].name, "copy");
  EXPECT_EQ(roofs[1].value, 2e11);
  EXPECT_EQ(roofs[1].note, kAwkward);
  EXPECT_TRUE(roofs_of(journal, "cpu-2").empty());
  EXPECT_TRUE(roofs_of(journal, "cpu-1", "another driver").empty());

  auto profile = filled<Profile>();
  profile.metrics[1].value = kNaN;
  profile.roofs = roofs;
  profile.stalls = {{"k", 1LL << 40, "variant.cu", 7, "barrier", 1LL << 33}, {kAwkward, 0, "", 0, "wait", 1}};
  profile.launches = {{kAwkward, 1.5, 2e9, 0.5, 0.25, "wait", 0.75}, {"k", 3, 1, 0, 1, "", 0}};
  profile.counts.clear();  // not kept
  add_profile(journal, profile, {.machine = "cpu-1", .iteration = iteration});
  Profile back = profiles_of_iteration(journal, iteration).at(0);
  EXPECT_TRUE(std::isnan(back.metrics.at(1).value));
  back.metrics[1].value = profile.metrics[1].value = 0;
  EXPECT_EQ(back, profile);
  EXPECT_EQ(roofs_of(journal, "cpu-1")[1].samples, 21);

  ResearchBrief brief{
      .bottlenecks = {{"single-thread", kAwkward, 1.9, BottleneckKind::cause, "simple.cu", 42}, {"barriers", "", kNaN}},
      .ranked = {{.configuration = {"e88_backward/padded_cache", {{"K", -1}}},
                  .techniques = {"padded-cache", "a,b"},
                  .prediction = {1.1, 1.3, "incumbent", "why", PredictionSource::measurements},
                  .attacks = "barriers",
                  .score = 0.1 + 0.2,
                  .why = kAwkward,
                  .origin = Origin::tuning},
                 {.configuration = {"e88_backward/simple", {}}, .prediction = {1, 2}}},
      .left_out = {{{"e88_backward/simple", {{"K", 9}}}, "not in these words", LeftOutKind::refuted}},
      .unwritten = {{.technique = {.name = "fast-tanh", .low = 1.1, .high = 1.9, .source = kAwkward},
                     .attacks = "barriers",
                     .score = 0.3,
                     .why_not = "it needs N <= 32"}}};
  add_brief(journal, iteration, brief);
  ResearchBrief read = load_brief(journal, iteration);
  EXPECT_TRUE(std::isnan(read.bottlenecks.at(1).bound));
  read.bottlenecks[1].bound = brief.bottlenecks[1].bound = 0;
  EXPECT_EQ(read, brief);

  finish_iteration(journal, iteration, kAwkward);
  const IterationRow row = iterations_of(journal, campaign).at(0);
  EXPECT_EQ(row.incumbent, (Configuration{"e88_backward/simple", {{"K", 4}}}));
  EXPECT_EQ(row.started_at, "2026-01-01T00:00:00Z");
  EXPECT_EQ(row.note, kAwkward);
  EXPECT_FALSE(row.ended_at.empty());
}

TEST_F(RoundTrip, ProposerCallsKeepWhatTheirAuthorsSaid) {
  prepare(journal);
  const std::int64_t campaign = begin_campaign(journal, a_campaign());
  const std::int64_t iteration = begin_iteration(
      journal, {.campaign = campaign, .index = 1, .incumbent = {"e88_backward/simple", {}}, .started_at = ""});
  ProposerCall call{
      .command = kAwkward,
      .outcome = ProposerOutcome::flooded,
      .note = "too much",
      .seconds = 1.5,
      .cost = {.tokens = 12, .usd = 1, .seconds = 2},
      .proposals = {
          {.author = "a",
           .configuration = {"copy/x_1", {{"K", 2}}},
           .idea = kAwkward,
           .prediction = Prediction{.low = 1.1, .high = 1.3, .because = "so"},
           .cost = {.tokens = 3, .usd = 0.25, .seconds = 1}},
          {.author = "b", .configuration = {}, .state = ProposalState::refused, .why = "no text", .cost = {4, 5, 6}}}};
  add_proposer_call(journal, iteration, call);
  add_proposer_call(journal, iteration, {.command = "true"});
  const std::vector<ProposerCall> read = proposer_calls_of(journal, campaign);
  ASSERT_EQ(read.size(), 2U);
  call.campaign = campaign;
  EXPECT_EQ(read[0], call);
  EXPECT_TRUE(std::isnan(read[1].cost.usd));
  EXPECT_TRUE(read[1].proposals.empty());
  EXPECT_EQ(authors_of(journal, "copy"), (std::map<std::string, std::string>{{"copy/x_1", "a"}}));
  EXPECT_TRUE(authors_of(journal, "cop").empty());
}

TEST_F(RoundTrip, NewestProposerCallsAreOfAllCampaignsOnThatFamilyAndTarget) {
  prepare(journal);
  const auto call_in = [&](const std::string& family, Target target, const std::string& command) {
    Campaign campaign = a_campaign();
    campaign.policy.family = family;
    campaign.policy.workload_class = command;  // the mistakes of an answer are of no class
    campaign.policy.target = target;
    const std::int64_t id = begin_campaign(journal, campaign);
    const std::int64_t iteration = begin_iteration(
        journal, {.campaign = id, .index = 1, .incumbent = {"e88_backward/simple", {}}, .started_at = ""});
    add_proposer_call(journal, iteration,
                      {.command = command, .proposals = {{.author = command, .configuration = {}}}});
    return id;
  };
  call_in("e88_backward", Target::host, "oldest");
  const std::int64_t first = call_in("e88_backward", Target::host, "first");
  call_in("copy", Target::host, "other family");
  call_in("e88_backward", Target::cuda, "other target");
  const std::int64_t last = call_in("e88_backward", Target::host, "last");
  const std::vector<ProposerCall> read = newest_proposer_calls(journal, "e88_backward", Target::host, 2);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].command, "first");
  EXPECT_EQ(read[0].campaign, first);
  EXPECT_EQ(read[0].proposals.front().author, "first");
  EXPECT_EQ(read[1].campaign, last);
}

TEST_F(RoundTrip, LessonsAreFoundByEveryFilter) {
  const std::int64_t campaign = begin(journal);
  Experiment experiment = an_experiment(campaign, 0);
  experiment.id = begin_experiment(journal, experiment);
  const Lesson lesson = a_lesson(experiment);
  finish_experiment(journal, experiment, lesson);
  Lesson other = lesson;
  other.family = "copy";
  other.workload_class = "large";
  other.machine = "cpu-2";
  other.configuration.variant = "copy/simple";
  other.techniques = {};
  other.verdict = Verdict::inconclusive;
  add_lesson(journal, other);

  ASSERT_EQ(lessons_of(journal).size(), 2u);
  Lesson back = lesson;
  back.id = 1;
  back.condition = {.model = a_machine().model, .workloads = experiment.workloads};
  EXPECT_EQ(lessons_of(journal).at(0), back);

  const LessonFilter first_only[] = {{.family = "e88_backward"},
                                     {.workload_class = "n32"},
                                     {.machine = "cpu-1"},
                                     {.model = a_machine().model},
                                     {.variant = "e88_backward/padded_cache"},
                                     {.technique = "adaptive-threads"},
                                     {.verdict = Verdict::accepted},
                                     {.campaign = campaign},
                                     {.experiment = experiment.id},
                                     {.family = "e88_backward", .incumbent_source = lesson.incumbent_source_hash}};
  for (const LessonFilter& filter : first_only) {
    const std::vector<Lesson> found = lessons_of(journal, filter);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].id, back.id);
  }
  EXPECT_TRUE(lessons_of(journal, {.technique = "adaptive"}).empty());
  EXPECT_TRUE(lessons_of(journal, {.family = "' OR '1'='1"}).empty());
}

// An iteration with a profile of the incumbent, and one experiment in it.
TEST_F(RoundTrip, LessonsKnowTheConditionThatTheyWereLearntUnder) {
  const std::int64_t campaign = begin(journal);
  const std::int64_t iteration = begin_iteration(journal, {.campaign = campaign, .index = 1});
  Experiment experiment = an_experiment(campaign, iteration);
  add_profile(journal,
              {.configuration = experiment.incumbent,
               .metrics = {{"stall_barrier", 0.2, "ratio", {}, {}, 1},
                           {"stall_selected", 0.5, "ratio", {}, {}, 1},
                           {"stall_long_scoreboard", 0.3, "ratio", {}, {}, 1}}},
              {.machine = "cpu-1", .iteration = iteration});
  experiment.id = begin_experiment(journal, experiment);
  finish_experiment(journal, experiment, a_lesson(experiment));
  const LessonCondition condition = lessons_of(journal).at(0).condition;
  EXPECT_EQ(condition.model, a_machine().model);
  EXPECT_EQ(condition.workloads, experiment.workloads);
  EXPECT_EQ(condition.stall, "long_scoreboard");
  EXPECT_EQ(condition.stall_share, 0.3);
}

TEST_F(RoundTrip, LessonsWithoutAProfileHaveNoStall) {
  prepare(journal);
  add_lesson(journal, a_lesson(an_experiment(0, 0)));
  const LessonCondition condition = lessons_of(journal).at(0).condition;
  EXPECT_EQ(condition, (LessonCondition{.model = a_machine().model, .workloads = an_experiment(0, 0).workloads}));
}

TEST_F(RoundTrip, LessonsAreOfTheNewestOfAScopeWhereThatIsAsked) {
  prepare(journal);
  Lesson lesson = a_lesson(an_experiment(0, 0));
  for (const std::int64_t setting : {1, 2, 3, 4}) {
    lesson.configuration.settings = {{"K", setting}};
    lesson.verdict = setting == 4 ? Verdict::accepted : Verdict::reverted;
    for (const char* workload_class : {"n32", "n64"}) {
      lesson.workload_class = workload_class;
      add_lesson(journal, lesson);
    }
  }
  const auto settings = [&](const LessonFilter& filter) {
    std::vector<std::int64_t> found;
    for (const Lesson& one : lessons_of(journal, filter)) {
      found.push_back(one.configuration.settings.begin()->second);
    }
    return found;
  };
  LessonFilter filter{.family = "e88_backward", .workload_class = "n32", .model = a_machine().model, .newest = 2};
  EXPECT_EQ(settings(filter), (std::vector<std::int64_t>{3, 4}));
  filter.verdict = Verdict::reverted;
  EXPECT_EQ(settings(filter), (std::vector<std::int64_t>{3})) << "the newest two, of which one is reverted";
  filter.newest = 100;
  EXPECT_EQ(settings(filter), (std::vector<std::int64_t>{1, 2, 3}));
}

// What research goes by, as `experiments` gives it.
TEST_F(RoundTrip, TheNewestJudgedOfAScopeAreThoseOfItsCampaigns) {
  const std::int64_t campaign = begin(journal);
  const std::int64_t second = begin_campaign(journal, a_campaign());
  Experiment whole = an_experiment(campaign, 0);
  whole.gates = {{"build", Outcome::valid, "fine", 1}, {"correctness", Outcome::incorrect, "NaN in dS", 2}};
  whole.outcome = Outcome::incorrect;
  whole.id = begin_experiment(journal, whole);
  finish_experiment(journal, whole);
  add_quick(journal, {.campaign = campaign, .verdict = Verdict::inconclusive, .effect = 0.01, .setting = 3});
  add_quick(journal, {.campaign = second, .verdict = Verdict::accepted, .effect = 0.2, .setting = 4});
  add_quick(journal, {.setting = 5});                                               // outside campaigns
  add_quick(journal, {.campaign = second, .workload_class = "n64", .setting = 6});  // another class
  begin_experiment(journal, an_experiment(second, 0));                              // not judged
  std::vector<Experiment> expected;
  for (const std::int64_t one : {campaign, second}) {
    for (Experiment& experiment : experiments_of(journal, one)) {
      if (experiment.judgement && experiment.workload_class == "n32") {
        experiment.candidate_build = experiment.incumbent_build = {};
        std::erase_if(experiment.gates, [](const GateResult& gate) { return gate.outcome == Outcome::valid; });
        expected.push_back(std::move(experiment));
      }
    }
  }
  ASSERT_EQ(expected.size(), 3u);
  const std::vector<Experiment> found = newest_judged(journal, "e88_backward", "n32", "cpu-1", 100);
  EXPECT_EQ(found, expected);
  ASSERT_EQ(found.at(0).gates.size(), 1u) << "those that failed";
  EXPECT_EQ(found[0].gates[0].evidence, "NaN in dS");
  const std::vector<Experiment> newest = newest_judged(journal, "e88_backward", "n32", "cpu-1", 2);
  ASSERT_EQ(newest.size(), 2u);
  EXPECT_EQ(newest[0].id, expected[1].id);
  EXPECT_TRUE(newest_judged(journal, "e88_backward", "n32", "cpu-2", 100).empty());
  EXPECT_TRUE(newest_judged(journal, "copy", "n32", "cpu-1", 100).empty());
  const std::vector<Experiment> others = newest_judged(journal, "e88_backward", "n32", "cpu-1", 100, JudgedAt::others);
  ASSERT_EQ(others.size(), 2u);
  EXPECT_EQ(others[0].campaign, 0);
  EXPECT_EQ(others[0].workload_class, "n32");
  EXPECT_EQ(others[1].workload_class, "n64");
  EXPECT_EQ(others[1].machine, "cpu-1");
  EXPECT_EQ(others[1].workloads, load_experiment(journal, others[1].id).workloads);
  EXPECT_EQ(newest_judged(journal, "e88_backward", "n32", "cpu-2", 100, JudgedAt::others).size(), 5u);
}

std::vector<Round> rounds_of(Journal& journal, const std::string& owner) {
  std::vector<Round> rounds;
  journal.visit_rounds([&](const std::string& whose, const Round& round) {
    if (whose == owner) {
      rounds.push_back(round);
    }
  });
  return rounds;
}

TEST_F(RoundTrip, CertificationsAndSentinelsKeepTheirRounds) {
  const std::int64_t campaign = begin(journal);
  auto certification = filled<Certification>();
  certification.launch = LaunchForm::stream;  // its rounds have it
  certification.campaign = campaign;
  certification.clock->missing = "";
  const std::vector<SoloRun> solo_runs = {
      {.workload = "w1", .candidate = true, .seconds = 1.9, .calls = 2e9, .mhz = 1972.5, .readings = 40},
      {.workload = "w2", .candidate = false, .seconds = 0.1 + 0.2, .calls = 3, .mhz = 345, .readings = 1}};
  const std::int64_t id = add_certification(journal, certification, {a_round(0, 5), a_round(1, 6)}, solo_runs);
  Certification back = certification;
  back.id = id;
  EXPECT_EQ(certifications_of(journal, campaign).back(), back);
  EXPECT_EQ(rounds_of(journal, "certification 1"), (std::vector<Round>{a_round(0, 5), a_round(1, 6)}));
  EXPECT_EQ(run_sql(scratch.path,
                    "SELECT workload, candidate, seconds, calls, mhz, readings FROM certification_solo_run"
                    " ORDER BY certification, position")
                .rows,
            (std::vector<std::vector<Cell>>{{"w1", std::int64_t{1}, 1.9, 2e9, 1972.5, std::int64_t{40}},
                                            {"w2", std::int64_t{0}, 0.1 + 0.2, 3.0, 345.0, std::int64_t{1}}}));
  EXPECT_TRUE(certifications_of(journal, campaign + 1).empty());
  Certification unread = certification;
  unread.clock = ClockCoupling{.missing = "no PMU"};
  add_certification(journal, unread);
  EXPECT_EQ(certifications_of(journal, campaign).back().clock->missing, "no PMU");
  EXPECT_EQ(run_sql(scratch.path, "SELECT 1 FROM certification_clock WHERE time_effect IS NULL").rows.size(), 1u);
  unread.clock.reset();
  add_certification(journal, unread);
  EXPECT_FALSE(certifications_of(journal, campaign).back().clock);

  auto sentinel = filled<SentinelRow>();
  sentinel.campaign = 0;
  sentinel.machine = "cpu-1";
  sentinel.id = add_sentinel(journal, sentinel, {a_round(0, 9)});
  EXPECT_EQ(sentinels_of(journal, 0).back(), sentinel);
  EXPECT_EQ(sentinels_of(journal, 0).size(), 1u);
  EXPECT_TRUE(sentinels_of(journal, campaign).empty());
  EXPECT_EQ(sentinel_rounds(journal, sentinel.id).at(0), a_round(0, 9));
}

TEST(Encode, TruncatedOrOverlongSamplesAreDamage) {
  const Round round = a_round(0, 1);
  const std::string bytes = encode_samples(round.workloads[0].warmup, round.workloads[0].blocks);
  std::vector<Block> warmup;
  std::vector<Block> blocks;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(decode_samples(bytes.substr(0, size), warmup, blocks), EnvironmentError) << size;
  }
  EXPECT_THROW(decode_samples(bytes + '\0', warmup, blocks), EnvironmentError);
  EXPECT_THROW(decode_samples(std::string(11, '\xff'), warmup, blocks), EnvironmentError);
  EXPECT_THROW(decode_samples(std::string("\x01\xff\xff\xff\xff\x7f\x00", 7), warmup, blocks), EnvironmentError);
}

TEST(Encode, AnUsualSampleTakesFourBytes) {
  std::vector<Block> blocks(40, Block{{{0, 712'345}, {1, 700'000}, {1, 701'000}, {0, 711'111}}});
  EXPECT_LE(encode_samples({}, blocks).size(), 40u * (4 * 4 + 1) + 8);
}

}  // namespace
}  // namespace apo
