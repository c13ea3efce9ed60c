// tests/zoo/notes.h - what the files of tests/zoo say of themselves in lines "// zoo: KEY ...".
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo::testing {

inline std::filesystem::path zoo(const std::string& folder) {
  return std::filesystem::path(APO_SOURCE_FOLDER) / "tests" / "zoo" / folder;
}

// The names of the sources of a folder, without ".cpp" or ".cu".
inline std::vector<std::string> zoo_names(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(zoo(folder))) {
    if (entry.path().extension() == ".cpp" || entry.path().extension() == ".cu") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

// What stands behind "// zoo: KEY "; "" where no line does.
inline std::string says(const std::string& source, const std::string& key) {
  const std::string mark = "// zoo: " + key + " ";
  for (const std::string& line : split(source, '\n')) {
    if (line.starts_with(mark)) {
      return trim(line.substr(mark.size()));
    }
  }
  return "";
}

// The number of the line with this comment at its end, from 1; 0 when none has it.
inline std::ptrdiff_t line_marked(const std::string& source, const std::string& comment) {
  const std::vector<std::string> lines = split(source, '\n');
  const auto found = std::ranges::find_if(lines, [&](const auto& line) { return line.ends_with("// " + comment); });
  return found == lines.end() ? 0 : found - lines.begin() + 1;
}

inline void expect_words(const std::string& evidence, const std::string& source) {
  for (const std::string& words : split(says(source, "evidence"), ',')) {
    EXPECT_NE(evidence.find(trim(words)), std::string::npos) << "no '" << words << "' in: " << evidence;
  }
}

inline void expect_liars_and_look_alikes(const std::string& folder, const std::string& extension, int honest_ones,
                                         int liars) {
  for (const std::string& name : zoo_names(folder)) {
    const std::string outcome = says(read_file(zoo(folder) / (name + extension)), "expect");
    EXPECT_FALSE(outcome.empty()) << name << " has no line '// zoo: expect OUTCOME'";
    --(outcome == "valid" ? honest_ones : liars);
  }
  EXPECT_LE(honest_ones, 0);
  EXPECT_LE(liars, 0);
}

}  // namespace apo::testing
