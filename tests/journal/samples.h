// tests/journal/samples.h - full records with awkward content, and a campaign to put them in.
#pragma once

#include <filesystem>
#include <string>

#include "harness/core/comparisons/comparison.h"
#include "harness/core/records/records.h"
#include "harness/core/system/files.h"
#include "journal/journal.h"

namespace apo::test {

inline constexpr const char* kAwkward =
    "it's \"quoted\"; DROP TABLE experiment; --\n\ttab \\ 100% \xF0\x9F\x94\xA5 ｆｕｌｌ";

Machine a_machine(const std::string& id = "cpu-1");
Variant a_variant_with_headers();
Variant a_variant(const std::string& name, const std::string& family = "e88_backward");
Build a_build(const std::string& key);
Round a_round(int index, std::uint64_t seed);
Judgement a_judgement(Verdict verdict, double effect);
Campaign a_campaign();

// An experiment with every field set, against sources that `prepare` has registered; judged.
Experiment an_experiment(std::int64_t campaign, std::int64_t iteration);
Lesson a_lesson(const Experiment& experiment);
DeclaredApplication an_application();  // of a step's time and a loss

// Registers a machine and two variants, simple and padded_cache.
void prepare(Journal& journal);

// Writes one judged experiment of padded_cache against simple. Its id.
struct Quick {
  std::int64_t campaign = 0;
  std::string workload_class = "n32";
  std::string technique = "padded-cache";
  Verdict verdict = Verdict::reverted;
  double effect = -0.1;
  std::int64_t setting = 2;
  std::string started_at = "2026-02-03T04:05:06Z";
};
std::int64_t add_quick(Journal& journal, const Quick& quick);

// Writes what comes before the judgement, step by step.
void begin_with_evidence(Journal& journal, Experiment& experiment);
// Writes a lesson, and the experiment outside campaigns that it was learnt in.
void add_lesson(Journal& journal, const Lesson& lesson);

// A journal in a folder of its own.
struct Scratch {
  TemporaryFolder folder{"apo-journal-test"};
  std::filesystem::path path = folder.path() / "journal.db";
  Journal open(Access access = Access::read_write) const { return Journal::open(path, access); }
  void create() const {  // with what `prepare` registers; closed again
    Journal journal = open();
    prepare(journal);
  }
};

bool contains(const std::string& text, const std::string& part);

// One statement with SQLite's own API, past the journal's guards. Empty, or what SQLite says.
std::string attack(const std::filesystem::path& path, const std::string& sql);

// Runs the action as a user for whom permissions count (root's don't). Its exit code: 0 = returned true.
int as_ordinary_user(const std::filesystem::path& owned, bool (*action)(const std::filesystem::path&),
                     const std::filesystem::path& argument);

}  // namespace apo::test
