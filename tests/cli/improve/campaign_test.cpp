// tests/cli/improve/campaign_test.cpp - a real campaign and a real comparison, then every command that reads their
// journal. Nothing here depends on which verdict the timings give.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "tests/cli/held_turn.h"
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
  for (const Json& lesson : only_document(place.apo({"lessons", "--family", "copy", "--json"}))["lessons"]) {
    EXPECT_TRUE(is_verdict(lesson["verdict"]));
    EXPECT_EQ(lesson["experiment"], 1);
  }
  const Ran unknown = place.apo({"lessons", "--technique", "adaptive-thread"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.err.find("did you mean 'adaptive-threads'"), std::string::npos) << unknown.err;
  EXPECT_NE(unknown.err.find("docs/research.md#the-catalogue"), std::string::npos) << "where techniques are listed";
  EXPECT_NE(place.apo({"list", "copy"}).out.find("* incumbent of class any"), std::string::npos);
  EXPECT_EQ(only_document(place.apo({"doctor", "--json"}))["host_works"], true);
}

// Every variant of the family is judged, the incumbent, the baseline or in one group with its reason.
void check_untried(const Json& summary) {
  std::set<std::string> named = {summary["incumbent"]["variant"], summary["baseline"]["variant"],
                                 summary["iterations"][0]["experiments"][0]["candidate"]["variant"]};
  for (const Json& group : summary["untried"]) {
    EXPECT_FALSE(group["why"].get<std::string>().empty());
    for (const Json& variant : group["variants"]) {
      EXPECT_TRUE(named.insert(variant).second) << variant << " is named twice";
    }
  }
  EXPECT_EQ(named, (std::set<std::string>{"copy/cuda_cublas_copy", "copy/cuda_simple", "copy/cuda_vector4",
                                          "copy/memcpy", "copy/parallel", "copy/simple", "copy/streaming"}));
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
        evaluate + " / gate timing / round search 0 / warm-up", evaluate + " / gate timing / round search 0 / timed"}) {
    EXPECT_TRUE(paths.contains(path)) << path << " is not among\n" << join({paths.begin(), paths.end()}, "\n");
  }
  EXPECT_FALSE(paths.contains("timed slot0")) << "a range of a confined worker";
}

TEST(Campaign, EveryReaderUnderstandsWhatARunWroteAndTheRangesOfItsStagesNest) {
  const Workplace place;
  const Ran ran = place.apo_with_environment({"run", "copy", "--workload", "n4k", "--iterations", "1", "--candidates",
                                              "1", "--judge", "standard", "--solo-run", "10ms", "--json"},
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
  check_untried(summary);
  check_queries(place, experiment["candidate"]["label"]);
  check_show(place);
  check_reports(place);
  check_the_rest(place);
}

// On one journal, at once; a third process that asks for the first one's campaign is told who runs it.
TEST(Campaign, TwoRunBesideEachOtherOnOneJournalAndKeepTheirExperimentsApart) {
  const Workplace place;
  const auto run = [&](const std::string& family, const std::string& workload) {
    return place.apo({"run", family, "--workload", workload, "--iterations", "1", "--candidates", "1", "--judge",
                      "standard", "--solo-run", "10ms", "--json"},
                     150);
  };
  std::future<Ran> copy = std::async(std::launch::async, run, "copy", "n4k");
  std::future<Ran> spin = std::async(std::launch::async, run, "spin", "s5k");
  const auto running = [&] {
    return place.apo({"query", "--csv", "--sql", "SELECT count(*) FROM campaigns WHERE state = 'open'"}).out ==
           "count(*)\r\n2\r\n";
  };
  bool both = false;
  while (!both && copy.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
    both = running();
  }
  Ran third;
  if (both) {
    third = run("copy", "n4k");
  }
  const Ran first = copy.get();
  const Ran second = spin.get();
  if (too_restless(first) || too_restless(second)) {
    GTEST_SKIP() << first.err << second.err;
  }
  ASSERT_EQ(first.exit_code, 0) << first.err;
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_TRUE(both) << "they never ran at the same time";
  EXPECT_EQ(third.exit_code, 1);
  EXPECT_NE(third.err.find("of copy, class any, on this machine is being run by process"), std::string::npos)
      << third.err;
  for (const Ran& ran : {first, second}) {
    const Json summary = only_document(ran);
    const std::string campaign = std::to_string(summary["campaign"].get<int>());
    const Json rows = only_document(place.apo({"query", "campaign=" + campaign, "columns=id,family,state", "--json"}));
    ASSERT_EQ(rows["rows"].size(), 1U) << campaign;
    EXPECT_EQ(rows["rows"][0][0], summary["iterations"][0]["experiments"][0]["id"]);
    EXPECT_EQ(rows["rows"][0][1], summary["family"]);
    EXPECT_EQ(rows["rows"][0][2], "finished");
  }
  const Ran doctor = place.apo({"doctor"});
  EXPECT_NE(doctor.out.find(", 0 open campaigns, 0 unfinished experiments"), std::string::npos) << doctor.out;
}

// A right variant of copy that begins with `first`; `calls` counts the calls of its process.
std::string beginning_with(const std::string& first, const std::string& name) {
  return "// apo:variant    copy/" + name +
         "\n// apo:target     host\n// apo:technique  library-call"
         "\n// apo:parent     copy/simple\n// apo:idea       Wastes time.\n#include <cstring>\n#include "
         "<unistd.h>\n\n#include "
         "\"copy.args.h\"\n"
         "\nAPO_EXPORT uint32_t apo_abi(void) { return APO_ABI_VERSION; }\n"
         "APO_EXPORT int apo_launch(const apo_call* call) {\n  static volatile int64_t calls = 0;\n  calls = calls + "
         "1;\n  " +
         first +
         "\n  const auto& a = *static_cast<const copy_args*>(call->arguments);\n"
         "  std::memcpy(a.y, a.x, static_cast<size_t>(a.n) * sizeof(float));\n  return 0;\n}\n";
}

// Processes that have a file of the workplace mapped, as a candidate's worker has its object.
int processes_with_files_of(const Workplace& place) {
  int count = 0;
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    std::ifstream maps(process.path() / "maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find(place.path("").string()) != std::string::npos) {
        ++count;
        break;
      }
    }
  }
  return count;
}

TEST(Campaign, ACandidateThatHangsWhenItIsTimedIsGoneWithinTenSecondsAndItGoesOn) {
  const Workplace place;
  // A home with few variants, none of which is accepted: so every candidate has its turn.
  for (const char* folder : {"kernels", "harness"}) {
    std::filesystem::create_directory_symlink(std::string(APO_SOURCE_FOLDER "/") + folder, place.path(folder));
  }
  place.write("variants/copy/simple.cpp", read_file(APO_SOURCE_FOLDER "/variants/copy/simple.cpp"));
  // A process that checks copy makes four calls; one that times makes sixteen at least, however slow the machine is.
  for (const auto& [name, first] : {std::pair("hangs_when_timed", "while (calls > 10) { sleep(1); }"),
                                    {"slower", "for (volatile int i = 0; i < 20000; i = i + 1) {}"}}) {
    place.write(std::string("variants/copy/") + name + ".cpp", beginning_with(first, name));
  }
  const ProcessResult result =
      run_process({APO_PROGRAM, "run", "copy", "--workload", "n4k", "--baseline", "copy/simple", "--iterations", "1",
                   "--candidates", "2", "--judge", "standard", "--solo-run", "10ms", "--json"},
                  {.timeout_s = 1000,
                   .working_folder = place.path(""),
                   .environment = {"APO_HOME=" + place.path("").string(),
                                   "APO_JOURNAL=", "XDG_RUNTIME_DIR=" + place.path("").string()}});
  const Ran ran{.exit_code = result.exit_code, .out = result.output, .err = result.error};
  if (too_restless(ran)) {
    GTEST_SKIP() << ran.err;
  }
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  std::map<std::string, std::string> outcomes;
  const Json summary = only_document(ran);
  for (const Json& experiment : summary["iterations"][0]["experiments"]) {
    outcomes[experiment["candidate"]["variant"]] = experiment["outcome"];
    EXPECT_NE(experiment["judgement"]["verdict"], "accepted");  // the slower one may be too noisy to judge
    if (experiment["outcome"] == "timed_out") {
      EXPECT_EQ(experiment["judgement"]["verdict"], "reverted");
      const std::string sentence = experiment["judgement"]["sentence"];
      EXPECT_NE(sentence.find("no answer in 9000 ms"), std::string::npos) << sentence;
    }
  }
  EXPECT_EQ(outcomes,
            (std::map<std::string, std::string>{{"copy/hangs_when_timed", "timed_out"}, {"copy/slower", "valid"}}));
  EXPECT_EQ(processes_with_files_of(place), 0);
}

// It waits for who measures on its CPUs; whoever profiles a variant next does so where it was judged, which is not the
// family's first workload.
TEST(Compare, JudgesTwoVariantsInTurnAndRecordsItAndTheirProfilesAreOfThatWorkload) {
  const Workplace place;
  const HeldTurn others(place);
  const Ran ran = place.apo({"compare", "copy/simple", "copy/parallel", "--workload", "n4k", "--judge", "standard",
                             "--skip-correctness", "--json"},
                            110);
  EXPECT_TRUE(others.was_waited_for());
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Json experiment = only_document(ran);
  EXPECT_TRUE(is_verdict(experiment["judgement"]["verdict"]));
  EXPECT_EQ(experiment["incumbent"]["variant"], "copy/simple");
  const Json shown = only_document(place.apo({"show", "1", "--json"}));
  EXPECT_EQ(shown["candidate"]["variant"], "copy/parallel");
  EXPECT_GT(shown["rounds"][0]["environment"].value("waited_for_turn_s", 0.0), 0.02) << shown["rounds"][0];
  if (experiment["judgement"]["speedup"].is_null()) {
    GTEST_SKIP() << "not timed: " << experiment["judgement"]["sentence"];
  }
  const Ran profiled = place.apo({"profile", "copy/simple", "--no-journal", "--json"}, 110);
  ASSERT_EQ(profiled.exit_code, 0) << profiled.err;
  EXPECT_EQ(only_document(profiled)["workload"], "n4k");
  EXPECT_NE(profiled.err.find("on n4k, where experiment 1 judged"), std::string::npos) << profiled.err;
}

TEST(Compare, IdenticalCodeIsNotTimed) {
  const Workplace place;
  place.write(".apo/variants/copy/twin.cpp", Workplace::variant("twin"));
  const Ran ran = place.apo(
      {"compare", "copy/simple", "copy/twin", "--workload", "n4k", "--judge", "standard", "--no-journal", "--json"},
      110);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(only_document(ran)["outcome"], "no_change");
  EXPECT_FALSE(std::filesystem::exists(place.path(".apo/journal.db")));
}

TEST(Compare, OneConfigurationAsBothSidesIsRefusedBeforeAnythingIsBuilt) {
  const Workplace place;
  const Ran ran = place.apo({"compare", "copy/parallel", "copy/parallel[KILOBYTES_PER_THREAD=256]"});
  EXPECT_EQ(ran.exit_code, 1) << ran.out;
  EXPECT_NE(ran.err.find("both variants are copy/parallel"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("--same-code times it against itself"), std::string::npos) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(place.path(".apo/journal.db")));
}

void write_family_with_a_wrong_variant(const Workplace& place) {
  place.write("scaled.h",
              "// apo:family scaled\n// apo:axis n 1..65536\n// apo:input x f32[n] normal\n"
              "// apo:output y f32[n]\n// apo:unit n/4096\n// apo:workload w small n=4096\n"
              "template <class Real>\nvoid reference(int64_t n, const Real* x, Real* y) {\n"
              "  for (int64_t i = 0; i < n; ++i) y[i] = Real(2) * x[i];\n}\n");
  const std::string right =
      "#include <cstdint>\nvoid scaled(const float* x, float* y, int64_t n) {\n"
      "  for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n";
  std::filesystem::create_directories(place.path(".apo/variants/scaled"));
  place.write(".apo/variants/scaled/simple.cpp", right);
  place.write(".apo/variants/scaled/wrong.cpp", replaced(right, "2 *", "3 *"));
}

TEST(Compare, AFailedGateExitsWithThreeAndTheNextCampaignNamesTheQueryThatShowsIt) {
  const Workplace place;
  write_family_with_a_wrong_variant(place);
  const Ran ran = place.apo({"compare", "scaled/simple", "scaled/wrong", "--families", "scaled.h"}, 110);
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
  EXPECT_NE(ran.out.find("verdict: reverted (gate_failed)"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.err.find("note: "), std::string::npos) << ran.err;
  const std::string note = "note: scaled/wrong gave wrong results in experiment 1: 'apo show 1' has the evidence\n";
  const Ran again =
      place.apo({"compare", "scaled/simple", "scaled/wrong", "--families", "scaled.h", "--no-journal"}, 110);
  EXPECT_EQ(again.exit_code, 3) << "it is judged all the same: " << again.err;
  EXPECT_NE(again.err.find(note), std::string::npos) << again.err;
  const Ran campaign = place.apo({"run", "scaled", "--families", "scaled.h", "--iterations", "1"}, 110);
  if (too_restless(campaign)) {
    GTEST_SKIP() << campaign.err;
  }
  EXPECT_NE(campaign.out.find("1 refuted by earlier experiments: 'apo query variant=FAMILY/NAME' shows them: "
                              "scaled/wrong"),
            std::string::npos)
      << campaign.out << campaign.err;
  const Words shown = {"query", "variant=scaled/wrong", "--columns", "id,outcome", "--csv"};
  EXPECT_EQ(place.apo(shown).out, "id,outcome\r\n1,incorrect\r\n");
  const Ran tried = place.apo({"try", "scaled", ".apo/variants/scaled/wrong.cpp", "--families", "scaled.h"}, 110);
  EXPECT_NE(tried.err.find(note), std::string::npos) << tried.err;
}

TEST(Compare, QuietMeansNoProgressAndTheVerdictAllTheSame) {
  const Workplace place;
  place.write(".apo/variants/copy/twin.cpp", Workplace::variant("twin"));
  const Ran ran = place.apo(
      {"compare", "copy/simple", "copy/twin", "--workload", "n4k", "--judge", "standard", "--no-journal", "--quiet"},
      110);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_NE(ran.out.find("verdict: reverted (gate_failed)"), std::string::npos) << ran.out;
}

TEST(Profile, ReportsTimeFloorRoofsAndScalingAlsoWhereTurnsCannotBeTaken) {
  const Workplace place;
  place.write("apo", "no folder for locks");
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
  const std::string words = "other processes that measure here are not waited for";
  const std::size_t said = again.err.find(words);
  ASSERT_NE(said, std::string::npos) << again.err;
  EXPECT_NE(again.err.find("/apo' is no folder of this user"), std::string::npos) << again.err;
  EXPECT_EQ(again.err.find(words, said + 1), std::string::npos) << "once is enough: " << again.err;
  for (const char* part :
       {"thread scaling", "metrics", "roofs", "bottlenecks", "floor", "bytes that must move and no arithmetic"}) {
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
