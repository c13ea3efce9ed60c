// tests/cli/trust/replay_test.cpp - a small real journal, and its verdicts measured again without the checkout's
// sources.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "journal/database.h"
#include "journal/journal.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

const std::string kSlow = "variants/copy/slow.cpp";
const std::string kWrong = "variants/copy/wrong.cpp";

// A journal in a place whose sources and builds are gone again.
struct Replays : ::testing::Test {
  // Experiments 1, incorrect, and 2, the same machine code: neither was timed.
  void SetUp() override {
    std::filesystem::create_directories(place.path(kWrong).parent_path());
    place.write(kWrong, replaced(Workplace::variant("wrong"), "x[i];", "2 * x[i];"));
    place.write("variants/copy/same.cpp", Workplace::variant("same"));
    compare("copy/simple", "copy/wrong");
    compare("copy/simple", "copy/same");
    forget_sources();
  }

  void compare(const std::string& incumbent, const std::string& candidate, const std::string& layout = "random") const {
    const Ran ran = apo({"compare", incumbent, candidate, "--workload", "n4k", "--cache", "warm", "--judge", "precise",
                         "--layout", layout});
    ASSERT_EQ(ran.exit_code, candidate == "copy/wrong" || candidate == "copy/headed" ? 3 : 0) << ran.err;
  }

  void forget_sources() const {
    std::filesystem::remove_all(place.path("variants"));
    std::filesystem::remove_all(place.path("cache"));
  }

  Ran apo(Words words) const {
    words.insert(words.end(), {"--journal", "journal.db", "-q"});
    return place.apo(words);
  }

  void expect_mistake(const Words& words, const std::string& said) const {
    const Ran ran = apo(words);
    EXPECT_EQ(ran.exit_code, 1) << ran.out << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err.find(said), std::string::npos) << ran.err;
  }

  // Whether two intervals overlap is the machine's matter where other programs run beside the test.
  static void expect_exit_code_of_reproduction(const Ran& ran, bool reproduced) {
    EXPECT_EQ(ran.exit_code, reproduced ? 0 : 3) << ran.out << ran.err;
  }

  // So is whether it could be measured on at all: then, and only then, a verdict is inconclusive. True where it could.
  static bool decided(const Json& judgement) { return judgement["verdict"] != "inconclusive"; }

  // Past the journal's guards.
  void harm(const char* sql) const {
    Database database(place.path("journal.db"), Database::Mode::write);
    database.execute(sql);
  }

  const Workplace place;
};

// Experiments 1, accepted as many times faster, and 2, reverted as slower.
struct TimedReplays : Replays {
  void SetUp() override {
    std::filesystem::create_directories(place.path(kSlow).parent_path());
    const std::string loop = "  for (int64_t i = 0;";
    place.write(kSlow, replaced(Workplace::variant("slow"), loop,
                                "  for (int k = 0; k < 8; ++k) {\n    for (int64_t i = 0; i < n; ++i) {\n"
                                "      y[i] = x[i];\n    }\n    __asm__ volatile(\"\" ::: \"memory\");\n  }\n" +
                                    loop));
    compare("copy/slow", "copy/simple");
    compare("copy/simple", "copy/slow", "fixed");
    forget_sources();
    for (const char* id : {"1", "2"}) {
      if (!decided(only_document(apo({"show", id, "--json"}))["judgement"])) {
        GTEST_SKIP() << "this machine was too busy to tell eight copies from one";
      }
    }
  }
};

TEST_F(TimedReplays, ConfirmRepeatsTheConfirmationAloneAndTheJournalNamesTheOriginal) {
  const Ran ran = apo({"confirm", "1", "--json"});
  const Json document = only_document(ran);
  expect_exit_code_of_reproduction(ran, document["reproduced"]);
  EXPECT_EQ(document["experiment"]["id"], 3);
  const bool measured = decided(document["experiment"]["judgement"]);
  EXPECT_TRUE(!measured || document["experiment"]["judgement"]["verdict"] == "accepted") << ran.out;

  Journal journal = Journal::open(place.path("journal.db"), Access::read_only);
  const Experiment again = journal.load_experiment(3);
  const Experiment original = journal.load_experiment(1);
  ASSERT_FALSE(again.rounds.empty());
  for (const Round& round : again.rounds) {
    EXPECT_EQ(round.stage, RoundStage::confirm);
    for (const Round& old : original.rounds) {
      EXPECT_NE(round.seed, old.seed);
    }
  }
  EXPECT_TRUE(!measured || again.judgement->rounds == original.judgement->rounds) << again.judgement->rounds;
  ASSERT_EQ(journal.replays_of(1).size(), 1U);
  EXPECT_EQ(journal.replays_of(1)[0].kind, ReplayRow::Kind::confirm);
  EXPECT_EQ(journal.judged_originals(), (std::vector<std::int64_t>{1, 2}));

  const Ran show = apo({"show", "1"});
  EXPECT_NE(show.out.find("measured again"), std::string::npos) << show.out;
  EXPECT_EQ(show.out.find("not reproduced: ") == std::string::npos, document["reproduced"].get<bool>()) << show.out;
  EXPECT_EQ(only_document(apo({"show", "3", "--json"}))["measures_again"], 1);
  EXPECT_EQ(apo({"confirm", "2"}).exit_code, 1);
}

TEST_F(TimedReplays, AllMeasuresEveryVerdictAgainUnderItsOwnPlan) {
  const Ran ran = apo({"replay", "--all", "--json"});
  const Json document = only_document(ran);
  EXPECT_EQ(document["experiments"], 2);
  EXPECT_EQ(document["measured"], 2) << ran.out;
  expect_exit_code_of_reproduction(ran, document["reproduced"] == 2);
  for (const Json& replay : document["replays"]) {
    const Json& judgement = replay["experiment"]["judgement"];
    EXPECT_TRUE(!decided(judgement) || judgement["verdict"] == replay["original"]["judgement"]["verdict"]) << ran.out;
    EXPECT_EQ(replay["experiment"]["judgement"]["cache_policy"], "warm");
    EXPECT_EQ(replay["experiment"]["judgement"]["judge_preset"], "precise");
    EXPECT_TRUE(replay["differences"].empty()) << replay["differences"];
  }
  EXPECT_EQ(document["replays"][1]["original"]["judgement"]["reason"], "regression");
  EXPECT_EQ(only_document(apo({"show", "3", "--json"}))["layout"], "random");
  EXPECT_EQ(only_document(apo({"show", "4", "--json"}))["layout"], "fixed") << "as experiment 2 was measured";
}

TEST_F(Replays, AllReproducesTheOutcomesOfWhatWasNeverTimed) {
  const Ran ran = apo({"replay", "--all", "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  const Json document = only_document(ran);
  EXPECT_EQ(document["reproduced"], 2);
  EXPECT_EQ(document["replays"][0]["experiment"]["outcome"], "incorrect");
  EXPECT_EQ(document["replays"][1]["experiment"]["outcome"], "no_change");
  const Ran text = apo({"replay", "--all"});
  EXPECT_NE(text.out.find("2 of 2 reproduced, 2 of 2 with the same verdict"), std::string::npos) << text.out;
}

TEST_F(Replays, AnotherSourceInTheCheckoutUnderTheNameChangesNothing) {
  std::filesystem::create_directories(place.path(kWrong).parent_path());
  place.write(kWrong, Workplace::variant("wrong"));  // right now
  const Ran ran = apo({"replay", "1"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("reproduced: not timed, for the same outcome 'incorrect'"), std::string::npos) << ran.out;
}

TEST_F(Replays, HeadersComeFromTheJournalToo) {
  std::filesystem::create_directories(place.path(kWrong).parent_path());
  place.write("variants/copy/headed.cpp", replaced(replaced(Workplace::variant("headed"), "#include \"copy.args.h\"",
                                                            "#include \"copy.args.h\"\n#include \"outer.h\""),
                                                   "y[i] = x[i]", "y[i] = value(x, i)"));
  place.write("variants/copy/outer.h", "#include \"inner.h\"\n");
  place.write("variants/copy/inner.h", "inline float value(const float* x, int64_t i) { return 2 * x[i]; }\n");
  compare("copy/simple", "copy/headed");
  forget_sources();
  const Ran ran = apo({"replay", "3"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("reproduced: not timed, for the same outcome 'incorrect'"), std::string::npos) << ran.out;
  harm(
      "DROP TRIGGER blob_no_UPDATE; UPDATE blob SET bytes = x'2f2f' WHERE sha256 ="
      " (SELECT file FROM variant_file WHERE name = 'inner.h')");
  expect_mistake({"replay", "3"}, "has lost the source of copy/headed");
}

TEST_F(Replays, AVerdictUnderAnotherContractIsNotMeasuredAgain) {
  const std::string family =
      "// apo:family scaled\n// apo:axis n 1..64\n// apo:input x f32[n]\n// apo:output y f32[n]\n"
      "// apo:workload w small n=8\n"
      "template <class Real>\nvoid reference(int64_t n, const Real* x, Real* y) {\n"
      "  for (int64_t i = 0; i < n; ++i) y[i] = Real(2) * x[i];\n}\n";
  place.write("scaled.h", family);
  std::filesystem::create_directories(place.path("variants/scaled"));
  for (const std::string name : {"simple", "wrong"}) {
    place.write("variants/scaled/" + name + ".cpp",
                "#include <cstdint>\nvoid scaled(const float* x, float* y, int64_t n) {\n"
                "  for (int64_t i = 0; i < n; ++i) y[i] = " +
                    std::string(name == "simple" ? "2" : "3") + " * x[i];\n}\n");
  }
  const Words compared = {"compare", "scaled/simple", "scaled/wrong", "--families", "scaled.h"};
  ASSERT_EQ(apo(compared).exit_code, 3) << apo(compared).err;
  place.write("scaled.h", replaced(family, "Real(2)", "Real(3)"));
  expect_mistake({"replay", "3", "--families", "scaled.h"},
                 "the family scaled has changed since scaled/wrong was judged");
}

TEST_F(Replays, AVerdictThatDoesNotComeBackExitsWithThree) {
  harm("DROP TRIGGER judgement_no_UPDATE; UPDATE judgement SET outcome = 'faulted' WHERE experiment = 1");
  const Ran ran = apo({"replay", "1"});
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
  EXPECT_NE(ran.out.find("not reproduced: the outcome was 'faulted' and is 'incorrect'"), std::string::npos) << ran.out;
}

TEST_F(Replays, AnotherMachineIsSaid) {
  harm("DROP TRIGGER machine_no_UPDATE; UPDATE machine SET key = 'host-far', model = 'Another CPU', fingerprint = 'x'");
  const Ran ran = apo({"replay", "1"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("changed since: machine: Another CPU host-far then"), std::string::npos) << ran.out;
}

// What holds for all of them is said once, without their numbers.
TEST_F(Replays, OfAllOnAnotherMachineSayOnceThatItIsAnother) {
  harm("DROP TRIGGER machine_no_UPDATE; UPDATE machine SET key = 'host-far', model = 'Another CPU', fingerprint = 'x'");
  const std::string text = apo({"replay", "--all"}).out;
  const std::string line = "changed since: machine: Another CPU host-far then";
  const std::size_t at = text.find(line);
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_EQ(text.find(line, at + 1), std::string::npos) << text;
  EXPECT_EQ(text.substr(at, text.find('\n', at) - at).find("experiment"), std::string::npos) << text;
}

TEST_F(Replays, OfAllNameTheExperimentsWhoseBuildsDiffer) {
  harm(
      "DROP TRIGGER build_no_UPDATE; UPDATE build SET flags = '[\"-O0\"]' WHERE experiment = 2 AND role = 'candidate'");
  const std::string text = apo({"replay", "--all"}).out;
  const std::size_t at = text.find("changed since: flags of the candidate: -O0 then");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_NE(text.substr(at, text.find('\n', at) - at).find("(experiment 2)"), std::string::npos) << text;
}

TEST_F(Replays, WhatCannotBeMeasuredAgainIsAMistakeThatIsNamed) {
  expect_mistake({"replay", "77"}, "there is no experiment 77");
  expect_mistake({"replay"}, "apo replay --all");
  expect_mistake({"replay", "1", "--all"}, "--all");
  expect_mistake({"confirm"}, "experiment");
  expect_mistake({"confirm", "1"}, "was not accepted but reverted");
  ASSERT_EQ(apo({"replay", "1"}).exit_code, 0);
  expect_mistake({"replay", "3"}, "is itself a replay of experiment 1");
}

TEST_F(Replays, AnExperimentThatWasNeverJudgedIsRefused) {
  harm("DROP TRIGGER judgement_no_DELETE; DELETE FROM judgement WHERE experiment = 2");
  expect_mistake({"replay", "2"}, "was never judged");
}

TEST_F(Replays, ALostOrChangedSourceIsNamedAndTheOthersStillRun) {
  harm(
      "DROP TRIGGER blob_no_UPDATE; UPDATE blob SET bytes = x'2f2f' WHERE sha256 ="
      " (SELECT f.file FROM variant_file f JOIN experiment e ON e.candidate_source = f.source_hash"
      " WHERE e.id = 1 AND f.position = 0)");
  expect_mistake({"replay", "1"}, "has lost the source of copy/wrong");
  const Ran ran = apo({"replay", "--all"});
  EXPECT_EQ(ran.exit_code, 2) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("1 of 2 reproduced, 1 of 2 with the same verdict, 1 could not run here"), std::string::npos)
      << ran.out;
}

TEST_F(Replays, AJournalOfANewerSchemaAsksForANewerProgram) {
  harm("PRAGMA user_version = 9999");
  expect_mistake({"replay", "1"}, "update apo");
  expect_mistake({"confirm", "1"}, "update apo");
}

TEST_F(Replays, AMistypedJournalIsNotCreated) {
  for (const Words& words : {Words{"replay", "1"}, Words{"confirm", "1"}, Words{"replay", "--all"}}) {
    Words all = words;
    all.insert(all.end(), {"--journal", "jornal.db"});
    const Ran ran = place.apo(all);
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_NE(ran.err.find("there is no journal"), std::string::npos) << ran.err;
  }
  EXPECT_FALSE(std::filesystem::exists(place.path("jornal.db")));
}

}  // namespace
}  // namespace apo
