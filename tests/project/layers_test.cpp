// tests/project/layers_test.cpp - the folders include only what the design lets them include.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/core/pattern.h"

namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

const fs::path kRoot = APO_SOURCE_FOLDER;

// Folder -> folders whose headers it may include, itself apart. Downwards only.
const std::map<std::string, Names> kAllowed = {
    {"kernels", {}},
    {"harness/core", {"kernels"}},
    {"harness/executor", {}},
    {"harness/worker", {"harness/core", "harness/executor", "kernels"}},
    {"harness/runtime", {"harness/worker", "harness/core", "kernels"}},
    {"harness/injection", {"harness/worker", "harness/core"}},
    {"journal", {"harness/core", "kernels"}},
    {"harness/implement", {"harness/core", "kernels"}},
    {"harness/families", {"harness/implement", "harness/core", "kernels"}},
    {"harness/research", {"harness/core", "kernels"}},
    {"harness/profile", {"harness/runtime", "harness/worker", "harness/core", "kernels"}},
    {"harness/evaluate", {"harness/runtime", "harness/worker", "harness/core", "kernels"}},
    {"reports", {"journal", "harness/core", "kernels"}},
    {"harness/loop",
     {"harness/profile", "harness/research", "harness/implement", "harness/families", "harness/evaluate",
      "harness/runtime", "harness/worker", "harness/core", "journal", "reports", "kernels"}},
    // The satellites may include the harness, and only the command line includes them.
    {"harness/applications",
     {"harness/loop", "harness/profile", "harness/research", "harness/implement", "harness/families",
      "harness/evaluate", "harness/runtime", "harness/worker", "harness/core", "journal", "kernels"}},
    {"harness/exchange",
     {"harness/loop", "harness/implement", "harness/families", "harness/evaluate", "harness/runtime", "harness/core",
      "journal", "kernels"}},
    {"harness/fleet",
     {"harness/loop", "harness/implement", "harness/families", "harness/evaluate", "harness/core", "journal",
      "kernels"}},
    {"harness/cli",
     {"harness/applications", "harness/exchange", "harness/fleet", "harness/loop", "harness/profile",
      "harness/research", "harness/implement", "harness/families", "harness/evaluate", "harness/runtime",
      "harness/worker", "harness/core", "journal", "reports", "kernels"}},
};

// External headers that only one folder may include.
const std::map<std::string, std::string> kOwners = {{"sqlite3.h", "journal"},
                                                    {"CLI/CLI.hpp", "harness/cli"},
                                                    {"cuda.h", "harness/worker"},
                                                    {"boost/context/detail/fcontext.hpp", "harness/executor"},
                                                    {"dlfcn.h", ""}};

bool is_source(const fs::path& path) {
  return path.extension() == ".cpp" || path.extension() == ".h";
}

std::vector<std::string> includes_of(const fs::path& path) {
  static const apo::Pattern kInclude(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<std::string> includes;
  std::ifstream stream(path);
  std::string line;
  while (std::getline(stream, line)) {
    if (const auto match = kInclude.search(line)) {
      includes.push_back((*match)[1]);
    }
  }
  return includes;
}

// The longest folder of the table that holds the header; "" for one that is not ours.
std::string folder_of(const std::string& header) {
  std::string best;
  for (const auto& [folder, allowed] : kAllowed) {
    if (header.starts_with(folder + "/") && folder.size() > best.size()) {
      best = folder;
    }
  }
  return best;
}

std::vector<std::string> violations(const std::string& folder, const Names& allowed) {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
    if (!is_source(entry.path())) {
      continue;
    }
    for (const std::string& header : includes_of(entry.path())) {
      const std::string other = folder_of(header);
      if (!other.empty() && other != folder && !allowed.contains(other)) {
        found.push_back(entry.path().string() + " includes " + header);
      }
      const auto owner = kOwners.find(header);
      if (owner != kOwners.end() && !owner->second.empty() && owner->second != folder) {
        found.push_back(entry.path().string() + " includes " + header + ", which belongs to " + owner->second);
      }
    }
  }
  return found;
}

TEST(Layers, EveryFolderIncludesOnlyWhatIsBelowIt) {
  for (const auto& [folder, allowed] : kAllowed) {
    EXPECT_EQ(violations(folder, allowed), std::vector<std::string>()) << "in " << folder;
  }
}

// Rooms beside the harness, which only the command line includes.
const Names kSatellites = {"harness/applications", "harness/fleet"};

TEST(Layers, OnlyTheCommandLineIncludesASatellite) {
  for (const auto& [folder, allowed] : kAllowed) {
    for (const std::string& satellite : kSatellites) {
      EXPECT_TRUE(folder == "harness/cli" || !allowed.contains(satellite)) << folder << " may include " << satellite;
    }
  }
}

TEST(Layers, TheCheckSeesAForbiddenInclude) {
  // The loop includes evaluate/: with an empty list of what it may include, that has to be reported.
  EXPECT_FALSE(violations("harness/loop", {}).empty());
}

// A header with its source is a unit: "harness/core/text" for text.h and text.cpp.
std::string unit_of(const fs::path& path) {
  return fs::path(path).replace_extension().string();
}

using Units = std::map<std::string, Names>;  // unit -> units that it includes

Units units_below(const fs::path& root) {
  Units units;
  for (const char* folder : {"harness", "journal", "reports", "kernels"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (is_source(entry.path())) {
        const std::string unit = unit_of(fs::relative(entry.path(), root));
        Names& included = units[unit];
        for (const std::string& header : includes_of(entry.path())) {
          if (unit_of(header) != unit) {
            included.insert(unit_of(header));
          }
        }
      }
    }
  }
  return units;
}

// Takes away, again and again, what includes nothing that is left and what nothing that is left includes.
Names units_in_cycles(Units units) {
  for (std::size_t before = 0; before != units.size();) {
    before = units.size();
    Names included;
    for (const auto& [unit, others] : units) {
      included.insert(others.begin(), others.end());
    }
    std::erase_if(units, [&](const auto& one) {
      const auto is_left = [&](const std::string& name) { return units.contains(name); };
      return !included.contains(one.first) || std::ranges::none_of(one.second, is_left);
    });
  }
  Names names;
  for (const auto& [unit, others] : units) {
    names.insert(unit);
  }
  return names;
}

TEST(Layers, NoUnitsIncludeEachOtherInACycle) {
  EXPECT_EQ(units_in_cycles(units_below(kRoot)), Names());
}

TEST(Layers, TheCheckSeesACycle) {
  EXPECT_EQ(units_in_cycles({{"a", {"b"}}, {"b", {"a", "c"}}, {"c", {}}, {"d", {"a"}}}), (Names{"a", "b"}));
}

TEST(Layers, NoFolderHoldsMoreThanFifteenUnits) {
  std::map<std::string, int> count;
  for (const auto& [unit, included] : units_below(kRoot)) {
    ++count[fs::path(unit).parent_path()];
  }
  for (const auto& [folder, units] : count) {
    EXPECT_LE(units, 15) << folder;
  }
}

// Lines of source that a room may have. A room that shrinks lowers its number.
const std::map<std::string, std::size_t> kBudget = {
    {"harness/applications", 1565},
    {"harness/cli", 8550},
    {"harness/core", 9916},
    {"harness/evaluate", 14921},
    {"harness/exchange", 2949},
    {"harness/executor", 4987},
    {"harness/families", 3511},
    {"harness/fleet", 2411},
    {"harness/implement", 8936},
    {"harness/injection", 1258},
    {"harness/loop", 10887},
    {"harness/mcp", 1654},
    {"harness/profile", 4067},
    {"harness/research", 3938},
    {"harness/runtime", 2505},
    {"harness/worker", 12636},
    {"journal", 5260},
    {"kernels", 5563},
    {"reports", 4321},
    {"tests", 66260},
};

std::size_t lines_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return static_cast<std::size_t>(
      std::count(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>(), '\n'));
}

std::size_t lines_below(const fs::path& folder) {
  static const Names kCounted = {".cpp", ".h", ".cu", ".inl", ".cuh", ".py", ".sh"};
  std::size_t lines = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && kCounted.contains(entry.path().extension())) {
      lines += lines_of(entry.path());
    }
  }
  return lines;
}

TEST(Layers, NoRoomIsLargerThanItsBudget) {
  for (const auto& [room, budget] : kBudget) {
    const std::size_t lines = lines_below(kRoot / room);
    EXPECT_LE(lines, budget) << room << " has " << lines << " lines, " << budget
                             << " are its budget: delete what it no longer needs, or raise its number in kBudget ("
                             << "tests/project/layers_test.cpp) in a commit that says what the lines are for";
  }
}

TEST(Layers, EveryRoomHasABudget) {
  for (const auto& [folder, allowed] : kAllowed) {
    EXPECT_TRUE(kBudget.contains(folder)) << folder;
  }
  EXPECT_TRUE(kBudget.contains("tests"));
}

TEST(Layers, VariantsIncludeOnlyTheirArgumentHeaderAndToolkitHeaders) {
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "variants")) {
    if (!entry.is_regular_file()) {
      continue;
    }
    const std::string family = entry.path().parent_path().filename();
    for (const std::string& header : includes_of(entry.path())) {
      if (header.find("args.h") != std::string::npos) {
        EXPECT_EQ(header, family + ".args.h") << entry.path();
      } else {
        EXPECT_EQ(header.find('/'), std::string::npos) << entry.path() << " includes " << header;
      }
    }
  }
}

TEST(Layers, EverySourceFileSaysWhatItIsInItsFirstLine) {
  for (const char* folder : {"harness", "kernels", "journal", "reports", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (!is_source(entry.path()) || entry.path().string().find("/zoo/") != std::string::npos ||
          entry.path().filename() == "abi.h") {
        continue;
      }
      std::ifstream stream(entry.path());
      std::string line;
      std::getline(stream, line);
      const std::string name = fs::relative(entry.path(), kRoot);
      // A variant and a family start with their metadata block instead.
      EXPECT_TRUE(line.starts_with("// " + name + " - ") || line.starts_with("// apo:"))
          << name << " starts with: " << line;
    }
  }
}

}  // namespace
