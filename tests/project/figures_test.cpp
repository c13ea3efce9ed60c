// tests/project/figures_test.cpp - README.md quotes the figures of docs/, and keeps to its length.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "harness/core/pattern.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {
namespace {

const std::filesystem::path kSources = APO_SOURCE_FOLDER;

// The groups of the first match in a file of the checkout, as numbers.
std::vector<int> figures(const std::string& file, const std::string& pattern) {
  const auto match = Pattern(pattern).search(read_file(kSources / file));
  if (!match) {
    ADD_FAILURE() << file << " has nothing like " << pattern;
    return {};
  }
  std::vector<int> numbers;
  for (std::size_t group = 1; group < match->groups.size(); ++group) {
    numbers.push_back(std::stoi((*match)[group]));
  }
  return numbers;
}

TEST(Readme, QuotesTheScoreOfTheResearchPage) {
  const std::vector<int> table = figures("docs/research.md", R"(pairs of later candidates[^:]*: \d+ +(\d+) : (\d+))");
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(figures("README.md", R"((\d+) of (\d+)\s+pairs)"), (std::vector<int>{table[0], table[0] + table[1]}));
}

TEST(Readme, IsAboutNineHundredWordsOfAHundredColumns) {
  const std::string text = read_file(kSources / "README.md");
  for (const std::string& line : split(text, '\n')) {
    const auto is_tail = [](unsigned char byte) { return (byte & 0xC0U) == 0x80U; };  // of a character in UTF-8
    EXPECT_LE(line.size() - static_cast<std::size_t>(std::ranges::count_if(line, is_tail)), 100U) << line;
  }
  EXPECT_LE(split_words(text).size(), 1050U) << "about 900 words, and the marks of tables and drawings";
}

}  // namespace
}  // namespace apo
