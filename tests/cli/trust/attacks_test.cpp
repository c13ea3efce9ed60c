// tests/cli/trust/attacks_test.cpp - attacks of tests/zoo/attacks through the program, and experiments with a guard
// off.
//
// Those that take a whole comparison, and those for a GPU, are for experiments/attacks.sh.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/text.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
const fs::path kAttacks = fs::path(APO_SOURCE_FOLDER) / "tests" / "zoo" / "attacks";
// Kept in the build folder: the second run of a test compiles nothing. No journal is ever written there.
const fs::path kPlace = fs::path(APO_BINARY_FOLDER) / "attack-place";

struct Attack {
  std::string name;
  bool on_cpu = false;  // a device variant, on the CPU executor
  std::vector<std::string> how;
  std::string against;
  std::string expect;
  std::string guard;
  std::vector<std::string> evidence;
};

Attack read_attack(const fs::path& path) {
  const std::string source = read_file(path);
  const auto says = [&](const std::string& key) {
    for (const std::string& line : split(source, '\n')) {
      if (line.starts_with("// zoo: " + key + " ")) {
        return trim(line.substr(9 + key.size()));
      }
    }
    return std::string();
  };
  Attack attack{.name = path.stem().string(),
                .on_cpu = path.extension() == ".cu",
                .how = split_words(says("how")),
                .against = says("against"),
                .expect = says("expect"),
                .guard = says("guard")};
  if (attack.on_cpu) {
    const std::string cpu = says("cpu");
    const bool timed = !attack.how.empty() && attack.how.front() == "compare";
    attack.expect = cpu.empty() ? (timed ? "no" : attack.expect) : cpu;
    attack.how = {"verify"};
  } else {
    for (const std::string& words : split(says("evidence"), ',')) {
      attack.evidence.push_back(trim(words));
    }
  }
  return attack;
}

// What a few seconds decide.
bool is_quick(const Attack& attack) {
  const bool whole = attack.expect == "faster" || attack.expect == "guard_failed" ||
                     attack.expect.starts_with("claim_at_most") ||
                     (attack.expect == "not_accepted" && attack.name != "host_remembers_by_content");
  const bool honest_kernel = attack.on_cpu && attack.expect == "valid";  // tests/zoo/executor has enough of them
  return !whole && !honest_kernel && attack.expect != "no" && attack.name.find("library") == std::string::npos;
}

std::vector<std::string> quick_attacks() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kAttacks)) {
    if (is_quick(read_attack(entry.path()))) {
      names.push_back(entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Where `apo` finds all of them.
void fill_place() {
  for (const auto& entry : fs::directory_iterator(kAttacks)) {
    const fs::path copy = kPlace / "variants" / "copy" / entry.path().filename();
    const std::string source = read_file(entry.path());
    if (!fs::exists(copy) || read_file(copy) != source) {
      write_file_atomically(copy, source);
    }
  }
}

Ran run(const Attack& attack, std::vector<std::string> more = {}) {
  fill_place();
  std::vector<std::string> words;
  if (attack.how.empty() || attack.how.front() != "compare") {
    words = {"verify", "copy/" + attack.name, "--no-sanitizers"};
    words.insert(words.end(), attack.on_cpu ? 2 : 0, "");
    if (attack.on_cpu) {
      *(words.end() - 2) = "--on";
      words.back() = "cpu";
    }
  } else {
    words = {"compare",        attack.against, "copy/" + attack.name, "--cache",
             attack.how.at(1), "--workload",   attack.how.at(2),      "--judge",
             "standard",       "--no-journal"};
  }
  words.insert(words.end(), {"--quiet", "--journal", (kPlace / "journal.db").string()});
  words.insert(words.end(), more.begin(), more.end());
  return Workplace().apo(words, 100);
}

class Attacks : public ::testing::TestWithParam<std::string> {};

TEST_P(Attacks, GetWhatTheyDeserve) {
  const Attack attack = read_attack(kAttacks / GetParam());
  const Ran ran = run(attack);
  if (attack.expect == "not_accepted") {
    EXPECT_NE(ran.out.find("verdict: "), std::string::npos) << ran.out << ran.err;
    EXPECT_EQ(ran.out.find("accepted"), std::string::npos) << ran.out;
    return;
  }
  // "correctness: incorrect, ...", "... while it was timed: incorrect, ...", "verdict: reverted (guard_failed)".
  const bool found = ran.out.find(": " + attack.expect + ", ") != std::string::npos ||
                     ran.out.find(": " + attack.expect + " at the gate") != std::string::npos ||
                     ran.out.find("(" + attack.expect + ")") != std::string::npos;
  EXPECT_TRUE(found) << "not " << attack.expect << ": " << ran.out << ran.err;
  for (const std::string& words : attack.evidence) {
    EXPECT_NE(ran.out.find(words), std::string::npos) << "no '" << words << "' in: " << ran.out;
  }
}

std::string without_extension(const ::testing::TestParamInfo<std::string>& info) {
  return fs::path(info.param).stem().string();
}

INSTANTIATE_TEST_SUITE_P(All, Attacks, ::testing::ValuesIn(quick_attacks()), without_extension);

TEST(Ablation, AnAttackGetsThroughWithoutItsGuardAndIsMarked) {
  const Attack attack = read_attack(kAttacks / "host_clamps.cpp");
  EXPECT_EQ(run(attack).exit_code, 3);
  const Ran ran = run(attack, {"--ablate", "regimes"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("guards switched off: regimes"), std::string::npos) << ran.err;
}

TEST(Ablation, NothingReachesTheJournalOrTheCatalogue) {
  const Workplace place;
  place.write("mine.cpp", Workplace::variant("mine"));
  const Ran registered = place.apo({"register", "mine.cpp", "--quiet", "--ablate", "poison"});
  EXPECT_EQ(registered.exit_code, 0) << registered.err;
  EXPECT_NE(registered.out.find("not registered: a guard is switched off"), std::string::npos) << registered.out;
  EXPECT_EQ(place.apo({"list", "copy/mine"}).exit_code, 1);
  const Ran compared = place.apo({"compare", "copy/simple", "copy/memcpy", "--quiet", "--ablate", "poison"});
  EXPECT_EQ(compared.exit_code, 1);
  EXPECT_NE(compared.err.find("a journal takes nothing"), std::string::npos) << compared.err;
  EXPECT_FALSE(fs::exists(place.path(".apo/journal.db")));
}

TEST(Ablation, OnlyAGuardThatCanBeOffIsTaken) {
  const Workplace place;
  const Ran unknown = place.apo({"verify", "copy/simple", "--ablate", "poisson"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.err.find("did you mean 'poison'"), std::string::npos) << unknown.err;
  EXPECT_EQ(place.apo({"verify", "copy/simple", "--ablate", "deadline"}).exit_code, 1);
  EXPECT_EQ(place.apo({"verify", "--help"}).out.find("--ablate"), std::string::npos) << "it is not for users";
}

}  // namespace
}  // namespace apo
