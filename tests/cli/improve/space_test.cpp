// tests/cli/improve/space_test.cpp - `apo space` records, is interrupted and goes on; its file is replayed.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/core/system/files.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

using Json = nlohmann::json;

// Four legal configurations of eight: of MODE 2 the results are wrong, 3 does not build.
const std::string kModes = R"(// apo:variant   copy/modes
// apo:target    host
// apo:parent    copy/simple
// apo:idea      Copies in several ways, of which some are wrong.
// apo:tune      MODE 0,1,2,3
// apo:tune      STEP 1,2
// apo:requires  STEP == 1
#include "copy.args.h"
static_assert(MODE != 3, "there is no third mode");
void copy(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    y[i] = x[i] + (MODE == 2 ? 1.0f : 0.0f);
  }
}
)";

const std::vector<std::string> kRecord = {"space",    "copy/modes", "--workload",      "n4k",
                                          "--output", "space.json", "--no-sanitizers", "--json"};

TEST(SpaceCommand, RecordsEveryLegalConfigurationWithItsReasonAndGoesOnWhereItWas) {
  const Workplace place;
  std::filesystem::create_directories(place.path(".apo/variants/copy"));
  place.write(".apo/variants/copy/modes.cpp", kModes);
  const Ran whole = place.apo(kRecord, 120);
  const Json summary = only_document(whole);
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_EQ(summary["legal"], 4);
  EXPECT_EQ(summary["measured"], 4);
  EXPECT_EQ(summary["invalid"], (Json{{"compile", 1}, {"correctness", 1}}));
  EXPECT_EQ(summary["reference"], "copy/modes[MODE=0,STEP=1]");
  EXPECT_NE(whole.err.find("MODE=2, STEP=1: correctness, correctness: "), std::string::npos) << whole.err;
  EXPECT_NE(whole.err.find("MODE=3, STEP=1: compile, build: "), std::string::npos) << whole.err;

  // As if it had been interrupted after the second: that one alone is measured again.
  Json file = Json::parse(read_file(place.path("space.json")));
  ASSERT_EQ(file["results"].size(), 4U);
  EXPECT_EQ(file["results"][2]["correctness"], 0.0);
  EXPECT_EQ(file["results"][1]["measurements"][0]["unit"], "ms");
  EXPECT_GT(file["results"][1]["measurements"][0]["value"], 0.0);
  const Json first = file["results"][0];
  const std::int64_t seed = file["metadata"]["apo"]["seed"];
  EXPECT_GT(seed, 0);
  file["results"].erase(1);
  place.write("space.json", file.dump());
  const Json again = only_document(place.apo(kRecord, 120));
  EXPECT_EQ(again["measured"], 1);
  file = Json::parse(read_file(place.path("space.json")));
  ASSERT_EQ(file["results"].size(), 4U);
  EXPECT_EQ(file["results"][0], first);
  EXPECT_EQ(file["results"][3]["configuration"]["MODE"], 1);
  EXPECT_EQ(file["metadata"]["apo"]["seed"], seed) << "the same held-out shapes";

  const Ran table = place.apo({"research", "--replay", "space.json"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  for (const char* said : {"space.json: 4 configurations, 2 invalid", "random", "greedy", "annealing", "model"}) {
    EXPECT_NE(table.out.find(said), std::string::npos) << table.out;
  }
  const Json one = only_document(place.apo({"research", "--replay", "space.json", "--strategy", "model", "--json"}));
  EXPECT_EQ(one["spaces"][0]["strategies"].size(), 1U);
  EXPECT_EQ(one["spaces"][0]["seeds"], 100);
}

TEST(SpaceCommand, ASettingIsTheFastestOnlyWhereItsIntervalLiesAboveOne) {
  const Workplace place;
  std::filesystem::create_directories(place.path(".apo/variants/copy"));
  place.write(".apo/variants/copy/modes.cpp", kModes);
  const std::vector<std::string> text(kRecord.begin(), kRecord.end() - 1);
  ASSERT_EQ(place.apo(kRecord, 120).exit_code, 0);
  Json file = Json::parse(read_file(place.path("space.json")));
  const auto said_for = [&](double lower) {
    file["results"][1]["measurements"] = Json::array({{{"name", "time"}, {"value", 0.002}, {"unit", "ms"}},
                                                      {{"name", "speedup"}, {"value", 1.5}, {"unit", ""}},
                                                      {{"name", "speedup_lower"}, {"value", lower}, {"unit", ""}},
                                                      {{"name", "speedup_upper"}, {"value", 1.6}, {"unit", ""}}});
    file["results"][0]["measurements"] = file["results"][1]["measurements"];
    file["results"][0]["measurements"][1]["value"] = 1.0;
    file["results"][0]["measurements"][2]["value"] = 0.99;
    place.write("space.json", file.dump());
    return place.apo(text).out;
  };
  const std::string shown = said_for(1.4);
  EXPECT_NE(shown.find("fastest: MODE=1, STEP=1, 2 us a call, 1.50x [1.40x, 1.60x] over copy/modes[MODE=0,STEP=1]"),
            std::string::npos)
      << shown;
  const std::string not_shown = said_for(0.99);
  EXPECT_NE(not_shown.find("fastest: none is shown to be faster than copy/modes[MODE=0,STEP=1]\n"), std::string::npos)
      << not_shown;
}

// Ctrl-C after the first configuration.
TEST(SpaceCommand, AnInterruptKeepsWhatIsThereAndSaysHowToGoOn) {
  const Workplace place;
  const Ran ran = place.program({"bash", "-c",
                                 "set -m; apo space copy/parallel --workload n4k --output s.json --no-sanitizers & \n"
                                 "for i in $(seq 600); do [ -s s.json ] && break; sleep 0.1; done\n"
                                 "kill -INT %1; wait %1; echo \"ended by $?\""},
                                120);
  EXPECT_NE(ran.out.find("ended by 130"), std::string::npos) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("interrupted; s.json has what was measured"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("go on with: apo space copy/parallel --workload n4k"), std::string::npos) << ran.err;
  const std::size_t kept = Json::parse(read_file(place.path("s.json")))["results"].size();
  EXPECT_GE(kept, 1U);
  const Json summary = only_document(place.apo(
      {"space", "copy/parallel", "--workload", "n4k", "--output", "s.json", "--no-sanitizers", "--json"}, 120));
  EXPECT_EQ(summary["recorded"], 3);
  EXPECT_EQ(summary["measured"].get<std::size_t>(), 3 - kept);
}

TEST(SpaceCommand, MistakesAreNamed) {
  const Workplace place;
  const auto error = [&](const std::vector<std::string>& words) {
    const Ran ran = place.apo(words);
    EXPECT_EQ(ran.exit_code, 1) << ran.out;
    return ran.err;
  };
  EXPECT_NE(error({"space", "copy/paralel"}).find("did you mean 'copy/parallel'"), std::string::npos);
  const std::string one = error({"space", "copy/parallel[KILOBYTES_PER_THREAD=64]"});
  EXPECT_NE(one.find("is one configuration"), std::string::npos) << one;
  EXPECT_NE(one.find("'apo space copy/parallel' times them all"), std::string::npos) << one;
  const std::string plain = error({"space", "copy/simple"});
  EXPECT_NE(plain.find("copy/simple has neither tunables nor toggles"), std::string::npos) << plain;
  EXPECT_NE(plain.find("// apo:tune BLOCK 64,128"), std::string::npos) << plain;
  place.write("mine.cpp", kModes);
  EXPECT_NE(error({"space", "mine.cpp"}).find("'apo register mine.cpp' adds it"), std::string::npos);
  EXPECT_NE(error({"space", "copy/parallel", "--workload", "n5k"}).find("n5k"), std::string::npos);
  place.write("cut.json", "{\"results\": [");
  EXPECT_NE(error({"space", "copy/parallel", "--output", "cut.json"}).find("cut.json:1: this is no JSON"),
            std::string::npos);
  EXPECT_NE(error({"research", "--replay", "cut.json"}).find("cut.json:1: this is no JSON"), std::string::npos);
  EXPECT_NE(error({"research", "--replay", "cut.json", "--strategy", "gredy"}).find("did you mean 'greedy'"),
            std::string::npos);
  EXPECT_NE(error({"research", "copy", "--strategy", "greedy"}).find("--replay"), std::string::npos);
  place.write("no.db", "SQLite format 3");
  EXPECT_NE(error({"research", "--replay", "no.db", "--strategy", "greedy"}).find("--strategy is for recorded spaces"),
            std::string::npos);
  EXPECT_NE(error({"research", "--replay", "no.db", "cut.json"}).find("without journals"), std::string::npos);
}

}  // namespace
}  // namespace apo
