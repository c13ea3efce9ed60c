// tests/cli/improve/run_text_test.cpp - the end of `apo run` tells what stands.
#include "harness/cli/improve/run_text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/core/text.h"

namespace apo {
namespace {

Experiment accepted(std::int64_t id, const std::string& candidate, const std::string& incumbent) {
  Experiment experiment{.id = id};
  experiment.candidate = {.variant = candidate, .settings = {}};
  experiment.incumbent = {.variant = incumbent, .settings = {}};
  experiment.prediction = {.low = 1.5, .high = 1.8, .because = "fewer barriers"};
  experiment.judgement = Judgement{.verdict = Verdict::accepted, .reason = Reason::faster, .rounds = 14};
  return experiment;
}

CampaignSummary two_accepts() {
  CampaignSummary summary{.incumbent = {.variant = "f/second", .settings = {}}};
  summary.iterations = {{.experiments = {accepted(1, "f/first", "f/simple")}},
                        {.experiments = {accepted(2, "f/second", "f/first")}}};
  summary.certifications = {{.incumbent = summary.incumbent}};
  return summary;
}

// The line below the experiment with this candidate.
std::string row_of(const std::string& text, const std::string& candidate) {
  const std::size_t at = text.find(": " + candidate + "\n  ");
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at + candidate.size() + 4) - at);
}

TEST(RunText, AnAlarmWithdrawsTheAcceptInTheTableAndInTheIncumbent) {
  CampaignSummary summary = two_accepts();
  EXPECT_EQ(summary_text(summary).find("withdrawn"), std::string::npos);
  EXPECT_EQ(summary_text(summary).find("ALARM"), std::string::npos);
  summary.withdrawn = {2};
  summary.incumbent = {.variant = "f/first", .settings = {}};
  summary.certifications[0].alarm = true;
  const std::string text = summary_text(summary);
  EXPECT_EQ(row_of(text, "f/first").find("withdrawn"), std::string::npos) << text;
  EXPECT_NE(row_of(text, "f/second").find("accepted, withdrawn"), std::string::npos) << text;
  EXPECT_NE(text.find("ALARM: well below what was claimed step by step"), std::string::npos) << text;
  EXPECT_NE(text.find("incumbent: f/first\n"), std::string::npos) << text;
}

TEST(RunText, TheEndSaysWhyWhatWasNotTriedAndWhatNobodyHasWritten) {
  CampaignSummary summary = two_accepts();
  EXPECT_EQ(summary_text(summary).find("not tried"), std::string::npos);
  EXPECT_EQ(summary_text(summary).find("ended:"), std::string::npos);
  summary.policy.family = "f";
  summary.stopped = "f/second is at 93 % of its floor (llc_copy): at most 1.08x is left";
  summary.untried = {{.why = "for target cuda", .variants = std::vector<std::string>(8, "f/of_many_letters")},
                     {.why = "no iteration came to them", .variants = {"f/j"}}};
  summary.iterations.back().unwritten = {
      {.technique = {.name = "fast-tanh", .low = 1.2, .high = 1.4, .source = "a paper"},
       .attacks = "libm-special-functions"},
      {.technique = {.name = "chunk-prefetch", .low = 1.1, .high = 1.2, .source = "a guide"},
       .attacks = "per-step-overhead",
       .why_not = "it is known of e88_forward alone"}};
  const std::string text = summary_text(summary);
  for (const char* part : {"not tried: 8 for target cuda\n           1 no iteration came to them: f/j\n",
                           "unwritten: 1 techniques that attack what holds the incumbent up: 'apo research f'\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  }
  EXPECT_NE(text.find("ended:     f/second is at 93 % of its floor"), std::string::npos) << text;
}

TEST(RunText, TheEndFitsOnOneScreen) {
  CampaignSummary summary = two_accepts();
  const std::string long_name = "f/" + std::string(70, 'c');
  for (int id = 3; id < 100; ++id) {
    summary.iterations.push_back({.experiments = {accepted(id, long_name, "f/second")}});
  }
  Certification certification{.incumbent = {long_name, {}}, .baseline = {long_name, {}}, .effect = 4.77, .lower = 4.63};
  certification.upper = 4.91;
  certification.rounds = 38;
  summary.certifications = {certification, certification};
  const std::string text = summary_text(summary);
  EXPECT_LE(std::ranges::count(text, '\n'), 25) << text;
  for (const std::string& line : split(text, '\n')) {
    EXPECT_LE(line.size(), 100U) << line;
  }
  EXPECT_NE(text.find("94 earlier experiments: in the report\n"), std::string::npos) << text;
}

TEST(RunText, TheProposalsAreCountedByClass) {
  CampaignSummary summary = two_accepts();
  EXPECT_EQ(summary_text(summary).find("proposals:"), std::string::npos) << "nobody was asked";
  summary.proposer_calls = {{.command = "true"}};
  EXPECT_NE(summary_text(summary).find("\nproposals: none\n"), std::string::npos) << summary_text(summary);
  summary.proposals = {
      .proposed = 15, .refused = 5, .repeated = 1, .not_judged = 3, .accepted = 1, .not_accepted = 3, .wrong = 2};
  EXPECT_NE(summary_text(summary).find("\nproposals: 15: 6 judged (1 accepted, 3 not accepted, 2 wrong), "
                                       "3 not judged, 1 repeated, 5 refused\n"),
            std::string::npos)
      << summary_text(summary);
}

TEST(RunText, APredictionIsABandInWords) {
  EXPECT_NE(row_of(summary_text(two_accepts()), "f/first").find("1.50x to 1.80x"), std::string::npos);
}

}  // namespace
}  // namespace apo
