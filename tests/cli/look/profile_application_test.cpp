// tests/cli/look/profile_application_test.cpp - `apo profile -- COMMAND` and `apo import` as a person runs them,
// without a GPU.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/core/system/files.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

using Words = std::vector<std::string>;

Ran profile(const Workplace& place, Words words, const Words& command) {
  words.insert(words.begin(), "profile");
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return place.apo_with_environment(words, {"APO_CUPTI_LIBRARY=" APO_FAKE_CUPTI});
}

TEST(ProfileApplication, SaysThatNothingWasLaunched) {
  const Ran ran = Workplace().apo({"profile", "--", "/bin/true"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("nothing was launched"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("no process started CUDA"), std::string::npos) << ran.out;
}

TEST(ProfileApplication, ShowsKernelsCategoriesAndGaps) {
  const Ran ran = profile(Workplace(), {}, {APO_GUEST_PROGRAM, "exit", "10"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out.rfind("the guest's own output\n", 0), 0U) << "the command's output comes first: " << ran.out;
  for (const char* part :
       {"scale(float*)", "sgemm", "GEMM", "50 %", "2.00x", "idle 89 %", "gaps, the longest of them"}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << part << " is not in " << ran.out;
  }
}

TEST(ProfileApplication, JsonIsOneDocumentAndTheCommandsOutputGoesToStderr) {
  const Workplace place;
  const Ran ran = profile(place, {"--json"}, {APO_GUEST_PROGRAM, "fail", "10"});
  EXPECT_EQ(ran.exit_code, 1);
  const auto document = only_document(ran);
  EXPECT_EQ(ran.err.rfind("the guest's own output\napo: the command failed with exit code 3\n", 0), 0U) << ran.err;
  EXPECT_EQ(document["profile"], 1) << "it is kept all the same";
  EXPECT_EQ(document["exit_code"], 3);
  EXPECT_EQ(document["total_ns"], 1'000);
  EXPECT_EQ(document["busy_ns"], 1'000);
  EXPECT_EQ(document["work"].size(), 2U);
  std::int64_t sum = 0;
  for (const auto& category : document["categories"]) {
    sum += category["total_ns"].get<std::int64_t>();
  }
  EXPECT_EQ(sum, 1'000);
  EXPECT_TRUE(document["processes"][0]["complete"]);
}

TEST(ProfileApplication, OutputLeavesBothOutputsToTheCommand) {
  const Workplace place;
  const Ran ran = profile(place, {"--json", "--output", "profile.json"}, {APO_GUEST_PROGRAM, "exit", "4"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, "the guest's own output\n");
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(nlohmann::json::parse(read_file(place.path("profile.json")))["work"].size(), 2U);
}

TEST(ProfileApplication, TheCommandsOwnOptionsAreItsOwn) {
  const auto document =
      only_document(Workplace().apo({"profile", "--json", "--", "sh", "-c", "exit 9", "--json", "--"}));
  EXPECT_EQ(document["exit_code"], 9);
  EXPECT_EQ(document["command"], "sh -c exit 9 --json --");
}

TEST(ProfileApplication, TellsWhichSignalEndedTheCommand) {
  const Workplace place;
  const auto document = only_document(place.apo({"profile", "--json", "--", "sh", "-c", "kill -SEGV $$"}));
  EXPECT_EQ(document["signal"], 11);
  EXPECT_TRUE(document["exit_code"].is_null());
  const Ran text = place.apo({"profile", "--", "sh", "-c", "kill -SEGV $$"});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_NE(text.out.find("ended by SIGSEGV"), std::string::npos) << text.out;
  EXPECT_NE(text.err.find("apo: the command was ended by SIGSEGV"), std::string::npos) << text.err;
}

TEST(ProfileApplication, IsKeptInTheJournalForQueries) {
  const Workplace place;
  profile(place, {}, {APO_GUEST_PROGRAM, "exit", "10"});
  const auto rows = only_document(place.apo(
      {"query", "--json", "--sql", "SELECT name, category, calls, total_ns FROM application_work ORDER BY name"}));
  EXPECT_EQ(rows["rows"], (nlohmann::json{{"scale(float*)", "other", 5, 500}, {"sgemm", "GEMM", 5, 500}}));
}

TEST(ProfileApplication, ItsNvtxRangesAreKeptToo) {
  const Workplace place;
  const auto document = only_document(profile(place, {"--json"}, {APO_GUEST_PROGRAM, "ranges", "10"}));
  if (document["ranges"].empty()) {
    GTEST_SKIP() << "built without NVTX's header";
  }
  const auto rows = only_document(place.apo({"query", "--json", "--sql",
                                             "SELECT r.path, r.entered, r.calls, r.total_ns, r.own_ns, sum(c.calls)"
                                             " FROM application_range r JOIN application_range_category c"
                                             " ON c.profile = r.profile AND c.position = r.position"
                                             " GROUP BY r.position ORDER BY r.position"}));
  EXPECT_EQ(rows["rows"], (nlohmann::json{{"step", 1, 5, 500, 300, 5}, {"step / forward", 1, 2, 200, 200, 2}}));
}

TEST(ProfileApplication, CategoriesComeFromAFile) {
  const Workplace place;
  place.write("rules.json", R"({"categories": [{"name": "mine", "pattern": "scale|gemm"}]})");
  const auto document =
      only_document(profile(place, {"--json", "--categories", "rules.json"}, {APO_GUEST_PROGRAM, "exit", "10"}));
  ASSERT_EQ(document["categories"].size(), 1U);
  EXPECT_EQ(document["categories"][0]["name"], "mine");
  EXPECT_TRUE(document["categories"][0]["ceiling"].is_null()) << "all of the time: there is no bound";
}

TEST(ProfileApplication, AWrongCategoriesFileIsToldBeforeTheCommandRuns) {
  const Workplace place;
  place.write("rules.json", "{}");
  const Ran ran = profile(place, {"--categories", "rules.json"}, {"touch", "ran"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("rules.json"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(place.path("ran")));
}

TEST(ProfileApplication, AnOutputThatCannotBeWrittenIsToldBeforeTheCommandRuns) {
  const Workplace place;
  for (const char* output : {"/dev/null", "/proc/absent", "."}) {
    const Ran ran = profile(place, {"--output", output}, {"touch", "ran"});
    EXPECT_EQ(ran.exit_code, 2) << output;
    EXPECT_NE(ran.err.find(output), std::string::npos) << ran.err;
  }
  EXPECT_FALSE(std::filesystem::exists(place.path("ran")));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(ProfileApplication, MistakesAreNamed) {
  const Workplace place;
  const std::pair<Words, const char*> cases[] = {
      {{"profile", "--"}, "no command after '--'"},
      {{"profile", "--", "no-such-program"}, "there is no program 'no-such-program'"},
      {{"profile", "copy/simple", "--", "true"}, "were given"},
  };
  for (const auto& [words, said] : cases) {
    const Ran ran = place.apo(words);
    EXPECT_EQ(ran.exit_code, 1) << said;
    EXPECT_NE(ran.err.find(said), std::string::npos) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
  const Ran nested = place.apo_with_environment({"profile", "--", "true"}, {"CUDA_INJECTION64_PATH=/another/tool.so"});
  EXPECT_EQ(nested.exit_code, 1);
  EXPECT_NE(nested.err.find("another profiler"), std::string::npos) << nested.err;
  EXPECT_FALSE(std::filesystem::exists(place.path(".apo"))) << "a mistake must not make a journal";
}

TEST(ProfileApplication, AJournalThatCannotBeWrittenDoesNotCostTheResult) {
  const Workplace place;
  place.write("journal.db", "my notes, not an SQLite file at all");
  const Ran ran = profile(place, {"--journal", "journal.db"}, {APO_GUEST_PROGRAM, "exit", "10"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("scale(float*)"), std::string::npos);
  EXPECT_NE(ran.out.find("not kept in the journal"), std::string::npos) << ran.out;
}

TEST(Import, NcuCsvBecomesTheSameTables) {
  const Workplace place;
  place.write("ncu.csv",
              "\"ID\",\"Process ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
              "\"0\",\"1\",\"sgemm\",\"gpu__time_duration.sum\",\"ns\",\"3,000\"\n"
              "\"1\",\"1\",\"my_kernel\",\"gpu__time_duration.sum\",\"us\",\"1\"\n");
  const auto document = only_document(place.apo({"import", "ncu.csv", "--json"}));
  EXPECT_EQ(document["source"], "ncu");
  EXPECT_EQ(document["total_ns"], 4'000);
  EXPECT_EQ(document["work"][0]["category"], "GEMM");
  EXPECT_DOUBLE_EQ(document["work"][0]["ceiling"], 4);
  EXPECT_EQ(document["metrics"].size(), 2U);
  EXPECT_TRUE(document["idle_share"].is_null());
}

TEST(Import, WhatCannotBeReadSaysHowToExportIt) {
  const Workplace place;
  place.write("a.nsys-rep", "NVIDIA's own");
  place.write("a.ncu-rep", "NVIDIA's own");
  place.write("a.txt", "");
  const std::pair<Words, const char*> cases[] = {{{"import", "a.nsys-rep"}, "nsys export --type sqlite a.nsys-rep"},
                                                 {{"import", "a.ncu-rep"}, "ncu --import a.ncu-rep --csv"},
                                                 {{"import", "a.txt"}, "neither an SQLite export"},
                                                 {{"import", "missing"}, "missing"},
                                                 {{"import"}, "file"}};
  for (const auto& [words, said] : cases) {
    const Ran ran = place.apo(words);
    EXPECT_EQ(ran.exit_code, 1) << said;
    EXPECT_NE(ran.err.find(said), std::string::npos) << ran.err;
  }
}

}  // namespace
}  // namespace apo
