// tests/cli/trust/gate_test.cpp - `apo gate` in a checkout of its own: what stops a build, what does not, and broken
// files.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/core/hash.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

const std::string kFile = ".apo/variants/copy/mine.cpp";

// Nine times the work that the compiler may not leave out.
std::string slow_variant() {
  return replaced(Workplace::variant("mine"), "  for (int64_t i = 0;",
                  "  for (int k = 0; k < 8; ++k) {\n"
                  "    for (int64_t i = 0; i < n; ++i) {\n"
                  "      y[i] = x[i];\n"
                  "    }\n"
                  "    __asm__ volatile(\"\" ::: \"memory\");\n"
                  "  }\n"
                  "  for (int64_t i = 0;");
}

class Gate : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(place.path(kFile).parent_path());
    place.write(kFile, Workplace::variant("mine"));
    const Ran ran = place.apo({"gate", "--store", "baseline.json", "copy/mine", "--workload", "n4k"});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    ASSERT_EQ(ran.out, "stored copy/mine on n4k\n");
  }

  Ran gate(const Words& more = {}) const {
    Words words = {"gate", "--baseline", "baseline.json", "--judge", "standard", "--cache", "warm", "-q"};
    words.insert(words.end(), more.begin(), more.end());
    return place.apo(words);
  }

  Json baseline() const { return Json::parse(read_file(place.path("baseline.json"))); }

  void expect_mistake(const std::string& said, const Words& more = {}) const {
    const Ran ran = gate(more);
    EXPECT_EQ(ran.exit_code, 1) << ran.out << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err.find(said), std::string::npos) << ran.err;
  }

  void expect_damaged(const Json& document, const std::string& said) const {
    place.write("baseline.json", document.dump());
    expect_mistake("is damaged");
    expect_mistake(said);
  }

  const Workplace place;
};

TEST_F(Gate, UnchangedVariantPassesWithoutTiming) {
  const Ran ran = gate();
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("machine code identical"), std::string::npos) << ran.out;
  EXPECT_FALSE(std::filesystem::exists(place.path(".apo/journal.db")));
}

TEST_F(Gate, AnotherCommentPassesWithoutTiming) {
  place.write(kFile, Workplace::variant("mine") + "// the same code\n");
  const Json document = only_document(gate({"--json"}));
  EXPECT_EQ(document["verdict"], "passed");
  EXPECT_EQ(document["variants"][0]["rounds"], 0);
  EXPECT_NE(document["variants"][0]["baseline_source"], document["variants"][0]["current_source"]);
}

TEST_F(Gate, HeadersAreStoredAndAreHalfOfTheVariant) {
  const std::string body = replaced(Workplace::variant("mine"), "y[i] = x[i]", "y[i] = value(x, i)");
  const std::string value = "inline float value(const float* x, int64_t i) { return x[i]; }\n";
  place.write(kFile, replaced(body, "#include \"copy.args.h\"", "#include \"copy.args.h\"\n#include \"value.h\""));
  place.write(".apo/variants/copy/value.h", value);
  ASSERT_EQ(place.apo({"gate", "--store", "baseline.json", "copy/mine", "--workload", "n4k"}).exit_code, 0);
  place.write(".apo/variants/copy/value.h", value + "// the same code\n");
  const Json same = only_document(gate({"--json"}));
  EXPECT_EQ(same["verdict"], "passed");
  EXPECT_NE(same["variants"][0]["baseline_source"], same["variants"][0]["current_source"]);
  place.write(".apo/variants/copy/value.h", replaced(value, "x[i]", "2 * x[i]"));
  EXPECT_EQ(gate().exit_code, 3);
  Json changed = baseline();
  changed["variants"][0]["headers"][0]["name"] = "../value.h";
  expect_damaged(changed, "is not the one that its source_sha256 names");
}

TEST_F(Gate, ASlowedVariantFailsTheBuildInEveryForm) {
  place.write(kFile, slow_variant());
  const Ran ran = gate({"--margin", "50%", "--junit", "gate.xml", "--json"});
  ASSERT_EQ(ran.exit_code, 3) << ran.out << ran.err;
  const Json document = only_document(ran);
  EXPECT_EQ(document["verdict"], "regressed");
  EXPECT_DOUBLE_EQ(document["margin"].get<double>(), 0.5);
  const Json& one = document["variants"][0];
  EXPECT_NEAR(one["alpha"].get<double>(), 0.01, 1e-9);
  EXPECT_EQ(one["workloads"][0]["answer"], "regressed");
  EXPECT_LT(one["workloads"][0]["upper"].get<double>(), -0.4);
  const std::string xml = read_file(place.path("gate.xml"));
  EXPECT_NE(xml.find("tests=\"1\" failures=\"1\" errors=\"0\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("<failure type=\"regressed\" message=\"slower by more than 50 %\">"), std::string::npos) << xml;

  const Ran text = gate({"--margin", "50 %"});
  EXPECT_EQ(text.exit_code, 3);
  EXPECT_NE(text.out.find("0 passed, 1 failed, 0 undecided"), std::string::npos) << text.out;
}

TEST_F(Gate, ASpedUpVariantPasses) {
  place.write(kFile, slow_variant());
  ASSERT_EQ(place.apo({"gate", "--store", "baseline.json", "copy/mine", "--workload", "n4k"}).exit_code, 0);
  place.write(kFile, Workplace::variant("mine"));
  const Ran ran = gate();
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("not slower by more than 2 %"), std::string::npos) << ran.out;
}

TEST_F(Gate, AWrongVariantFailsAndItsXmlIsEscaped) {
  place.write(kFile, replaced(Workplace::variant("mine"), "x[i];", "x[i] < 0 ? x[i] : 2 * x[i];"));
  const Ran ran = gate({"--junit", "gate.xml"});
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
  EXPECT_NE(ran.out.find("incorrect at the gate 'correctness'"), std::string::npos) << ran.out;
  const std::string xml = read_file(place.path("gate.xml"));
  EXPECT_NE(xml.find("<failure type=\"failed\" message=\"incorrect at the gate &#39;correctness&#39;"),
            std::string::npos)
      << xml;
}

TEST_F(Gate, AVariantThatNoLongerBuildsFailsWithTheCompilersWords) {
  place.write(kFile, replaced(Workplace::variant("mine"), "y[i] = x[i];", "return \"<&>\";"));
  const Ran ran = gate({"--junit", "gate.xml"});
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
  EXPECT_NE(ran.out.find("build_failed at the gate 'build'"), std::string::npos) << ran.out;
  const std::string xml = read_file(place.path("gate.xml"));
  EXPECT_EQ(xml.find("<&>"), std::string::npos) << xml;
}

TEST_F(Gate, AVariantThatIsGoneIsNamed) {
  std::filesystem::remove(place.path(kFile));
  expect_mistake("this checkout has no variant 'copy/mine'");
}

TEST_F(Gate, ABrokenFileOfTheVariantIsNamedWithItsMistake) {
  place.write(kFile, replaced(Workplace::variant("mine"), "// apo:target     host\n", "// apo:target     hots\n"));
  expect_mistake("this checkout has no variant 'copy/mine'");
  expect_mistake("unknown target 'hots'");
}

TEST_F(Gate, AnIdThatIsNotStoredIsAMistakeWithAGuess) {
  expect_mistake("did you mean 'copy/mine'?", {"--variant", "copy/min"});
  expect_mistake("no stored variant has the workload 'n9k'", {"--workload", "n9k"});
}

TEST_F(Gate, AMarginIsAPercentage) {
  for (const char* margin : {"2", "0%", "-3%", "nan%", "200%", "%", ""}) {
    expect_mistake("--margin", {"--margin", margin});
  }
}

TEST_F(Gate, AnUnknownJudgeOrCacheIsFoundBeforeAnythingRuns) {
  const Words judge = {"gate", "--baseline", "baseline.json", "--judge", "kind"};
  EXPECT_EQ(place.apo(judge).exit_code, 1);
  const Words cache = {"gate", "--baseline", "baseline.json", "--cache", "tepid"};
  EXPECT_NE(place.apo(cache).err.find("known: cold, warm"), std::string::npos);
}

TEST_F(Gate, AJunitFileThatCannotBeWrittenIsToldBeforeAnythingRuns) {
  const Ran ran = gate({"--junit", "."});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("a folder has that name"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("copy/mine"), std::string::npos) << "it was measured first: " << ran.err;
}

TEST_F(Gate, DamagedBaselineFilesAreRefused) {
  const Json good = baseline();
  const std::string text = good.dump();
  place.write("baseline.json", text.substr(0, text.size() / 2));
  expect_mistake("is damaged");
  place.write("baseline.json", "[]");
  expect_mistake("is damaged");
  place.write("baseline.json", "");
  expect_mistake("is damaged");

  Json changed = good;
  changed["variants"][0]["source"] = good["variants"][0]["source"].get<std::string>() + " ";
  expect_damaged(changed, "is not the one that its source_sha256 names");
  changed = good;
  changed["variants"][0]["source"] = "// apo:tune\n";
  changed["variants"][0]["source_sha256"] = sha256("// apo:tune\n");
  expect_damaged(changed, "apo:tune has no value");
  changed = good;
  changed["variants"][0]["id"] = "copy/other";
  expect_damaged(changed, "calls itself 'copy/mine'");
  changed = good;
  changed["variants"][0]["workloads"] = {"n9k"};
  expect_damaged(changed, "workload 'n9k'");
  changed = good;
  changed["variants"][0]["workloads"] = Json::array();
  expect_damaged(changed, "no workload");
  changed = good;
  changed["variants"][0]["settings"] = {{"K", 2}};
  expect_damaged(changed, "'copy/mine'");
  changed = good;
  changed["variants"][0].erase("source");
  expect_damaged(changed, "source");
  changed = good;
  changed["variants"].push_back(good["variants"][0]);
  expect_damaged(changed, "twice");
  changed = good;
  changed["variants"] = Json::array();
  expect_damaged(changed, "no variant");
}

TEST_F(Gate, ANewerBaselineFileAsksForANewerProgram) {
  Json changed = baseline();
  changed["version"] = 2;
  place.write("baseline.json", changed.dump());
  expect_mistake("update apo");
}

TEST_F(Gate, StoringWhatIsUnknownLeavesTheOldFile) {
  const std::string before = read_file(place.path("baseline.json"));
  for (const Words& words : {Words{"copy/mine", "copy/nobody"}, Words{"copy/mine", "copy/mine"}, Words{},
                             Words{"copy/mine", "--workload", "n9k"}, Words{"copy/mine", "--workload", "e88/x"}}) {
    Words all = {"gate", "--store", "baseline.json"};
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_EQ(place.apo(all).exit_code, 1);
  }
  EXPECT_EQ(read_file(place.path("baseline.json")), before);
}

TEST_F(Gate, NeedsToKnowWhatToDo) {
  EXPECT_EQ(place.apo({"gate"}).exit_code, 1);
  EXPECT_EQ(place.apo({"gate", "--baseline", "baseline.json", "--store", "b.json", "copy/mine"}).exit_code, 1);
  expect_mistake("without --store", {"copy/mine"});
}

}  // namespace
}  // namespace apo
