// tests/cli/usage_test.cpp - help, and what a person who mistypes is told.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

using Words = std::vector<std::string>;

struct Group {
  std::string heading;
  Words commands;
};

const std::vector<Group> kGroups = {
    {"Improve a kernel", {"run", "try", "compare", "space"}},
    {"Bring kernels in, take results out", {"new", "init", "family", "register", "unregister", "import", "export"}},
    {"Look at kernels and results",
     {"list", "show", "query", "diff", "lessons", "research", "report", "profile", "explain", "bench"}},
    {"Trust a result", {"verify", "confirm", "replay", "gate", "application", "selftest", "doctor"}},
    {"Work with agents", {"evaluate", "mcp"}},
    {"Use many devices", {"worker"}},
};

Words all_commands() {
  Words commands;
  for (const Group& group : kGroups) {
    commands.insert(commands.end(), group.commands.begin(), group.commands.end());
  }
  return commands;
}

// The headings of `apo --help` behind its options, each with the commands that stand below it.
std::vector<Group> groups_in(const std::string& help) {
  std::vector<Group> groups;
  for (const std::string& line : split(help, '\n')) {
    if (line.ends_with(':') && line != "Options:") {
      groups.push_back({.heading = line.substr(0, line.size() - 1), .commands = {}});
    } else if (!groups.empty() && line.starts_with("  ") && !line.starts_with("   ")) {
      groups.back().commands.push_back(split_words(line).front());
    }
  }
  return groups;
}

TEST(Usage, HelpListsEveryCommandInAGroup) {
  const Ran ran = Workplace().apo({"--help"});
  EXPECT_EQ(ran.exit_code, 0);
  const std::vector<Group> groups = groups_in(ran.out);
  ASSERT_EQ(groups.size(), kGroups.size()) << ran.out;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    EXPECT_EQ(groups[i].heading, kGroups[i].heading);
    EXPECT_EQ(groups[i].commands, kGroups[i].commands) << groups[i].heading;
  }
}

TEST(Usage, EveryCommandHasHelpOnStdout) {
  const Workplace place;
  for (const std::string& command : all_commands()) {
    const Ran ran = place.apo({command, "--help"});
    EXPECT_EQ(ran.exit_code, 0) << command;
    EXPECT_NE(ran.out.find("Usage: apo " + command), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("--journal"), std::string::npos) << command;
    EXPECT_NE(ran.out.find("load kernel families from this file, FILE.h or a shared"), std::string::npos) << command;
    EXPECT_EQ(ran.err, "") << command;
  }
}

TEST(Usage, HelpNamesWhatAnOptionExcludesOnlyWhereThatIsShort) {
  const Workplace place;
  for (const std::string& command : all_commands()) {
    const std::string help = place.apo({command, "--help"}).out;
    EXPECT_EQ(help.find("Excludes:"), std::string::npos) << help;
    EXPECT_EQ(help.find(" in ["), std::string::npos) << help;
    for (const std::string& line : split(help.substr(0, help.find("\n\n\n")), '\n')) {
      EXPECT_LE(line.size(), 110U) << command;  // names may be longer than their column
    }
  }
  const std::string compare = place.apo({"compare", "--help"}).out;
  EXPECT_NE(compare.find("\nOptions for two commands:\n  --command-a TEXT "), std::string::npos) << compare;
  EXPECT_NE(compare.find("--runs INT (1 to 100)"), std::string::npos) << compare;
  EXPECT_NE(place.apo({"gate", "--help"}).out.find("(default: 2%) (not with --store)"), std::string::npos);
}

TEST(Usage, HelpOfQueryListsItsKeys) {
  const Ran ran = Workplace().apo({"query", "--help"});
  for (const char* key : {"family", "verdict", "technique", "speedup", "since", "metric:NAME"}) {
    EXPECT_NE(ran.out.find("\n  " + std::string(key) + " "), std::string::npos) << key;
  }
}

TEST(Usage, VersionIsPrinted) {
  const Ran ran = Workplace().apo({"--version"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.out.rfind("apo ", 0), 0U) << ran.out;
}

TEST(Usage, HelpLeavesNothingBehind) {
  const Workplace place;
  place.apo({"list"});
  place.apo({"query", "--help"});
  place.apo({"report"});
  EXPECT_FALSE(std::filesystem::exists(place.path(".apo")));
}

struct Mistake {
  const char* name;
  Words words;
  int exit_code;
  Words said;  // each somewhere on stderr
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.name;
}

class Mistaken : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistaken, IsToldWhatIsWrongAndWhatToDo) {
  const Workplace place;
  const Ran ran = place.apo(GetParam().words);
  EXPECT_EQ(ran.exit_code, GetParam().exit_code) << ran.err;
  const Words& words = GetParam().words;
  const bool asks_for_json = std::find(words.begin(), words.end(), "--json") != words.end();
  EXPECT_EQ(asks_for_json ? only_document(ran)["exit_code"].dump() : ran.out,
            asks_for_json ? std::to_string(ran.exit_code) : "");
  EXPECT_EQ(ran.err.rfind("apo: ", 0), 0U) << ran.err;
  for (const std::string& said : GetParam().said) {
    EXPECT_NE(ran.err.find(said), std::string::npos) << "no '" << said << "' in: " << ran.err;
  }
  EXPECT_FALSE(std::filesystem::exists(place.path(".apo/journal.db"))) << "a mistake must not make a journal";
}

TEST(Usage, WithJsonAFailureIsADocumentOnStdoutToo) {
  const Workplace place;
  const std::pair<Words, std::string> cases[] = {
      {{"query", "--json"}, "there is no journal"},
      {{"query", "nokey=1", "--json"}, "unknown key 'nokey'"},
      {{"register", "--json"}, "file is required"},
      {{"lits", "--json"}, "unknown command 'lits'"},
      {{"export", "--output", "", "--json"}, "'--output' has an empty value"},
  };
  for (const auto& [words, said] : cases) {
    const Ran ran = place.apo(words);
    EXPECT_EQ(ran.exit_code, 1) << ran.err;
    const nlohmann::json document = only_document(ran);
    const std::string error = document["error"];
    EXPECT_NE(error.find(said), std::string::npos) << error;
    EXPECT_TRUE(ran.err.starts_with("apo: " + error)) << ran.err;
    EXPECT_EQ(document["exit_code"], 1);
    EXPECT_NE(document["hint"], "") << words.front();
  }
}

const Mistake kUnknownNames[] = {
    {"no_command", {}, 1, {"no command given", "apo --help"}},
    {"command", {"lits"}, 1, {"unknown command 'lits'", "did you mean 'list'"}},
    {"option", {"list", "--jsn"}, 1, {"--jsn", "apo list --help"}},
    {"option_before_the_command", {"--json", "list"}, 1, {"'--json' stands before the command"}},
    {"option_without_command", {"--fast"}, 1, {"'--fast'", "apo --help"}},
    {"campaign_file_as_family", {"run", "a.json"}, 1, {"is no family", "--campaign a.json"}},
    {"family", {"list", "copi"}, 1, {"unknown family 'copi'", "did you mean 'copy'"}},
    {"family_of_variant", {"list", "copi/simple"}, 1, {"unknown family 'copi'", "did you mean 'copy'"}},
    {"family_to_run", {"run", "e88_backwrd"}, 1, {"e88_backwrd", "did you mean 'e88_backward'"}},
    {"family_to_bench", {"bench", "copi"}, 1, {"unknown family 'copi'", "did you mean 'copy'"}},
    {"variant_to_list", {"list", "copy/simpel"}, 1, {"unknown variant 'copy/simpel'", "did you mean 'copy/simple'"}},
    {"variant_to_show", {"show", "copy/simpel"}, 1, {"unknown variant", "did you mean 'copy/simple'"}},
    {"variant_to_verify", {"verify", "copy/simpel"}, 1, {"unknown variant", "did you mean 'copy/simple'"}},
    {"variant_to_compare", {"compare", "copy/simple", "copy/memcp"}, 1, {"did you mean 'copy/memcpy'"}},
    {"variant_to_profile", {"profile", "copy/simpel"}, 1, {"did you mean 'copy/simple'"}},
    {"variant_to_bench", {"bench", "copy/simpel"}, 1, {"did you mean 'copy/simple'"}},
    {"workload_to_verify",
     {"verify", "copy/simple", "--workload", "n4m"},
     1,
     {"unknown workload 'n4m'", "did you mean"}},
    {"workload_to_run", {"run", "copy", "--workload", "n4kk"}, 1, {"n4kk", "did you mean 'n4k'"}},
    {"variant_to_explain", {"explain", "copy/simple", "copy/memcp"}, 1, {"did you mean 'copy/memcpy'"}},
    {"one_variant_to_explain",
     {"explain", "copy/simple"},
     1,
     {"b is required", "Usage: apo explain [OPTIONS] a b", "'apo explain --help'"}},
    {"families_to_explain",
     {"explain", "copy/simple", "e88_backward/simple"},
     1,
     {"differ in family or target", "apo list copy"}},
    {"cache_of_explain", {"explain", "copy/simple", "copy/memcpy", "--cache", "cool"}, 1, {"known: cold, warm"}},
    {"workload_to_explain", {"explain", "copy/simple", "copy/memcpy", "--workload", "n4kk"}, 1, {"did you mean 'n4k'"}},
    {"gpu_counters_of_the_host",
     {"profile", "copy/simple", "--metrics", "dram__bytes_read.sum"},
     1,
     {"--metrics selects GPU counters", "copy/simple is for target host"}},
    {"no_variant_to_profile", {"profile"}, 1, {"no variant was given", "--roofs"}},
    {"target_of_roofs",
     {"profile", "--roofs", "--target", "gpu"},
     1,
     {"unknown target 'gpu'", "known: auto, host, cuda"}},
    {"workload_to_profile", {"profile", "copy/simple", "--workload", "n4kk"}, 1, {"did you mean 'n4k'"}},
    {"workload_to_bench", {"bench", "copy", "--workload", "n4kk"}, 1, {"did you mean 'n4k'"}},
    {"regime", {"verify", "copy/simple", "--regime", "tipical"}, 1, {"did you mean 'typical'", "known:"}},
    {"predicate", {"query", "fmily=copy"}, 1, {"unknown key 'fmily'", "did you mean 'family'"}},
    {"word_of_predicate", {"query", "verdict=acepted"}, 1, {"did you mean 'accepted'"}},
    {"sort_key", {"query", "--sort", "-speedupp"}, 1, {"speedupp", "did you mean 'speedup'"}},
    {"column", {"query", "--columns", "id,canditate"}, 1, {"did you mean 'candidate'"}},
    {"verdict_of_lessons", {"lessons", "--verdict", "revertd"}, 1, {"did you mean 'reverted'"}},
    {"report_format", {"report", "--format", "htm"}, 1, {"unknown format 'htm'", "did you mean 'html'"}},
    {"bench_format", {"bench", "--benchmark_format=jsn"}, 1, {"unknown format 'jsn'", "did you mean 'json'"}},
    {"cache_of_profile",
     {"profile", "copy/simple", "--cache", "cool"},
     1,
     {"unknown cache policy 'cool'", "cold, warm"}},
    {"cache_of_run", {"run", "copy", "--cache", "cool"}, 1, {"cool"}},
    {"judge", {"run", "copy", "--judge", "standart"}, 1, {"standart", "standard"}},
    {"target", {"run", "copy", "--target", "hst"}, 1, {"unknown target 'hst'"}},
};

const Mistake kBadValues[] = {
    {"tunable_zero", {"verify", "copy/parallel[KILOBYTES_PER_THREAD=0]"}, 1, {"KILOBYTES_PER_THREAD", "256"}},
    {"tunable_negative", {"verify", "copy/parallel[KILOBYTES_PER_THREAD=-64]"}, 1, {"KILOBYTES_PER_THREAD", "256"}},
    {"tunable_no_number", {"verify", "copy/parallel[KILOBYTES_PER_THREAD=many]"}, 1, {"NAME=VALUE"}},
    {"tunable_unknown", {"verify", "copy/parallel[KILOBYTES=64]"}, 1, {"KILOBYTES"}},
    {"tunable_without_end", {"profile", "copy/parallel[KILOBYTES_PER_THREAD=64"}, 1, {"NAME=VALUE"}},
    {"tunable_twice",
     {"verify", "copy/parallel[KILOBYTES_PER_THREAD=64,KILOBYTES_PER_THREAD=256]"},
     1,
     {"'KILOBYTES_PER_THREAD' is set twice"}},
    {"tunable_of_none", {"bench", "copy/simple[A=1]"}, 1, {"A"}},
    {"budget_zero", {"run", "copy", "--budget", "0"}, 1, {"--budget '0'", "10m"}},
    {"budget_negative", {"run", "copy", "--budget=-5m"}, 1, {"--budget '-5m'", "10m"}},
    {"budget_no_time", {"run", "copy", "--budget", "soon"}, 1, {"--budget 'soon'", "10m"}},
    {"budget_unit", {"run", "copy", "--budget", "10y"}, 1, {"--budget '10y'"}},
    {"budget_without_unit", {"run", "copy", "--budget", "10"}, 1, {"--budget '10' has no unit", "10s, 10m or 10h"}},
    {"solo_run_too_short", {"run", "copy", "--solo-run", "1ms"}, 1, {"--solo-run is '1ms'", "10ms", "2s"}},
    {"solo_run_no_time", {"run", "copy", "--solo-run", "long"}, 1, {"--solo-run is 'long'"}},
    {"iterations_zero", {"run", "copy", "--iterations", "0"}, 1, {"--iterations"}},
    {"iterations_negative", {"run", "copy", "--iterations", "-3"}, 1, {"--iterations"}},
    {"iterations_no_number", {"run", "copy", "--iterations", "few"}, 1, {"--iterations", "few"}},
    {"seed_no_number", {"verify", "copy/simple", "--seed", "x"}, 1, {"--seed"}},
    {"seed_negative", {"verify", "copy/simple", "--seed", "-1"}, 1, {"--seed", "'-1' is not a whole number"}},
    {"seed_zero", {"verify", "copy/simple", "--seed", "0"}, 1, {"--seed", "'0' is not a whole number from 1"}},
    {"seed_too_large", {"verify", "copy/simple", "--seed", "18446744073709551616"}, 1, {"18446744073709551616"}},
    {"empty_family", {"run", ""}, 1, {"'family' has an empty value"}},
    {"empty_option", {"report", "--output", ""}, 1, {"'--output' has an empty value"}},
    {"output_of_a_variant", {"profile", "copy/simple", "--output", "x"}, 1, {"--output", "need a command after '--'"}},
    {"limit_negative", {"query", "--limit", "-1"}, 1, {"'-1' is no limit"}},
    {"limit_no_number", {"query", "--limit", "some"}, 1, {"'some' is no limit"}},
    {"number_of_predicate", {"query", "speedup>fast"}, 1, {"'fast'", "not a number"}},
    {"predicate_without_operator", {"query", "speedup"}, 1, {"'speedup' is not a predicate"}},
    {"sql_and_predicate", {"query", "family=copy", "--sql", "SELECT 1"}, 1, {"--sql", "family=copy"}},
    {"csv_and_json", {"query", "--csv", "--json"}, 1, {"--csv", "--json"}},
    {"neither_id_nor_variant", {"show", "simple"}, 1, {"'simple'", "apo query", "apo list"}},
    {"samples_of_variant", {"show", "copy/simple", "--samples"}, 1, {"--samples"}},
    {"two_families", {"compare", "copy/simple", "e88_forward/simple"}, 1, {"two families"}},
    {"family_and_campaign", {"run", "copy", "--campaign", "x.json"}, 1, {"--campaign"}},
    {"word_after_workload", {"run", "--workload", "n4k", "cpoy"}, 1, {"unknown family 'cpoy'", "did you mean 'copy'?"}},
    {"campaign_file", {"run", "--campaign", "none.json"}, 1, {"none.json"}},
    {"no_inputs", {"verify", "copy/simple", "--inputs", "nowhere"}, 1, {"nowhere", "--dump"}},
    {"bench_option", {"bench", "copy", "--fast"}, 1, {"unknown option '--fast'"}},
    {"bench_flag", {"bench", "copy", "--benchmark_fast=1"}, 1, {"--benchmark_fast=1", "--benchmark_help"}},
    {"family_library", {"list", "--families", "nowhere.so"}, 1, {"nowhere.so"}},
};

std::string name_of_mistake(const ::testing::TestParamInfo<Mistake>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(UnknownName, Mistaken, ::testing::ValuesIn(kUnknownNames), name_of_mistake);
INSTANTIATE_TEST_SUITE_P(BadValue, Mistaken, ::testing::ValuesIn(kBadValues), name_of_mistake);

TEST(Usage, SourceOfAFamilyIsRefusedWithTheCommandThatBuildsItAndThatLibraryLoadsByItsNameAlone) {
  const Workplace place;
  place.write("axpy.cpp", read_file(APO_SOURCE_FOLDER "/tests/consumer/axpy.cpp"));
  const Ran source = place.apo({"list", "axpy", "--families", "axpy.cpp"});
  EXPECT_EQ(source.exit_code, 1) << source.err;
  EXPECT_NE(source.err.find("'axpy.cpp' is source code"), std::string::npos) << source.err;
  const std::string label = "build it: ";
  const std::size_t at = source.err.find(label);
  ASSERT_NE(at, std::string::npos) << source.err;
  const std::string command = source.err.substr(at + label.size());
  const ProcessResult built =
      run_process({"sh", "-c", replaced(command, " -O2", "")}, {.working_folder = place.path("")});
  ASSERT_TRUE(built.ok()) << built.error;
  const Ran list = place.apo({"list", "axpy", "--families", "libaxpy.so"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_NE(list.out.find("n64k"), std::string::npos) << list.out;
}

TEST(Usage, DoctorNamesAFolderThatCannotBeWritten) {
  const Workplace file;
  file.write(".apo", "");
  const Ran blocked = file.apo({"doctor"});
  EXPECT_EQ(blocked.exit_code, 2) << blocked.out;
  EXPECT_NE(blocked.out.find("broken  folder: nothing can be written to '" + file.path(".apo").string() +
                             "': Not a directory\n        -> move that file away"),
            std::string::npos)
      << blocked.out;
  EXPECT_NE(blocked.out.find("target host does not work here"), std::string::npos) << blocked.out;

  // For root, too, /proc takes no new folder.
  const Ran unwritable = Workplace().apo({"doctor", "--journal", "/proc/.apo/journal.db"});
  EXPECT_EQ(unwritable.exit_code, 2) << unwritable.out;
  EXPECT_NE(unwritable.out.find("broken  folder: '.apo' cannot be created in '/proc'"), std::string::npos)
      << unwritable.out;
}

TEST(Usage, NoJournalYetNamesTheCommandThatWritesOne) {
  const Workplace place;
  for (const Words& words : {Words{"query"}, {"query", "--sql", "SELECT 1"}, {"show", "1"}, {"report"}, {"lessons"}}) {
    const Ran ran = place.apo(words);
    EXPECT_EQ(ran.exit_code, 1) << words.front();
    EXPECT_NE(ran.err.find("there is no journal"), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("apo run"), std::string::npos) << ran.err;
  }
}

TEST(Usage, AJournalInALoopOfLinksIsNoErrorOfOurs) {
  const Workplace place;
  std::filesystem::create_symlink("loop.db", place.path("loop.db"));
  const Ran list = place.apo({"list", "copy", "--journal", "loop.db"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_NE(list.err.find("leads nowhere"), std::string::npos) << list.err;
  const Ran show = place.apo({"show", "copy/nowhere", "--journal", "loop.db"});
  EXPECT_EQ(show.exit_code, 1) << show.err;
  EXPECT_EQ(show.err.find("internal error"), std::string::npos) << show.err;
}

TEST(Usage, AFolderForTemporaryFilesThatWouldMisleadTheJudgeIsRefused) {
  const Workplace place;
  for (const char* name : {"two\nlines", "latin\xff"}) {
    std::filesystem::create_directory(place.path(name));
    const Ran ran = place.apo_with_environment({"verify", "copy/simple", "--workload", "n1001"},
                                               {"TMPDIR=" + place.path(name).string()});
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    EXPECT_NE(ran.err.find("set TMPDIR to a folder with another name"), std::string::npos) << ran.err;
  }
}

TEST(Usage, BenchmarksThatCouldNotBePrintedAreTheEnvironmentsTrouble) {
  const Workplace place;
  const ProcessResult ran =
      run_process({"sh", "-c", APO_PROGRAM " bench copy/simple --workload n1001 --benchmark_min_time=0.001 >/dev/full"},
                  {.working_folder = place.path(""), .environment = {"APO_HOME=" APO_SOURCE_FOLDER}});
  EXPECT_EQ(ran.exit_code, 2) << ran.error;
  EXPECT_NE(ran.error.find("cannot write to standard output"), std::string::npos) << ran.error;
}

TEST(Usage, ALimitOnFilesIsToldAndKillsNobody) {
  const Workplace place;
  const ProcessResult ran =
      run_process({"sh", "-c", "ulimit -f 1; exec " APO_PROGRAM " gate --store b.json e88_backward/simple"},
                  {.working_folder = place.path(""), .environment = {"APO_HOME=" APO_SOURCE_FOLDER}});
  EXPECT_EQ(ran.exit_code, 2) << ran.signal;
  EXPECT_NE(ran.error.find("cannot write 'b.json': File too large"), std::string::npos) << ran.error;
  EXPECT_FALSE(std::filesystem::exists(place.path("b.json")));
}

TEST(Usage, TargetCudaWithoutAGpuIsTheEnvironmentsTrouble) {
  if (std::filesystem::exists("/dev/nvidiactl")) {
    GTEST_SKIP() << "this machine has a GPU";
  }
  const Ran ran = Workplace().apo({"run", "e88_backward", "--target", "cuda"});
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err.rfind("apo: ", 0), 0U) << ran.err;
}

TEST(Usage, ABaselineOfAnotherTargetIsAMistakeAndNotDropped) {
  const Workplace place;
  place.write("campaign.json", R"({"family": "copy", "target": "cuda", "baseline": "copy/simple"})");
  for (const Words& words : {Words{"run", "--campaign", "campaign.json"},
                             {"run", "copy", "--target", "cuda", "--baseline", "copy/simple"}}) {
    const Ran ran = place.apo(words);
    EXPECT_EQ(ran.exit_code, 1) << ran.err;
    EXPECT_NE(ran.err.find("'copy/simple' is for target host, and the campaign runs on cuda"), std::string::npos)
        << ran.err;
    EXPECT_NE(ran.err.find("--target host"), std::string::npos) << ran.err;
  }
  const Ran host = place.apo({"run", "copy", "--target", "host", "--baseline", "copy/cuda_simple"});
  EXPECT_EQ(host.exit_code, 1);
  EXPECT_NE(host.err.find("--target cuda"), std::string::npos) << host.err;
}

TEST(Usage, ACampaignFileThatNamesItsTargetKeepsItUnderAuto) {
  const Workplace place;
  place.write("campaign.json", R"({"family": "copy", "target": "host", "baseline": "copy/cuda_simple"})");
  const Ran ran = place.apo({"run", "--campaign", "campaign.json"});
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_NE(ran.err.find("target host, as the campaign file says"), std::string::npos) << ran.err;
}

TEST(Usage, AutoTakesTheTargetOfTheBaseline) {
  if (std::filesystem::exists("/dev/nvidiactl")) {
    GTEST_SKIP() << "this machine has a GPU";
  }
  const Ran ran = Workplace().apo({"run", "copy", "--baseline", "copy/cuda_simple"});
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  EXPECT_NE(ran.err.find("target cuda, that of the baseline copy/cuda_simple"), std::string::npos) << ran.err;
}

TEST(Usage, ListIsOneJsonDocument) {
  const auto document = only_document(Workplace().apo({"list", "copy", "copy/simple", "--json"}));
  EXPECT_EQ(document["families"][0]["name"], "copy");
  EXPECT_EQ(document["variants"][0]["id"], "copy/simple");
  EXPECT_TRUE(document["problems"].empty());
}

TEST(Usage, ListShowsAFamilysContract) {
  const Ran ran = Workplace().apo({"list", "copy"});
  EXPECT_EQ(ran.exit_code, 0);
  for (const char* part : {"n4k", "ragged", "typical, wide", "KILOBYTES_PER_THREAD 256,64,1024", "streaming-stores"}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << part;
  }
}

TEST(Usage, ShowPrintsTheSourceOfAVariant) {
  const Workplace place;
  const std::string source = read_file(APO_SOURCE_FOLDER "/variants/copy/simple.cpp");
  EXPECT_NE(place.apo({"show", "copy/simple", "--source"}).out.find(source), std::string::npos);
  EXPECT_EQ(only_document(place.apo({"show", "copy/simple", "--source", "--json"}))["source"], source);
}

}  // namespace
}  // namespace apo
