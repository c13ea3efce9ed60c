// tests/evaluate/rounds/layout_test.cpp - what is drawn anew in every round, and what rounds of one process share.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "harness/core/system/elf_object.h"
#include "harness/core/system/files.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/rounds/runner.h"
#include "tests/evaluate/runtime_fixture.h"

namespace apo::testing {
namespace {

// Writes down what was asked of the linker, and gives back the build as it is.
struct Links {
  std::vector<std::uint64_t> seeds;
  std::mutex mutex;

  Runtime in(const Runtime& runtime) {
    Runtime recording = runtime;
    recording.relink = [this](const Build& base, std::uint64_t seed, const std::filesystem::path&) {
      const std::lock_guard lock(mutex);  // both arms are linked at once
      seeds.push_back(seed);
      return base;
    };
    return recording;
  }
};

std::vector<Round> run(const CopyRuntime& copy, const Runtime& runtime, int rounds, const RoundOptions& options) {
  const EvaluatePlan plan = copy.plan();
  const Configuration once{"copy/once", {}};
  TimedWorkload timed{.name = "n4k", .axes = plan.workloads.front()->axes};
  timed.incumbent = {once, runtime.build(once, timed.axes, false)};
  timed.candidate = timed.incumbent;
  timed.pool = make_pool(runtime, *plan.workloads.front(), 3);
  RoundRunner runner(runtime, {timed}, plan.preset, 5, "layouts", plan.cache, options);
  std::vector<Round> result;
  for (int index = 0; index < rounds; ++index) {
    const auto round = runner.run(RoundStage::search, index);
    EXPECT_TRUE(round) << (round ? "" : round.failure().evidence);
    result.push_back(round ? *round : Round());
  }
  return result;
}

TEST(RoundLayout, EveryRoundLinksEachArmInAnOrderOfItsOwn) {
  const CopyRuntime copy;
  Links links;
  const auto rounds = run(copy, links.in(copy.runtime()), 3, {});
  EXPECT_EQ(std::set(links.seeds.begin(), links.seeds.end()).size(), 6u);
  EXPECT_EQ(rounds[0].environment.layout, Layout::random);
}

TEST(RoundLayout, AFixedOneLeavesTheCompilersOrder) {
  const CopyRuntime copy;
  Links links;
  const auto rounds = run(copy, links.in(copy.runtime()), 2, {.layout = Layout::fixed});
  EXPECT_TRUE(links.seeds.empty());
  EXPECT_EQ(rounds[0].environment.layout, Layout::fixed);
}

TEST(RoundLayout, RoundsThatShareAProcessStillHaveCoinsAndLayoutsOfTheirOwn) {
  const CopyRuntime copy;
  Links links;
  const auto rounds = run(copy, links.in(copy.runtime()), 8, {.rounds_per_process = 4});
  EXPECT_EQ(std::set(links.seeds.begin(), links.seeds.end()).size(), 16u);
  std::set<bool> coins;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    EXPECT_EQ(rounds[i].environment.process_start_s.has_value(), i % 4 == 0) << i;
    EXPECT_NO_THROW(check_coin(rounds[i])) << i;
    coins.insert(rounds[i].candidate_in_slot0);
  }
  EXPECT_EQ(coins.size(), 2u);
}

TEST(RoundLayout, RoundsThatShareALayoutKeepItsCoin) {
  const CopyRuntime copy;
  Links links;
  const auto rounds = run(copy, links.in(copy.runtime()), 8, {.rounds_per_process = 4, .rounds_per_layout = 2});
  EXPECT_EQ(std::set(links.seeds.begin(), links.seeds.end()).size(), 8u);
  for (std::size_t i = 0; i < rounds.size(); i += 2) {
    EXPECT_EQ(rounds[i].candidate_in_slot0, rounds[i + 1].candidate_in_slot0) << i;
  }
}

struct RealLinker : ::testing::Test {
  RealLinker() { catalogue.load({root / "variants"}); }
  Build relinked(const Build& base, std::uint64_t seed) {
    return builder.relink(base, seed, folders.emplace_back(std::make_unique<TemporaryFolder>())->path());
  }
  const std::filesystem::path root = APO_SOURCE_FOLDER;
  const Builder builder{{.cache = std::filesystem::path(APO_BINARY_FOLDER) / "test-cache/builds", .home = root}};
  Catalogue catalogue;
  std::vector<std::unique_ptr<TemporaryFolder>> folders;
};

TEST_F(RealLinker, ChangesTheObjectAndNotItsCode) {
  const Build base =
      builder.build(*find_family("spin"), catalogue.get("spin/chain"), {{"n", 1}, {"steps", 5}}, {{"EXTRA", 0}});
  const Build a = relinked(base, 1);
  EXPECT_NE(read_file(a.object_path), read_file(relinked(base, 2).object_path));
  EXPECT_EQ(a.code_hash, base.code_hash);
  EXPECT_EQ(read_file(a.object_path), read_file(relinked(base, 1).object_path));
}

TEST_F(RealLinker, NeedsTheLibrariesOfTheFirstLink) {
  for (const char* id : {"copy/simple", "copy/parallel"}) {  // with none, and with those of OpenMP
    const Build base = builder.build(*find_family("copy"), catalogue.get(id), {{"n", 4096}}, {});
    ASSERT_EQ(base.outcome, Outcome::valid) << base.evidence;
    EXPECT_EQ(ElfObject(read_file(relinked(base, 1).object_path), ET_DYN).needed(),
              ElfObject(read_file(base.object_path), ET_DYN).needed())
        << id;
  }
}

}  // namespace
}  // namespace apo::testing
