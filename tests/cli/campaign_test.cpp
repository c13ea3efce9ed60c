// tests/cli/campaign_test.cpp - a real campaign and a real comparison, then every command that reads their journal.
// Nothing here depends on which verdict the timings give.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/text.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

bool is_verdict(const Json& word) {
  return word == "accepted" || word == "reverted" || word == "inconclusive";
}

// The A/A sentinel stops a campaign on a machine that is too restless to judge on; that is not this test's matter.
bool too_restless(const Ran& ran) {
  return ran.exit_code == 2 && ran.err.find("A/A sentinel") != std::string::npos;
}

void check_queries(const Workplace& place, const std::string& candidate) {
  const Json table = only_document(place.apo({"query", "family=copy", "campaign=1", "--json"}));
  ASSERT_EQ(table["rows"].size(), 1U);
  EXPECT_EQ(table["columns"][0], "id");
  EXPECT_TRUE(only_document(place.apo({"query", "family=e88_forward", "--json"}))["rows"].empty());

  const Ran csv = place.apo({"query", "--columns", "id,candidate", "--csv"});
  EXPECT_EQ(csv.out, "id,candidate\r\n1," + candidate + "\r\n");

  const Json sql = only_document(place.apo({"query", "--sql", "SELECT count(*) AS n FROM experiments", "--json"}));
  EXPECT_EQ(sql["columns"], Json({"n"}));
  EXPECT_EQ(sql["rows"], Json::array({Json::array({1})}));
}

void check_show(const Workplace& place) {
  const Json plain = only_document(place.apo({"show", "1", "--json"}));
  EXPECT_TRUE(is_verdict(plain["judgement"]["verdict"]));
  ASSERT_FALSE(plain["gates"].empty());
  ASSERT_FALSE(plain["rounds"].empty());
  EXPECT_FALSE(plain["rounds"][0]["workloads"][0].contains("blocks"));
  const Json samples = only_document(place.apo({"show", "1", "--json", "--samples", "--source", "--log"}));
  EXPECT_EQ(samples["rounds"][0]["workloads"][0]["blocks"][0].size(), 4U);
  EXPECT_NE(samples["candidate_source"].get<std::string>().find("apo:variant"), std::string::npos);

  const Ran text = place.apo({"show", "1", "--samples"});
  EXPECT_EQ(text.exit_code, 0);
  for (const char* part : {"judgement", "prediction", "gates", "correctness", "candidate build", "rounds", "samples"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part;
  }
  const Ran unknown = place.apo({"show", "77"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.err.find("there is no experiment 77"), std::string::npos) << unknown.err;
}

void check_reports(const Workplace& place) {
  for (const auto& [format, file] : {std::pair{"markdown", "report.md"},
                                     {"html", "report.html"},
                                     {"json", "report.json"},
                                     {"csv", "experiments.csv"}}) {
    const Ran ran = place.apo({"report", "--format", format});
    EXPECT_EQ(ran.exit_code, 0) << format << ran.err;
    const auto path = place.path(std::string(".apo/reports/campaign-1/") + file);
    EXPECT_EQ(ran.out, path.string() + "\n");
    EXPECT_TRUE(std::filesystem::exists(path)) << format;
  }
  const Ran first = place.apo({"report", "--output", "-"});
  EXPECT_EQ(first.out.rfind("# ", 0), 0U) << first.out.substr(0, 80);
  EXPECT_EQ(first.out, place.apo({"report", "--output", "-"}).out) << "a report is a pure function of the journal";
  EXPECT_TRUE(only_document(place.apo({"report", "--json"})).is_object());
  EXPECT_EQ(place.apo({"report", "--campaign", "7"}).exit_code, 1);
  EXPECT_EQ(place.apo({"report", "--output", ".apo/journal.db"}).exit_code, 1);
}

void check_the_rest(const Workplace& place) {
  for (const Json& lesson : only_document(place.apo({"lessons", "--family", "copy", "--json"}))) {
    EXPECT_TRUE(is_verdict(lesson["verdict"]));
    EXPECT_EQ(lesson["experiment"], 1);
  }
  const Ran unknown = place.apo({"lessons", "--technique", "adaptive-thread"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.err.find("did you mean 'adaptive-threads'"), std::string::npos) << unknown.err;
  EXPECT_NE(place.apo({"list", "copy"}).out.find("* incumbent of class any"), std::string::npos);
  EXPECT_EQ(only_document(place.apo({"doctor", "--json"}))["host_works"], true);
}

// Where this was built with NVTX: a tool that writes down the ranges of the run, beside the host workers' confinement.
Words nvtx_tool(const Workplace& place) {
#ifdef APO_NVTX_INJECTION
  return {"NVTX_INJECTION64_PATH=" APO_NVTX_INJECTION, "NVTX_RANGES_FILE=" + place.path("ranges").string()};
#else
  static_cast<void>(place);
  return {};
#endif
}

// "iteration 1 / evaluate copy/x / gate timing / round search 0": the paths of all ranges, without their domain.
std::set<std::string> range_paths(const Workplace& place) {
  std::set<std::string> paths;
  Words open;
  for (const std::string& line : split(trim(read_file(place.path("ranges"))), '\n')) {
    if (line == "-") {
      EXPECT_FALSE(open.empty()) << "a range ends that never began";
      open.resize(std::max<std::size_t>(open.size(), 1) - 1);
    } else {
      EXPECT_TRUE(line.starts_with("+apo:")) << line;
      open.push_back(line.substr(5));
      paths.insert(join(open, " / "));
    }
  }
  EXPECT_TRUE(open.empty()) << "never ended: " << join(open, " / ");
  return paths;
}

void check_ranges(const Workplace& place, const std::string& incumbent, const std::string& candidate) {
  const std::set<std::string> paths = range_paths(place);
  const std::string evaluate = "iteration 1 / evaluate " + candidate;
  for (const std::string& path :
       {std::string("iteration 1"), "iteration 1 / profile " + incumbent, std::string("iteration 1 / research"),
        evaluate, evaluate + " / implement", evaluate + " / gate correctness", evaluate + " / gate sanitizers",
        evaluate + " / gate timing", evaluate + " / gate timing / round search 0",
        evaluate + " / gate timing / round search 0 / warm-up",
        evaluate + " / gate timing / round search 0 / timed and verified"}) {
    EXPECT_TRUE(paths.contains(path)) << path << " is not among\n" << join({paths.begin(), paths.end()}, "\n");
  }
  EXPECT_FALSE(paths.contains("timed slot0")) << "a range of a confined worker";
}

TEST(Campaign, EveryReaderUnderstandsWhatARunWroteAndTheRangesOfItsStagesNest) {
  const Workplace place;
  const Ran ran = place.apo_with_environment(
      {"run", "copy", "--workload", "n4k", "--iterations", "1", "--candidates", "1", "--judge", "standard", "--json"},
      nvtx_tool(place), 110);
  if (too_restless(ran)) {
    GTEST_SKIP() << ran.err;
  }
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Json summary = only_document(ran);
  ASSERT_EQ(summary["iterations"].size(), 1U);
  ASSERT_EQ(summary["iterations"][0]["experiments"].size(), 1U);
  const Json& experiment = summary["iterations"][0]["experiments"][0];
  EXPECT_TRUE(is_verdict(experiment["judgement"]["verdict"]));
  EXPECT_TRUE(std::filesystem::exists(summary["report"].get<std::string>()));
  if (!nvtx_tool(place).empty()) {
    check_ranges(place, experiment["incumbent"]["label"], experiment["candidate"]["label"]);
  }
  check_queries(place, experiment["candidate"]["label"]);
  check_show(place);
  check_reports(place);
  check_the_rest(place);
}

TEST(Compare, JudgesTwoVariantsAndRecordsIt) {
  const Workplace place;
  const Ran ran = place.apo({"compare", "copy/simple", "copy/parallel", "--workload", "n4k", "--judge", "standard",
                             "--skip-correctness", "--json"},
                            110);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Json experiment = only_document(ran);
  EXPECT_TRUE(is_verdict(experiment["judgement"]["verdict"]));
  EXPECT_EQ(experiment["incumbent"]["variant"], "copy/simple");
  EXPECT_EQ(only_document(place.apo({"show", "1", "--json"}))["candidate"]["variant"], "copy/parallel");
}

TEST(Compare, IdenticalCodeIsNotTimed) {
  const Workplace place;
  const Ran ran = place.apo(
      {"compare", "copy/simple", "copy/simple", "--workload", "n4k", "--judge", "standard", "--no-journal", "--json"},
      110);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(only_document(ran)["outcome"], "no_change");
  EXPECT_FALSE(std::filesystem::exists(place.path(".apo/journal.db")));
}

TEST(Profile, ReportsTimeFloorRoofsAndScaling) {
  const Workplace place;
  const Ran ran = place.apo({"profile", "copy/simple", "--workload", "n4k", "--json"}, 110);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Json profile = only_document(ran);
  EXPECT_GT(profile["time_ns"], 0.0);
  EXPECT_GT(profile["floor_ns"], 0.0);
  EXPECT_FALSE(profile["roofs"].empty());
  // The roofs are in the journal now, so the second one does not measure them.
  const Ran again = place.apo({"profile", "copy/simple", "--workload", "n4k", "--cache", "warm"}, 110);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.err.find("measuring the roofs"), std::string::npos) << again.err;
  for (const char* part : {"thread scaling", "metrics", "roofs", "bottlenecks", "floor"}) {
    EXPECT_NE(again.out.find(part), std::string::npos) << part;
  }
}

TEST(Explain, TakesProfilesFromTheJournalAndSaysWhatDiffers) {
  const Workplace place;
  ASSERT_EQ(place.apo({"profile", "copy/simple", "--workload", "n4k"}, 110).exit_code, 0);
  const Ran ran = place.apo({"explain", "copy/simple", "copy/memcpy", "--workload", "n4k", "--json"}, 110);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.err.find("profiling copy/simple"), std::string::npos) << "the journal has it: " << ran.err;
  EXPECT_NE(ran.err.find("profiling copy/memcpy"), std::string::npos) << ran.err;
  const Json explanation = only_document(ran);
  EXPECT_NEAR(explanation["time_difference_ns"].get<double>(),
              explanation["a"]["time_ns"].get<double>() - explanation["b"]["time_ns"].get<double>(), 1e-3);
  EXPECT_FALSE(explanation["sentence"].get<std::string>().empty());
  const Ran again = place.apo({"explain", "copy/simple", "copy/memcpy", "--workload", "n4k"}, 110);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.err.find("profiling"), std::string::npos) << again.err;
  EXPECT_NE(again.out.find("code size in bytes"), std::string::npos) << again.out;
  const Ran warm = place.apo({"explain", "copy/simple", "copy/memcpy", "--workload", "n4k", "--cache", "warm"}, 110);
  EXPECT_NE(warm.err.find("profiling copy/simple"), std::string::npos) << "a cold profile says nothing of warm caches";
}

TEST(Profile, ShowsTheRoofsAloneAndMeasuresThemAnewWhenAsked) {
  const Workplace place;
  const auto fma_of = [&](const Ran& ran) {
    const Json document = only_document(ran);
    EXPECT_EQ(document["machine"]["target"], "host");
    for (const Json& roof : document["roofs"]) {
      if (roof["name"] == "fp32_fma") {
        return roof["value"].get<double>();
      }
    }
    return 0.0;
  };
  const std::vector<std::string> roofs = {"profile", "--roofs", "--target", "host", "--json"};
  std::vector<std::string> anew = roofs;
  anew.emplace_back("--remeasure");
  const double first = fma_of(place.apo(roofs, 60));
  EXPECT_GT(first, 0);
  EXPECT_EQ(fma_of(place.apo(roofs, 60)), first) << "they are kept";
  const double second = fma_of(place.apo(anew, 60));
  EXPECT_NE(second, first);
  EXPECT_EQ(fma_of(place.apo(roofs, 60)), second) << "the newest ones count";
}

}  // namespace
}  // namespace apo
