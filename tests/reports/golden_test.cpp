// tests/reports/golden_test.cpp - reports against approved files. APO_APPROVE=1 writes what the program prints now.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "reports/plots/plots.h"
#include "reports/render.h"
#include "tests/reports/fixture.h"
#include "tests/text.h"

namespace apo::report {
namespace {

using fixture::beside_the_realistic;
using fixture::expect_approved;

const PlotPaths kPlots = {
    {"trajectory", "plots/trajectory.svg"}, {"effects", "plots/effects.svg"}, {"roofline", "plots/roofline.svg"}};

// Faster by a quarter, and worse. The other was interrupted.
std::vector<ProgramComparison> a_refusal() {
  ProgramComparison refused{.id = 3,
                            .kind = ComparisonKind::application,
                            .campaign = 12,
                            .a = "before|1",
                            .b = "after",
                            .application = {.metrics = {{.name = "step", .unit = "s"}}},
                            .started_at = "2026-01-02T03:04:05Z",
                            .judgement = Judgement{.verdict = Verdict::reverted,
                                                   .reason = Reason::quality_lost,
                                                   .sentence = "The quality got worse, whatever the speed."}};
  refused.runs = {{.seed = 1, .start_up_s = 2, .steps = 20, .seconds = 4}, {.side = Side::b, .seed = 1, .steps = 20}};
  refused.figures = {
      {.metric = "step",
       .unit = "s",
       .value_a = 0.2,
       .value_b = 0.16,
       .change = 1.25,
       .lower = 1.22,
       .upper = 1.28,
       .confidence = 0.98,
       .count = 14},
      {.kind = FigureKind::start_up, .metric = "start-up", .unit = "s", .value_a = 2, .value_b = 2.5, .count = 14},
      {.kind = FigureKind::quality,
       .metric = "loss",
       .value_a = 2,
       .value_b = 2.05,
       .change = 0.05,
       .lower = 0.04,
       .upper = 0.06,
       .count = 5,
       .margin = 0.01,
       .finding = QualityFinding::worse}};
  ProgramComparison interrupted{.id = 4,
                                .kind = ComparisonKind::application,
                                .a = "a",
                                .b = "b",
                                .application = refused.application,
                                .started_at = "2026-01-03T03:04:05Z"};
  interrupted.runs = {{.side = Side::b, .outcome = Outcome::not_finite, .evidence = "'loss' is nan"}};
  return {refused, interrupted};
}

TEST(GoldenReport, AnApplicationThatRefusesTheIncumbent) {
  CampaignRecords records = fixture::realistic_campaign();
  records.comparisons = a_refusal();
  const ReportModel model = build_model(std::move(records));
  expect_approved("refused_by_application.md", beside_the_realistic(render_markdown(model, kPlots)));
  EXPECT_NE(render_html(model).find("refuses the incumbent"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(render_json(model))["comparisons"][0]["judgement"]["reason"], "quality_lost");
}

TEST(GoldenReport, CampaignOnSeveralDevices) {
  CampaignRecords records = fixture::realistic_campaign();
  const WorkerRow worker{.id = 1,
                         .number = 1,
                         .command = "ssh gpu1 apo worker --serve",
                         .device = "GPU-1|a",
                         .end = WorkerEnd::dismissed,
                         .model = "NVIDIA H200",
                         .experiments = 2,
                         .busy_s = 75};
  WorkerRow died = worker;
  died.end = WorkerEnd::died;
  died.note = "SIGKILL <b>";
  died.experiments = 0;
  died.lost = 1;
  WorkerRow refused{
      .id = 3, .number = 2, .command = "ssh gpu2", .end = WorkerEnd::not_started, .note = "exit code 255"};
  records.workers = {worker, died, refused};
  for (const Experiment& experiment : records.experiments) {
    records.judged_on[experiment.id] = "GPU-1|a";
  }
  const ReportModel model = build_model(std::move(records));
  expect_approved("on_workers.md", beside_the_realistic(render_markdown(model, kPlots)));
  EXPECT_NE(render_html(model).find("Devices"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(render_json(model))["workers"][1]["end"], "died");
}

TEST(GoldenReport, RealisticCampaignInEveryFormat) {
  const ReportModel model = build_model(fixture::realistic_campaign());
  expect_approved("realistic/report.md", render_markdown(model, kPlots));
  expect_approved("realistic/report.json.txt", fixture::lines_by_path(render_json(model)));
  const std::string html = render_html(model);  // its writer is approved in commands.html
  for (const NamedPlot& plot : draw_plots(model)) {
    expect_approved("realistic/plots/" + plot.name + ".svg", plot.svg);
    expect_contains(html, plot.svg);
  }
}

TEST(GoldenReport, CampaignWithSampledStalls) {
  const ReportModel model = build_model(fixture::sampled_campaign());
  expect_approved("sampled/report.md", beside_the_realistic(render_markdown(model, kPlots)));
  const auto json = nlohmann::json::parse(render_json(model));
  EXPECT_NE(json.dump().find("__syncthreads"), std::string::npos);
}

TEST(GoldenReport, EmptyCampaign) {
  expect_approved("empty.md", render_markdown(build_model(fixture::empty_campaign()), kPlots));
}

TEST(Report, CandidatesThatWereLeftOutAreCountedByReason) {
  CampaignRecords records = fixture::empty_campaign();
  records.iterations = {{.id = 1, .index = 1}, {.id = 2, .index = 2}};
  for (IterationRecord& iteration : records.iterations) {
    iteration.brief.left_out = {
        {{.variant = "f/a"}, "identical to the incumbent: same source, same settings", LeftOutKind::incumbent},
        {{.variant = "f/b"}, "unsupported: its target is host", LeftOutKind::other_target},
        {{.variant = "f/c"}, "unsupported: its target is host", LeftOutKind::other_target}};
  }
  const std::string markdown = render_markdown(build_model(records), {});
  const std::size_t target = markdown.find("<strong>2</strong> for another target");
  EXPECT_NE(target, std::string::npos) << markdown;
  EXPECT_LT(target, markdown.find("<strong>1</strong> identical to the incumbent"));
  EXPECT_NE(markdown.find("| `f/b` | unsupported: its target is host | 1, 2 |"), std::string::npos);
}

TEST(Report, ReproductionNamesTheWorkload) {
  const std::string markdown = render_markdown(build_model(fixture::realistic_campaign()), {});
  EXPECT_NE(markdown.find("apo compare e88_backward/simple 'e88_backward/adaptive_threads[THREADS=2]'"
                          " --workload b2_t64_h4_n32 --cache cold"),
            std::string::npos);
}

TEST(Report, SameRecordsGiveTheSameBytes) {
  for (const Format format : {Format::markdown, Format::html, Format::json}) {
    EXPECT_EQ(render(build_model(fixture::long_campaign(30)), format),
              render(build_model(fixture::long_campaign(30)), format));
  }
}

TEST(Report, JsonHasNullAndNeverZeroForWhatWasNotMeasured) {
  const auto report = nlohmann::json::parse(render_json(build_model(fixture::failed_campaign())));
  for (const auto& experiment : report["experiments"]) {
    EXPECT_TRUE(experiment["judgement"]["speedup"].is_null());
    EXPECT_TRUE(experiment["effect_stage"].is_null());
  }
  EXPECT_TRUE(report["claim"].is_null());
}

TEST(Report, OnlyFailuresShowNoRatio) {
  const std::string markdown = render_markdown(build_model(fixture::failed_campaign()), {});
  EXPECT_NE(markdown.find("not measured"), std::string::npos);
  EXPECT_EQ(markdown.find("1.000x ["), std::string::npos);
  EXPECT_EQ(markdown.find("nan"), std::string::npos);
}

TEST(WriteReport, MarkdownComesWithThePlotsThatItNames) {
  const TemporaryFolder folder("apo-report");
  const auto paths =
      write_report(build_model(fixture::realistic_campaign()), Format::markdown, folder.path() / "a" / "b");
  ASSERT_EQ(paths.size(), 4U);
  EXPECT_EQ(paths[0].filename(), "report.md");
  const std::string markdown = read_file(paths[0]);
  for (std::size_t i = 1; i < paths.size(); ++i) {
    EXPECT_TRUE(std::filesystem::exists(paths[i]));
    EXPECT_NE(markdown.find("](plots/" + paths[i].filename().string() + ")"), std::string::npos);
  }
}

TEST(WriteReport, EveryOtherFormatIsOneFile) {
  const TemporaryFolder folder("apo-report");
  const ReportModel model = build_model(fixture::realistic_campaign());
  for (const Format format : {Format::html, Format::json}) {
    const auto paths = write_report(model, format, folder.path());
    ASSERT_EQ(paths.size(), 1U);
    EXPECT_EQ(read_file(paths[0]), render(model, format));
  }
}

TEST(WriteReport, FolderThatIsAFileIsTheUsersMistakeWithItsName) {
  const TemporaryFolder folder("apo-report");
  const auto file = folder.path() / "taken";
  write_file_atomically(file, "x");
  expect_contains(
      error_of([&] { write_report(build_model(fixture::empty_campaign()), Format::markdown, file / "inside"); }),
      "taken");
}

}  // namespace
}  // namespace apo::report
