// tests/core/techniques/techniques_test.cpp - the catalogue is well formed and covers what the seeds tried.
#include "harness/core/techniques/techniques.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "harness/core/error.h"
#include "harness/core/pattern.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "tests/text.h"

namespace apo {
namespace {

std::string entry(const std::string& name, const std::string& more = "") {
  return R"({"name": ")" + name + R"(", "target": "any", "cost": 1, "low": 1.0, "high": 2.0, "attacks": [], )" +
         R"("source": "derived: by hand")" + more + "}";
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

std::string mistake(const std::string& text) {
  return error_of([&] { parse_techniques(text, "t.json"); });
}

TEST(Catalogue, IsReadAsItIsWritten) {
  const auto all = parse_techniques("[" + entry("a") + ",\n" + entry("b", R"(, "excludes": ["a"])") + "]", "t.json");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].excludes, std::vector<std::string>{"a"});
  EXPECT_FALSE(all[0].target);
  EXPECT_EQ(all[0].high, 2);
  EXPECT_EQ(all[0].precondition, "");
}

TEST(Catalogue, AMistakeIsNamedWithItsTechnique) {
  const auto b = [](const std::string& what, const std::string& with) { return replaced(entry("b"), what, with); };
  const std::pair<std::string, std::string> kMistakes[] = {
      {"3", "t.json: entry 2 is no object"},
      {"{}", "t.json: entry 2 has no 'name'"},
      {R"({"name": "b"})", "t.json: 'b' has no 'target'"},
      {entry("b", R"(, "excludez": [])"), "has a key 'excludez' | did you mean 'excludes'"},
      {entry("b", R"(, "excludes": "a")"), "excludes is no list"},
      {entry("b", R"(, "excludes": ["aa"])"), "excludes 'aa', which is no technique"},
      {entry("b", R"(, "excludes": ["b"])"), "excludes itself"},
      {entry("a"), "stands there twice"},
      {entry("b", R"(, "builds_on": ["c"])"), "t.json: 'b' builds on 'c', which is no technique"},
      {entry("b", R"(, "requires": "SM >=")"), "t.json: 'b' has a 'requires' that cannot be computed"},
      {entry("b", R"(, "requires": "SMM >= 80")"), "SMM"},
      {entry("b", R"(, "requires": "N <= 32")"), "unknown symbol 'N'"},  // an axis of no family
      {entry("b", R"(, "families": ["e88_backward"], "requires": "M <= 32")"), "cannot be computed"},
      {b("\"any\"", "\"gpu\""), "target is an unknown word"},
      {b("\"cost\": 1", "\"cost\": 9"), "has a cost"},
      {b("\"cost\": 1", "\"cost\": 1.5"), "cost is no whole number"},
      {b(R"("attacks": [])", R"("attacks": ["idle-coers"])"),
       "t.json: 'b' attacks 'idle-coers', which is no bottleneck | did you mean 'idle-cores'"},
      {b("2.0", "0.5"), "has an invalid band"},
      {b("derived: by hand", ""), "has no source"},
  };
  for (const auto& [text, part] : kMistakes) {
    const std::string error = mistake("[" + entry("a") + ",\n" + text + "]");
    EXPECT_NE(error.find(part), std::string::npos) << text << ": " << error;
  }
  EXPECT_NE(mistake("[").find("t.json is not JSON: "), std::string::npos);
  EXPECT_NE(mistake("{}").find("t.json is no list"), std::string::npos);
  EXPECT_EQ(mistake("[" + entry("b", R"(, "families": ["e88_backward"], "requires": "N <= 32 && SM >= 80")") + "]"),
            "");
}

TEST(Catalogue, ATechniqueThatIsBuiltOnItselfIsAMistake) {
  const auto on = [](const std::string& name, const std::string& base) {
    return entry(name, R"(, "builds_on": [")" + base + "\"]");
  };
  EXPECT_EQ(mistake("[" + on("a", "b") + "," + entry("b") + "]"), "");
  EXPECT_EQ(mistake("[" + entry("x") + "," + on("a", "b") + "," + on("b", "c") + "," + on("c", "a") + "]"),
            "t.json: 'a' builds on itself: a, b, c, a | ");
  EXPECT_NE(mistake("[" + on("a", "b") + "," + on("b", "c") + "," + on("c", "b") + "]").find("'b' builds on itself"),
            std::string::npos);
}

// Of these nothing is left to gain, or they are of one family's contract.
TEST(Catalogue, AFamilyThatNobodyHasSeenGetsAnIdeaForEveryBottleneck) {
  const std::vector<std::string> none = {"near-floor", "recomputed-special-functions", "segment-cache-traffic"};
  for (const std::string& bottleneck : bottleneck_names()) {
    const bool has = std::ranges::any_of(
        technique_catalogue(), [&](const Technique& one) { return one.families.empty() && attacks(one, bottleneck); });
    EXPECT_NE(has, std::ranges::find(none, bottleneck) != none.end()) << bottleneck;
  }
}

// The names of the journals that are packed for a device, read once.
const std::string& packed_journals(const std::string& device) {
  static std::map<std::string, std::string> lists;
  const auto [list, is_new] = lists.try_emplace(device);
  if (is_new) {
    list->second = run_process({"tar", "-tJf", device + "/journals.tar.xz"}).output;
  }
  return list->second;
}

// In the tree, or among the packed journals of its device.
bool is_recorded(const std::string& path) {
  const std::vector<std::string> parts = split(path, '/');  // experiments, device, ...
  const std::string device = APO_SOURCE_FOLDER "/" + parts[0] + "/" + parts[1];
  const std::string inside = path.substr(parts[0].size() + parts[1].size() + 2);
  return std::filesystem::exists(device + "/" + inside) || packed_journals(device).find(inside) != std::string::npos;
}

// What an entry says beyond "derived" is in a document of docs/sources.md, or in a file of this repository.
TEST(Catalogue, EverySourceIsADocumentThatIsListedOrAFileThatIsThere) {
  const std::string root = APO_SOURCE_FOLDER;
  std::vector<std::string> known = {"derived", "measured", "CUTLASS"};
  for (const std::string& line : split(read_file(root + "/docs/sources.md"), '\n')) {
    if (line.starts_with("| ")) {
      known.push_back(trim(split(line, '|')[1]));
    }
  }
  for (const Technique& technique : technique_catalogue()) {
    EXPECT_TRUE(std::ranges::any_of(known, [&](const std::string& name) { return technique.source.starts_with(name); }))
        << technique.name << ": " << technique.source;
    for (const std::string& word : split_words(replace_all(technique.source, ",", " "))) {
      EXPECT_TRUE(!word.starts_with("experiments/") || is_recorded(word)) << technique.name << ": " << word;
    }
  }
}

// A technique may attack what a rule finds, and nothing else would ever be found.
TEST(Catalogue, TheBottlenecksAreThoseThatTheRulesName) {
  std::string rules;
  for (const auto& file :
       std::filesystem::directory_iterator(std::string(APO_SOURCE_FOLDER) + "/harness/research/diagnosis")) {
    rules += read_file(file.path());
  }
  for (const std::string& name : bottleneck_names()) {
    EXPECT_NE(rules.find("\"" + name + "\""), std::string::npos) << name;
  }
  const Pattern quoted("\"([a-z0-9]+(-[a-z0-9]+)+)\"");
  for (const PatternMatch& one : quoted.all(rules)) {
    EXPECT_TRUE(std::ranges::find(bottleneck_names(), one[1]) != bottleneck_names().end()) << one[1];
  }
}

// The tables of docs/diagnoses.md name every cause and every limit of a GPU kernel.
TEST(Catalogue, EveryBottleneckOfAGpuHasARemedy) {
  int bottlenecks = 0;
  for (const std::string& line : split(read_file(std::string(APO_SOURCE_FOLDER) + "/docs/diagnoses.md"), '\n')) {
    if (!line.starts_with("| `")) {
      continue;
    }
    const std::vector<std::string> words = split(line.substr(0, line.find('|', 1)), '`');
    for (std::size_t i = 1; i < words.size(); i += 2) {
      ++bottlenecks;
      EXPECT_TRUE(std::ranges::any_of(technique_catalogue(), [&](const Technique& technique) {
        return technique.target.value_or(Target::cuda) == Target::cuda && attacks(technique, words[i]);
      })) << words[i];
    }
  }
  EXPECT_GT(bottlenecks, 30);
}

TEST(Catalogue, KnowsTheTechniquesOfTheSeeds) {
  for (const char* name :
       {"chunk-prefetch", "fused-l2-norm", "padded-cache", "fused-dk", "reused-state", "adaptive-threads"}) {
    EXPECT_NE(find_technique(name, Target::host), nullptr) << name;
    EXPECT_NE(find_technique(name, Target::cuda), nullptr) << name;
  }
  for (const char* name : {"cp-async", "register-owned", "reduced-sync", "multi-head", "tensor-core"}) {
    EXPECT_NE(find_technique(name, Target::cuda), nullptr) << name;
    EXPECT_EQ(find_technique(name, Target::host), nullptr) << name;
  }
  EXPECT_NE(find_technique("column-vectorised", Target::host), nullptr);
  EXPECT_EQ(find_technique("no-such-technique", Target::host), nullptr);
}

// A technique that is not in the catalogue attacks nothing and has no prior.
TEST(Catalogue, KnowsTheTechniquesOfEveryVariantHere) {
  int lines = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::string(APO_SOURCE_FOLDER) + "/variants")) {
    if (!entry.is_regular_file()) {
      continue;
    }
    const Target target = entry.path().extension() == ".cu" ? Target::cuda : Target::host;
    for (const std::string& line : split(read_file(entry.path()), '\n')) {
      if (line.starts_with("// apo:technique") || line.starts_with("// apo:toggle")) {
        ++lines;
        const std::string name = split_words(line).back();
        EXPECT_NE(find_technique(name, target), nullptr) << name << " of " << entry.path();
      }
    }
  }
  EXPECT_GT(lines, 100);
}

TEST(Catalogue, OneNameMayMeanDifferentThingsOnTwoTargets) {
  EXPECT_TRUE(any_attacks({"adaptive-threads"}, Target::host, "idle-cores"));
  EXPECT_FALSE(any_attacks({"adaptive-threads"}, Target::cuda, "idle-cores"));
}

}  // namespace
}  // namespace apo
