// tests/cli/look/research_test.cpp - `apo research`: the brief, and the score of recorded journals.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "harness/core/system/files.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

TEST(ResearchCommand, PrintsTheBriefOfTheNextIterationAndJudgesNothing) {
  const Workplace place;
  const Ran ran = place.apo({"research", "copy", "--workload", "n4k", "--target", "host"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* said : {"copy/simple on n4k takes ", "what its time goes to", "to try, in this order",
                           "copy/streaming", "% apo:predict", "left out: "}) {
    EXPECT_NE(ran.out.find(said), std::string::npos) << "no '" << said << "' in:\n" << ran.out;
  }
  const Json brief = only_document(place.apo({"research", "copy", "--workload", "n4k", "--target", "host", "--json"}));
  EXPECT_EQ(brief["incumbent"]["variant"], "copy/simple");
  EXPECT_FALSE(brief["ranked"].empty());
  EXPECT_EQ(place.apo({"query"}).out.find("copy/"), std::string::npos) << "nothing was judged";
}

TEST(ResearchCommand, MistakesAreNamed) {
  const Workplace place;
  const auto error = [&](const std::vector<std::string>& words) {
    const Ran ran = place.apo(words);
    EXPECT_EQ(ran.exit_code, 1) << ran.out;
    return ran.err;
  };
  EXPECT_NE(error({"research"}).find("no family was given"), std::string::npos);
  EXPECT_NE(error({"research", "coppy"}).find("did you mean 'copy'"), std::string::npos);
  EXPECT_NE(error({"research", "copy", "--replay", "x.db"}).find("x.db"), std::string::npos);
  place.write("no.db", "not a journal");
  EXPECT_NE(error({"research", "--replay", "no.db"}).find("no.db' is not a journal"), std::string::npos);
}

TEST(ResearchCommand, AJournalWithoutCampaignsHasNoScore) {
  const Workplace place;
  place.apo({"research", "copy", "--workload", "n4k", "--target", "host"});  // which makes a journal
  const Ran ran = place.apo({"research", "--replay", ".apo/journal.db"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("none of these journals has a campaign"), std::string::npos) << ran.err;
}

Json score_of(const Workplace& place, const std::vector<std::string>& words) {
  std::vector<std::string> all = {"research", "--json", "--replay"};
  all.insert(all.end(), words.begin(), words.end());
  return only_document(place.apo(all));
}

const std::string kRecorded = APO_SOURCE_FOLDER "/experiments/nvidia-h200/";

TEST(ResearchCommand, ACampaignThatACopyOfItsJournalHoldsCountsOnce) {
  const Workplace place;
  const std::string journal = kRecorded + "classes/forward.db";
  fs::copy_file(journal, place.path("copy.db"));
  const Json once = score_of(place, {journal});
  EXPECT_GT(once["experiments"], 4);
  EXPECT_EQ(score_of(place, {journal, "copy.db"}), once);
}

TEST(ResearchCommand, JournalsOfThePastAreKnownAndNotScored) {
  const Workplace place;
  const std::string journal = kRecorded + "classes/forward.db", other = kRecorded + "b16_t512_h83_n32/forward.db";
  const Json alone = score_of(place, {journal});
  const Json after = score_of(place, {journal, "--past", other});
  EXPECT_EQ(after["experiments"], alone["experiments"]);
  EXPECT_EQ(after["recorded"], alone["recorded"]);
  EXPECT_LT(after["now"]["interval_score"], alone["now"]["interval_score"]) << "it has judged some of the same pairs";
  EXPECT_EQ(alone["baseline"]["predicted"], 0) << "a journal alone has no others";
  EXPECT_EQ(after["baseline"]["predicted"], after["experiments"]);
  const Ran itself = place.apo({"research", "--replay", journal, "--past", journal});
  EXPECT_EQ(score_of(place, {journal, "--past", journal}), alone) << "a copy of it tells nothing";
  EXPECT_NE(itself.out.find("; known beside them: 1\n"), std::string::npos) << itself.out;
  place.write("zero.db", "");
  const Ran empty = place.apo({"research", "--replay", journal, "--past", "zero.db"});
  EXPECT_EQ(empty.exit_code, 1);
  EXPECT_NE(empty.err.find("zero.db' is empty"), std::string::npos) << empty.err;
}

std::vector<std::string> journals_of_the_score() {
  std::vector<std::string> journals;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(APO_SOURCE_FOLDER) / "experiments")) {
    if (entry.path().extension() == ".db") {
      journals.push_back(entry.path().string());
    }
  }
  return journals;
}

void expect_documented(const Ran& ran) {
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(read_file(fs::path(APO_SOURCE_FOLDER) / "docs" / "research.md").find(ran.out), std::string::npos)
      << "docs/research.md has other figures than:\n"
      << ran.out;
}

TEST(ResearchCommand, TheScoreOfTheRecordedJournalsIsTheOneInTheDocuments) {
  std::vector<std::string> words = {"research", "--replay"};
  std::ranges::copy(journals_of_the_score(), std::back_inserter(words));
  const Ran ran = Workplace().apo(words);
  expect_documented(ran);
  words.emplace_back("--hand-kept");
  for (const auto& entry : fs::directory_iterator(fs::path(APO_SOURCE_FOLDER) / "experiments" / "hand-kept")) {
    if (entry.path().extension() == ".tsv") {
      words.push_back(entry.path().string());
    }
  }
  EXPECT_EQ(Workplace().apo(words).out, ran.out) << "journals that were kept by hand change nothing there";
}

TEST(ResearchCommand, TheScoreOfThePackedJournalsIsTheOneInTheDocuments) {
  const Workplace place;
  for (const char* archive : {"agent/campaigns-3.tar.xz", "rule-4.tar.xz"}) {
    const Ran unpacked = place.program({"tar", "-xJf", kRecorded + archive});
    ASSERT_EQ(unpacked.exit_code, 0) << unpacked.err;
  }
  std::vector<std::string> words = {"research", "--replay", "b16.db", "others.db", "rule-4.db", "--past"};
  std::ranges::copy(journals_of_the_score(), std::back_inserter(words));
  expect_documented(place.apo(words));
}

}  // namespace
}  // namespace apo
