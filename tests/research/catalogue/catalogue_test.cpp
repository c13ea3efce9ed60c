// tests/research/catalogue/catalogue_test.cpp - the catalogue is well formed and covers what the seeds tried.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/research/catalogue/techniques.h"

namespace apo {
namespace {

TEST(Catalogue, EveryEntryHasABandASourceAndACost) {
  std::set<std::pair<std::string, int>> names;
  for (const Technique& technique : technique_catalogue()) {
    EXPECT_GT(technique.low, 0) << technique.name;
    EXPECT_LE(technique.low, technique.high) << technique.name;
    EXPECT_FALSE(technique.source.empty()) << technique.name;
    EXPECT_TRUE(technique.cost >= 1 && technique.cost <= 3) << technique.name;
    const int target = technique.target ? static_cast<int>(*technique.target) : -1;
    EXPECT_TRUE(names.emplace(technique.name, target).second) << technique.name << " twice";
  }
}

TEST(Catalogue, NoNameIsBothCommonAndOfOneTarget) {
  for (const Technique& technique : technique_catalogue()) {
    if (!technique.target) {
      EXPECT_EQ(find_technique(technique.name, Target::host), &technique) << technique.name;
      EXPECT_EQ(find_technique(technique.name, Target::cuda), &technique) << technique.name;
    }
  }
}

TEST(Catalogue, ExclusionsNameTechniquesThatExist) {
  for (const Technique& technique : technique_catalogue()) {
    for (const std::string& other : technique.excludes) {
      const bool known =
          find_technique(other, Target::host) != nullptr || find_technique(other, Target::cuda) != nullptr;
      EXPECT_TRUE(known) << technique.name << " excludes " << other;
    }
  }
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
      if (line.starts_with("// apo:technique")) {
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
