// tests/reports/load_test.cpp - a campaign that went through the journal gives the report of its records.
#include "reports/load.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/system/files.h"
#include "journal/facts/applications.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/checks.h"
#include "journal/facts/experiments.h"
#include "journal/facts/machines.h"
#include "journal/facts/profiles.h"
#include "journal/facts/research/briefs.h"
#include "journal/facts/unfinished.h"
#include "journal/facts/variants.h"
#include "journal/journal.h"
#include "reports/render.h"
#include "reports/sections/sections.h"
#include "tests/reports/fixture.h"
#include "tests/text.h"

namespace apo::report {
namespace {

std::string register_variant(Journal& journal, const Configuration& configuration) {
  const std::size_t slash = configuration.variant.find('/');
  Variant variant{.family = configuration.variant.substr(0, slash), .name = configuration.variant.substr(slash + 1)};
  variant.techniques = {"some-technique"};
  variant.source = "// apo:variant " + variant.id() + "\n";
  variant.source_hash = sha256(variant.source);
  add_variant(journal, variant);
  return variant.source_hash;
}

void store_experiment(Journal& journal, const CampaignRecords& records, Experiment experiment, std::int64_t campaign,
                      std::int64_t iteration) {
  const std::int64_t recorded_id = experiment.id;
  experiment.campaign = campaign;
  experiment.iteration = iteration;
  experiment.candidate_source_hash = register_variant(journal, experiment.candidate);
  experiment.incumbent_source_hash = register_variant(journal, experiment.incumbent);
  experiment.id = begin_experiment(journal, experiment);
  if (!experiment.abandoned.empty()) {
    mark_abandoned(journal, {.kind = Unfinished::Kind::experiment, .id = experiment.id}, experiment.abandoned);
    return;
  }
  std::optional<Lesson> lesson;
  for (const Lesson& one : records.lessons) {
    if (one.experiment == recorded_id) {
      lesson = one;
      lesson->experiment = experiment.id;
    }
  }
  finish_experiment(journal, experiment, lesson);
}

std::int64_t store_iteration(Journal& journal, const IterationRecord& record, std::int64_t campaign) {
  const std::int64_t id = begin_iteration(
      journal,
      {.campaign = campaign, .index = record.index, .incumbent = record.incumbent, .started_at = record.started_at});
  for (const Profile& profile : record.profiles) {
    add_profile(journal, profile, {.machine = "cpu-3f9a", .iteration = id});
  }
  add_brief(journal, id, record.brief);
  return id;
}

// What a whole campaign writes, in the order in which it happens.
std::int64_t store(Journal& journal, const CampaignRecords& records) {
  add_machine(journal, records.machine);
  register_variant(journal, records.campaign.baseline);
  const std::int64_t campaign = begin_campaign(journal, records.campaign);
  for (SentinelRow sentinel : records.sentinels) {
    sentinel.campaign = campaign;
    sentinel.machine = records.machine.id;
    add_sentinel(journal, sentinel);
  }
  std::int64_t iteration = 0;
  for (const IterationRecord& record : build_model(records).iterations) {
    iteration = store_iteration(journal, record, campaign);
  }
  for (const Experiment& experiment : build_model(records).experiments) {
    store_experiment(journal, records, experiment, campaign, iteration);
  }
  for (const Experiment& abandoned : build_model(records).abandoned) {
    store_experiment(journal, records, abandoned, campaign, iteration);
  }
  for (Certification certification : records.certifications) {
    certification.campaign = campaign;
    add_certification(journal, certification);
  }
  finish_campaign(journal, campaign, records.campaign.policy.seed, "all iterations done");
  return campaign;
}

std::string line_text(const Line& line) {
  std::string text;
  for (const Span& span : line) {
    text += span.text;
  }
  return text;
}

class LoadModel : public ::testing::Test {
 protected:
  TemporaryFolder folder_{"apo-report-load"};
  std::filesystem::path path_ = folder_.path() / "journal.db";
};

TEST_F(LoadModel, ReportOfTheJournalSaysWhatTheRecordsSay) {
  const CampaignRecords records = fixture::realistic_campaign();
  Journal journal = Journal::open(path_, Access::read_write);
  const ReportModel loaded = load_model(journal, store(journal, records));
  const ReportModel built = build_model(records);
  EXPECT_EQ(line_text(claim(loaded)), line_text(claim(built)));
  EXPECT_EQ(line_text(summarise(loaded)), line_text(summarise(built)));
  EXPECT_EQ(loaded.campaign.policy.seed, built.campaign.policy.seed);
  ASSERT_EQ(loaded.diffs.size(), 2U) << "one an accepted experiment";
  EXPECT_EQ(loaded.diffs.begin()->second,
            "--- simple.cpp\n+++ chunk_prefetch.cpp\n@@ -1 +1 @@\n"
            "-// apo:variant e88_backward/simple\n+// apo:variant e88_backward/chunk_prefetch\n");
  EXPECT_EQ(loaded.campaign.end_note, "all iterations done");
  EXPECT_EQ(loaded.machine.model, built.machine.model);
  EXPECT_EQ(loaded.lessons.size(), built.lessons.size());
  EXPECT_EQ(loaded.sentinels.size(), 1U);
  EXPECT_EQ(loaded.first_profiles.size(), 1U);
  EXPECT_EQ(loaded.iterations.front().brief.left_out.size(), 1U);
  EXPECT_EQ(loaded.prediction_score.inside, built.prediction_score.inside);
  ASSERT_EQ(loaded.abandoned.size(), 1U);
  EXPECT_EQ(loaded.abandoned[0].abandoned, "the program was killed after 4 rounds");
  ASSERT_EQ(loaded.trajectory.size(), built.trajectory.size());
  for (std::size_t i = 0; i < built.trajectory.size(); ++i) {
    EXPECT_EQ(loaded.trajectory[i].incumbent, built.trajectory[i].incumbent);
    EXPECT_DOUBLE_EQ(loaded.trajectory[i].cumulative, built.trajectory[i].cumulative);
  }
  EXPECT_FALSE(has_effect(loaded.experiments[1]));
}

TEST_F(LoadModel, SameJournalGivesTheSameBytesHoweverItIsOpened) {
  std::vector<std::string> first;
  std::int64_t campaign = 0;
  {
    Journal journal = Journal::open(path_, Access::read_write);
    campaign = store(journal, fixture::realistic_campaign());
    for (const Format format : {Format::markdown, Format::html, Format::json}) {
      first.push_back(render(load_model(journal, campaign), format));
    }
  }
  Journal journal = Journal::open(path_, Access::read_only);
  EXPECT_EQ(newest_campaign(journal), campaign);
  std::size_t i = 0;
  for (const Format format : {Format::markdown, Format::html, Format::json}) {
    EXPECT_EQ(render(load_model(journal, campaign), format), first[i++]);
  }
}

TEST_F(LoadModel, TheNewestCampaignIsThatOfARunAlsoWhereATrialCameLater) {
  Journal journal = Journal::open(path_, Access::read_write);
  CampaignRecords trial = fixture::realistic_campaign();
  trial.campaign.policy.iterations = kNamedCandidates;
  const std::int64_t first = store(journal, trial);
  EXPECT_EQ(newest_campaign(journal), first) << "there is no other";
  const std::int64_t run = store(journal, fixture::realistic_campaign());
  store(journal, trial);
  EXPECT_EQ(newest_campaign(journal), run);
}

TEST_F(LoadModel, UnknownCampaignIsTheUsersMistake) {
  Journal journal = Journal::open(path_, Access::read_write);
  store(journal, fixture::realistic_campaign());
  expect_contains(error_of([&] { load_model(journal, 12); }), " | it has 1 (e88_backward n32)");
}

TEST_F(LoadModel, JournalWithoutACampaignHasNothingToReport) {
  Journal journal = Journal::open(path_, Access::read_write);
  EXPECT_THROW(newest_campaign(journal), UserError);
}

// One that was profiled where the campaign ran, and one of another machine.
TEST_F(LoadModel, ShowsTheApplicationsOfItsMachine) {
  Journal journal = Journal::open(path_, Access::read_write);
  const CampaignRecords records = fixture::realistic_campaign();
  const std::int64_t campaign = store(journal, records);
  add_machine(journal, {.id = "another", .model = "another"});
  const auto add = [&](const std::string& command, const std::string& machine) {
    ApplicationSummary summary{.total_ns = 4'560, .span_ns = 4'000, .busy_ns = 1'000};
    for (int i = 0; i < 12; ++i) {
      summary.work.push_back({.work = {.name = "kernel|" + std::to_string(i), .calls = 2, .total_ns = 600 - 40 * i},
                              .category = i == 0 ? "gemm" : "other",
                              .share = (600.0 - 40 * i) / 4560});
    }
    summary.ranges = {{.name = "step",
                       .path = "step",
                       .entered = 2,
                       .calls = 24,
                       .total_ns = 2'280,
                       .own_ns = 1'000,
                       .categories = {{.name = "gemm", .calls = 2, .total_ns = 570}}}};
    summary.ranges.push_back({.name = "idle_range", .path = "idle_range", .entered = 1});
    add_application(journal, {.command = command, .notes = {"a *note*"}}, summary, machine);
  };
  add("python3 step.py", records.machine.id);
  add("elsewhere", "another");
  const ReportModel model = load_model(journal, campaign);
  ASSERT_EQ(model.applications.size(), 1U);
  EXPECT_EQ(model.applications[0].command, "python3 step.py");
  EXPECT_EQ(model.applications[0].work.size(), 10U);
  EXPECT_EQ(model.applications[0].kernels, 12);
  const std::string text = render(model, Format::markdown);
  for (const char* part :
       {"## Applications", "`python3 step.py`, profiled ", "4.56 us of work on the GPU, busy for 25 % of 4 us",
        "the first 10 of 12", "kernel\\|0", "a \\*note\\*", "By NVTX range",
        "| `step` | 2 | 24 | 2.28 us | 1 us | 50 % | gemm 25 % |"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("elsewhere"), std::string::npos);
  EXPECT_EQ(text.find("idle_range"), std::string::npos) << "it launched nothing";
  EXPECT_NE(render(model, Format::json).find("\"own_ns\": 1000"), std::string::npos);
  EXPECT_NE(render(model, Format::html).find("Applications"), std::string::npos);
}

}  // namespace
}  // namespace apo::report
