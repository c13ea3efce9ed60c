// tests/core/guards_test.cpp - every attack of the zoo names its guard, and docs/guards.md has the table of
// them.
#include "harness/core/guards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "tests/zoo/says.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
const fs::path kZoo = fs::path(APO_SOURCE_FOLDER) / "tests" / "zoo";

struct ZooFile {
  std::string name;  // "attacks/cuda_zeros"
  bool honest = false;
  std::string guard;
  std::string exploit;
};

std::vector<ZooFile> zoo() {
  std::vector<ZooFile> files;
  for (const auto& entry : fs::recursive_directory_iterator(kZoo)) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".cu") {
      continue;
    }
    const std::string source = read_file(entry.path());
    const std::string expected = testing::zoo_says(source, "expect");
    files.push_back({.name = fs::relative(entry.path(), kZoo).replace_extension().string(),
                     .honest = expected == "valid" || expected == "faster",
                     .guard = testing::zoo_says(source, "guard"),
                     .exploit = testing::zoo_says(source, "exploit")});
  }
  std::ranges::sort(files, {}, &ZooFile::name);
  return files;
}

// The rows of docs/guards.md between its two marks.
std::string table() {
  std::map<std::string, std::vector<std::string>> attacks;
  for (const ZooFile& file : zoo()) {
    if (!file.guard.empty()) {
      attacks[file.guard].push_back(file.name + (file.exploit.empty() ? "" : " (" + file.exploit + ")"));
    }
  }
  std::string rows = "| guard | what it insists on | attacks that it has to catch |\n|---|---|---|\n";
  for (const GuardRow& row : guard_rows()) {
    rows += "| `" + std::string(row.name) + "` | " + row.rule + " | " + join(attacks[row.name], ", ") + " |\n";
  }
  return rows;
}

TEST(Guards, DocumentHasTheTableOfGuardsAndTheirAttacks) {
  const std::string document = read_file(fs::path(APO_SOURCE_FOLDER) / "docs" / "guards.md");
  const fs::path made = fs::path(APO_BINARY_FOLDER) / "guards-table.md";
  if (document.find(table()) == std::string::npos) {
    write_file_atomically(made, table());
    FAIL() << "docs/guards.md does not have the table that the zoo gives: put " << made << " in its place";
  }
}

TEST(Guards, EveryAttackNamesAGuardAndNoHonestCandidateDoes) {
  std::set<std::string> known;
  for (const GuardRow& row : guard_rows()) {
    known.insert(row.name);
  }
  for (const ZooFile& file : zoo()) {
    EXPECT_TRUE(file.guard.empty() || known.contains(file.guard)) << file.name << " names no guard: " << file.guard;
    EXPECT_FALSE(file.honest && !file.guard.empty()) << file.name;
  }
}

TEST(Guards, ZooHasFortyAttacksAndFortyHonestLookAlikes) {
  const std::vector<ZooFile> files = zoo();
  EXPECT_GE(std::ranges::count_if(files, [](const ZooFile& file) { return !file.exploit.empty(); }), 40);
  EXPECT_GE(std::ranges::count_if(files, &ZooFile::honest), 40);
}

TEST(Guards, EveryGuardThatCanBeOffHasAnAttackOfItsOwn) {
  const std::vector<ZooFile> files = zoo();
  for (const GuardRow& row : guard_rows()) {
    const bool has = std::ranges::any_of(files, [&](const ZooFile& file) { return file.guard == row.name; });
    EXPECT_TRUE(has || !row.can_be_off) << row.name;
  }
}

TEST(Guards, NamesAndNumbersAreTheSameThing) {
  for (const GuardRow& row : guard_rows()) {
    EXPECT_EQ(guard_from(to_string(row.guard)), row.guard);
    EXPECT_TRUE(guard_is_on(row.guard)) << "all of them are on unless an experiment says otherwise";
  }
  EXPECT_FALSE(guard_from("no-such-guard"));
  EXPECT_TRUE(guards_off().empty());
}

}  // namespace
}  // namespace apo
