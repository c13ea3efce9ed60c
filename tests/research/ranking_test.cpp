// tests/research/ranking_test.cpp - what ranks before what, what is left out, and that chance has no part.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/research/prediction/prediction.h"
#include "harness/research/remedy.h"
#include "harness/research/research.h"
#include "tests/research/fixtures.h"
#include "tests/text.h"

namespace apo {
namespace {

using fixtures::inputs;
using fixtures::lesson;
using fixtures::result;
using fixtures::variant;

const Candidate* ranked(const ResearchBrief& brief, const std::string& label) {
  for (const Candidate& candidate : brief.ranked) {
    if (candidate.configuration.label() == label) {
      return &candidate;
    }
  }
  return nullptr;
}

LeftOut left_out(const ResearchBrief& brief, const std::string& label) {
  for (const LeftOut& left_out : brief.left_out) {
    if (left_out.configuration.label() == label) {
      return left_out;
    }
  }
  return {.kind = LeftOutKind::unknown};
}

std::vector<std::string> labels(const ResearchBrief& brief) {
  std::vector<std::string> labels;
  for (const Candidate& candidate : brief.ranked) {
    labels.push_back(candidate.configuration.label());
  }
  return labels;
}

// Gives the incumbent these tunables.
void tune(ResearchInputs& in, const std::vector<Tunable>& tunables) {
  in.diagnosis.incumbent.tunables = in.variants.back().variant.tunables = tunables;
}

// A proposal that waits.
RegisteredVariant waiting(RegisteredVariant variant) {
  variant.author = "me";
  variant.waits = true;
  return variant;
}

ProposedSettings proposed(const Configuration& configuration,
                          const std::optional<Prediction>& prediction = std::nullopt) {
  return {.configuration = configuration, .prediction = prediction};
}

TEST(Research, NamesTheBottleneckThatItsFirstCandidateAttacks) {
  const ResearchBrief brief =
      research(inputs({variant("fast", "vectorised-tanh", 2, 4), variant("pad", "padded-cache")}));
  ASSERT_FALSE(brief.bottlenecks.empty());
  EXPECT_EQ(brief.bottlenecks.front().name, "libm-special-functions");
  ASSERT_FALSE(brief.ranked.empty());
  EXPECT_EQ(brief.ranked.front().configuration.variant, "toy/fast");
  EXPECT_EQ(brief.ranked.front().attacks, "libm-special-functions");
  EXPECT_EQ(brief.ranked.front().origin, Origin::registered);
}

TEST(Research, AHigherPredictionRanksHigher) {
  const ResearchBrief brief =
      research(inputs({variant("low", "vectorised-tanh", 1.1, 1.2), variant("high", "fast-tanh", 2, 3)}));
  ASSERT_EQ(brief.ranked.size(), 2u);
  EXPECT_EQ(brief.ranked[0].configuration.variant, "toy/high");
  EXPECT_GT(brief.ranked[0].score, brief.ranked[1].score);
}

TEST(Research, WhatWasScannedRanksByItsScanAndWhatFailedThereIsLeftOutUnlessItWasProposed) {
  ResearchInputs in = inputs({variant("promises", "vectorised-tanh", 9, 10), variant("fast", "fast-tanh", 1.1, 1.2),
                              variant("wrong", "padded-cache", 2, 3), waiting(variant("mine", "padded-cache", 2, 3)),
                              waiting(variant("slow", "padded-cache", 2, 3))});
  in.variants.push_back(variant("unmeasured", "padded-cache", 20, 30));
  in.scanned = {fixtures::scan("promises", "simple", 1.5), fixtures::scan("fast", "simple", 2),
                fixtures::scan("wrong", "simple", 9), fixtures::scan("mine", "simple", 9),
                fixtures::scan("slow", "simple", 0.5)};
  for (const std::size_t failed : {2U, 3U}) {
    in.scanned[failed].times = {.outcome = Outcome::incorrect, .evidence = "'y' is wrong"};
  }
  const ResearchBrief brief = research(in);
  const std::vector<std::string> order = labels(brief);
  EXPECT_EQ(left_out(brief, "toy/wrong").kind, LeftOutKind::refuted);
  EXPECT_EQ(left_out(brief, "toy/wrong").why, "a scan: incorrect: 'y' is wrong");
  EXPECT_EQ(order, (std::vector<std::string>{"toy/mine", "toy/slow", "toy/fast", "toy/promises", "toy/unmeasured"}))
      << "authors of proposals get a verdict";
}

TEST(Research, WhereAScanLeavesNothingItsFirstIsJudgedOnce) {
  ResearchInputs in = inputs({variant("slow", "fast-tanh", 2, 3), variant("slower", "padded-cache", 2, 3)});
  in.scanned = {fixtures::scan("slow", "simple", 0.5), fixtures::scan("slower", "simple", 0.1)};
  EXPECT_EQ(labels(research(in)), std::vector<std::string>{"toy/slow"});
  EXPECT_EQ(left_out(research(in), "toy/slower").kind, LeftOutKind::below_resolution);
  in.past = {result(1, "slow", "simple", 0.5, Verdict::reverted)};
  EXPECT_EQ(labels(research(in)), std::vector<std::string>{"toy/slower"});
}

TEST(Research, TheFastestScannedSettingsOfAnyVariantAreCandidates) {
  ResearchInputs in = inputs({});
  for (const std::string name : {"a", "b", "c", "d", "e"}) {
    in.variants.push_back(variant(name, "padded-cache", 2, 3));
    in.variants.back().variant.tunables = {{.name = "K", .values = {1, 2}}};
    for (const std::int64_t value : {1, 2}) {
      in.scanned.push_back(fixtures::scan(name, "simple", name == "e" && value == 2 ? 4 : 1.2));
      in.scanned.back().configuration.settings = {{"K", value}};
    }
  }
  EXPECT_EQ(labels(research(in)).front(), "toy/e[K=2]");
}

// 9 of 10 ms are libm's; one of the two units' cores idles: 0.9 x (1 - 1/50) + 0.5 is all that there is, so the floor
// bounds.
TEST(Research, SeveralBottlenecksAddUpAndAreNamed) {
  ResearchInputs in = inputs({variant("both", "fast-tanh", 2, 4)});
  in.variants[0].variant.techniques.push_back("adaptive-threads");
  in.diagnosis.units = 8;
  fixtures::set_metric(in.diagnosis, "threads", 2);
  fixtures::set_metric(in.diagnosis, "scaling", 1.0);
  const ResearchBrief brief = research(in);
  ASSERT_EQ(brief.ranked.size(), 1u);
  expect_contains(brief.ranked[0].why, "attacks libm-special-functions and idle-cores, worth at most 100");
  EXPECT_NEAR(remedy_of(in, brief.bottlenecks, {.variant = &in.variants[0].variant}).bound, 100, 1e-6);
}

TEST(Research, ABandEndsAtTheFloorAndWithoutAKnownFloorItIsNotCut) {
  ResearchInputs in = inputs({variant("bold", "padded-cache", 3, 12)});
  in.diagnosis.profile.floor_fraction = 0.2;  // at most 5x
  ASSERT_EQ(research(in).ranked.size(), 1u);
  EXPECT_DOUBLE_EQ(research(in).ranked[0].prediction.high, 5);
  EXPECT_EQ(research(in).ranked[0].attacks, "");
  in.diagnosis.profile.floor_fraction = 0;
  EXPECT_GT(research(in).ranked[0].prediction.high, 12);
}

TEST(Research, AtTheFloorNothingIsTried) {
  ResearchInputs in = inputs({variant("bold", "padded-cache", 20, 60)});
  in.diagnosis.profile.floor_fraction = 0.999;
  EXPECT_EQ(left_out(research(in), "toy/bold").why,
            "the floor leaves 1.00x at most, and this machine resolves +0.30 %");
}

TEST(Research, AnIncumbentWithinFivePercentOfItsFloorIsDone) {
  const Variant toy;
  Profile profile = inputs({}).diagnosis.profile;
  profile.configuration = {.variant = "toy/simple", .settings = {}};
  const auto done = [&](double floor_fraction) {
    profile.floor_fraction = floor_fraction;
    return done_at_floor(toy, profile);
  };
  EXPECT_EQ(done(0.94), "");
  EXPECT_EQ(done(0.96), "toy/simple is at 96 % of its floor (fp32_fma): at most 1.04x is left");
  EXPECT_EQ(done(0), "") << "no floor is known";
  EXPECT_NE(done(1.05), "") << "what is measured scatters";
  EXPECT_EQ(done(1.63), "") << "a floor that a kernel beats is none";
}

TEST(Research, AnIncumbentOnTensorCoresIsDoneAtTheirFloor) {
  Variant fast;
  fast.target = Target::cuda;
  fast.techniques = {"tensor-core"};
  Profile profile = inputs({}).diagnosis.profile;
  profile.configuration = {.variant = "toy/fast", .settings = {}};
  profile.floor_roof = "fp32_fma";
  profile.roofs = {{.name = "fp32_fma", .value = 50e12}, {.name = "tensor_bf16", .value = 500e12}};
  profile.floor_fraction = 0.96;
  profile.floor_ns = 0.96 * profile.time_ns;
  EXPECT_EQ(done_at_floor(fast, profile), "") << "it takes ten times as long as the tensor cores need";
  profile.floor_ns = 9.6 * profile.time_ns;
  profile.floor_fraction = 9.6;
  EXPECT_EQ(done_at_floor(fast, profile), "toy/fast is at 96 % of its floor (on tensor cores): at most 1.04x is left");
}

TEST(Research, WhenNothingIsLeftItSaysWhyInGroups) {
  ResearchInputs in = inputs(
      {variant("fast", "vectorised-tanh", 2, 4), variant("slow", "x", 0.2, 0.21), variant("none", "y", 0.3, 0.31)});
  EXPECT_EQ(nothing_to_try(in, research(in)), "") << "there is toy/fast";
  in.past = {result(12, "fast", "simple", 0.97, Verdict::reverted)};
  in.lessons = {lesson(in.past[0])};
  EXPECT_EQ(nothing_to_try(in, research(in)),
            "no option is left that may gain the +0.30 % that this machine resolves: 2 have less than one chance in "
            "ten of it, 1 were refuted");
}

TEST(Research, WhereTheIncumbentIsAllThatThereIsItSaysWhatToDo) {
  const ResearchInputs in = inputs({});
  EXPECT_EQ(nothing_to_try(in, research(in)),
            "there is nothing to compare toy/simple with: register another variant, or name a --proposer");
}

TEST(Research, ARefutedConfigurationNeverRanks) {
  ResearchInputs in = inputs({variant("fast", "vectorised-tanh", 2, 4)});
  in.past = {result(12, "fast", "simple", 0.97, Verdict::reverted)};
  in.lessons = {lesson(in.past[0])};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    in.seed = seed;
    const ResearchBrief brief = research(in);
    EXPECT_EQ(ranked(brief, "toy/fast"), nullptr);
    EXPECT_EQ(left_out(brief, "toy/fast").why, "refuted by experiment 12: 0.970x [0.960x, 0.980x]");
    EXPECT_EQ(left_out(brief, "toy/fast").kind, LeftOutKind::refuted);
  }
}

TEST(Research, ARefutedConfigurationComesBackWhenItsSourceOrTheMachineChanges) {
  ResearchInputs in = inputs({variant("fast", "vectorised-tanh", 2, 4)});
  in.past = {result(12, "fast", "simple", 0.97, Verdict::reverted)};
  in.lessons = {lesson(in.past[0])};
  ResearchInputs edited = in;
  edited.variants[0].variant.source_hash = "edited";
  EXPECT_NE(ranked(research(edited), "toy/fast"), nullptr);
  ResearchInputs elsewhere = in;
  elsewhere.machine = "other";
  elsewhere.model = "another model";  // of the same model the loss would be believed
  EXPECT_NE(ranked(research(elsewhere), "toy/fast"), nullptr);
  ResearchInputs incumbent_edited = in;
  incumbent_edited.diagnosis.incumbent.source_hash = "edited";
  incumbent_edited.variants.back().variant.source_hash = "edited";
  EXPECT_NE(ranked(research(incumbent_edited), "toy/fast"), nullptr);
}

// Against a new incumbent the lesson has expired, but the measured chain still knows better: 0.97 / 1.5.
TEST(Research, AMeasuredChainKeepsOutWhatItShowsToBeSlower) {
  ResearchInputs in = inputs({variant("fast", "vectorised-tanh", 2, 4), variant("new", "reused-state", 1.4, 1.6)});
  in.past = {result(12, "fast", "simple", 0.97, Verdict::reverted),
             result(13, "new", "simple", 1.5, Verdict::accepted)};
  in.lessons = {lesson(in.past[0])};
  in.incumbent = {.variant = "toy/new", .settings = {}};
  in.diagnosis.incumbent = in.variants[1].variant;
  const std::string why = left_out(research(in), "toy/fast").why;
  expect_contains(why, "judgements here: experiments 12, 13");
  expect_contains(why, "less than one chance in ten");
}

TEST(Research, WhatWasEditedSinceItWasTriedIsTriedAgain) {
  ResearchInputs in = inputs({variant("fast", "vectorised-tanh", 2, 4)});
  in.past = {result(12, "fast", "simple", 0.5, Verdict::reverted)};
  EXPECT_EQ(left_out(research(in), "toy/fast").kind, LeftOutKind::below_resolution);
  in.variants[0].variant.source_hash = "edited";
  EXPECT_NE(ranked(research(in), "toy/fast"), nullptr);
}

TEST(Research, EvidenceBeatsPrediction) {
  ResearchInputs in =
      inputs({variant("promised", "vectorised-tanh", 2, 3), variant("proven", "fast-tanh", 1.01, 1.02)});
  in.past = {result(7, "proven", "simple", 2.9, Verdict::inconclusive),
             result(8, "promised", "simple", 1.1, Verdict::inconclusive)};
  const ResearchBrief brief = research(in);
  ASSERT_EQ(brief.ranked.size(), 2u);
  EXPECT_EQ(brief.ranked[0].configuration.variant, "toy/proven");
  EXPECT_NEAR(brief.ranked[0].score, std::log(2.9), 1e-3);
  expect_contains(brief.ranked[0].why, "experiment 7");
}

TEST(Research, WhatNobodyKnowsAnythingOfIsTriedLast) {
  const ResearchBrief brief = research(inputs({variant("odd", "x", 0, 0, ""), variant("slow", "y", 0.9, 0.95)}));
  ASSERT_EQ(brief.ranked.size(), 2u);
  EXPECT_EQ(brief.ranked[1].configuration.variant, "toy/odd");
  EXPECT_TRUE(std::isnan(brief.ranked[1].score));
  EXPECT_FALSE(has_prediction(brief.ranked[1].prediction));
  expect_contains(brief.ranked[1].why, "its effect is unknown");
}

TEST(Research, LeavesOutTheIncumbentAndWhatIsUnsupported) {
  ResearchInputs in = inputs({variant("a", "fast-tanh", 1.5, 2)});
  in.variants[0].supported = false;
  in.variants[0].why_not = "N <= 16 does not hold for N=32";
  const ResearchBrief brief = research(in);
  EXPECT_TRUE(brief.ranked.empty());
  EXPECT_EQ(left_out(brief, "toy/a").why, "unsupported: N <= 16 does not hold for N=32");
  EXPECT_EQ(left_out(brief, "toy/a").kind, LeftOutKind::unsupported);
  EXPECT_EQ(left_out(brief, "toy/simple").kind, LeftOutKind::incumbent);
  in.variants[0].kind = LeftOutKind::other_target;
  EXPECT_EQ(left_out(research(in), "toy/a").kind, LeftOutKind::other_target);
  EXPECT_EQ(left_out(brief, "toy/simple").why, "identical to the incumbent: same source, same settings");
}

TEST(Research, LeavesOutWhatTheMachineCannotResolve) {
  ResearchInputs in = inputs({variant("tiny", "padded-cache", 0.99, 1.01)});
  in.past = {result(3, "tiny", "simple", 1.005, Verdict::inconclusive)};
  in.minimum_detectable = 0.05;
  expect_contains(left_out(research(in), "toy/tiny").why, "of the +5.13 % that this machine resolves");
  EXPECT_EQ(left_out(research(in), "toy/tiny").kind, LeftOutKind::below_resolution);
  in.minimum_detectable = 0.001;
  EXPECT_NE(ranked(research(in), "toy/tiny"), nullptr);
}

// Settings of toy/simple that somebody proposed.
void propose(ResearchInputs& in, const std::vector<Settings>& all) {
  for (const Settings& settings : all) {
    in.proposed.push_back(proposed({"toy/simple", settings}));
  }
}

// Three techniques of a host, switched by macros of toy/simple.
ResearchInputs toggled_inputs() {
  ResearchInputs in = inputs({});
  tune(in, {{.name = "FAST", .values = {0, 1}, .technique = "fast-tanh"},
            {.name = "PACKED", .values = {0, 1}, .technique = "chunk-prefetch"},
            {.name = "PADDED", .values = {0, 1}, .technique = "padded-cache"}});
  return in;
}

PastResult switched(std::int64_t id, const Settings& on, const Settings& over, double speedup) {
  PastResult past = result(id, "simple", "simple", speedup, speedup > 1 ? Verdict::accepted : Verdict::reverted);
  past.candidate.settings = on;
  past.incumbent.settings = over;
  return past;
}

TEST(Toggles, CountAsTheTechniquesThatTheyApply) {
  ResearchInputs in = toggled_inputs();
  propose(in, {{{"FAST", 1}}});
  const ResearchBrief brief = research(in);
  const Candidate* alone = ranked(brief, "toy/simple[FAST=1]");
  ASSERT_NE(alone, nullptr);
  EXPECT_EQ(alone->attacks, "libm-special-functions");
  EXPECT_EQ(alone->techniques, (std::vector<std::string>{"segment-replay", "fast-tanh"}));
}

TEST(Toggles, CombinationsAreLeftWhenNoSingleOneHelped) {
  ResearchInputs in = toggled_inputs();
  for (const char* name : {"FAST", "PACKED", "PADDED"}) {
    in.past.push_back(switched(std::ssize(in.past) + 1, {{name, 1}}, {}, 0.98));
    in.lessons.push_back(lesson(in.past.back()));
  }
  propose(in, {{{"FAST", 1}}, {{"FAST", 1}, {"PACKED", 1}}});
  const ResearchBrief brief = research(in);
  EXPECT_EQ(ranked(brief, "toy/simple[FAST=1]"), nullptr);
  EXPECT_NE(ranked(brief, "toy/simple[FAST=1,PACKED=1]"), nullptr);
}

TEST(Research, EachConfigurationAppearsOnce) {
  ResearchInputs in = inputs({variant("fast", "fast-tanh", 1.5, 2), variant("other", "vectorised-tanh", 1.2, 2)});
  for (RegisteredVariant& one : in.variants) {
    one.variant.tunables = {{.name = "CHUNK", .values = {16, 8, 4}}};
  }
  in.diagnosis.incumbent.tunables = in.variants[0].variant.tunables;
  in.incumbent.settings = {{"CHUNK", 8}};
  for (const std::int64_t value : {16, 8, 4}) {
    in.scanned.push_back(fixtures::scan("fast", "simple", 1.2));
    in.scanned.back().configuration.settings = in.scanned.back().incumbent.settings = {{"CHUNK", value}};
  }
  const ResearchBrief brief = research(in);
  std::vector<std::string> all = labels(brief);
  for (const LeftOut& left_out : brief.left_out) {
    all.push_back(left_out.configuration.label());
  }
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

TEST(Research, IsDeterministicWhateverTheOrderOfTheVariants) {
  ResearchInputs in = inputs({variant("a", "x", 1.5, 2), variant("b", "x", 1.5, 2), variant("c", "x", 1.5, 2)});
  in.seed = 9;
  ResearchInputs reversed = in;
  std::reverse(reversed.variants.begin(), reversed.variants.end());
  const ResearchBrief first = research(in);
  const ResearchBrief second = research(reversed);
  ASSERT_EQ(first.ranked.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(first.ranked[i].configuration, second.ranked[i].configuration);
    EXPECT_EQ(first.ranked[i].score, second.ranked[i].score);
  }
}

TEST(Research, TheSeedOrdersEquals) {
  ResearchInputs in = inputs({variant("a", "x", 1.5, 2), variant("b", "x", 1.5, 2), variant("c", "x", 1.5, 2)});
  std::vector<std::string> firsts;
  for (in.seed = 0; in.seed < 30; ++in.seed) {
    firsts.push_back(research(in).ranked.at(0).configuration.variant);
  }
  for (const char* name : {"toy/a", "toy/b", "toy/c"}) {
    EXPECT_GT(std::count(firsts.begin(), firsts.end(), name), 0) << name;
  }
}

TEST(Research, AnEmptyWorldGivesAnEmptyBrief) {
  const ResearchBrief brief = research({});
  EXPECT_TRUE(brief.ranked.empty());
  EXPECT_TRUE(brief.bottlenecks.empty());
}

TEST(UnwrittenIdeas, AreTechniquesThatAttackWhatWasFoundAndNobodyWrote) {
  const ResearchInputs in = inputs({variant("fast", "fast-tanh", 1.5, 2)});
  const auto ideas = unwritten_ideas(in, research(in).bottlenecks);
  const auto has = [&](const std::string& name) {
    return std::any_of(ideas.begin(), ideas.end(), [&](const Idea& idea) { return idea.technique.name == name; });
  };
  EXPECT_TRUE(has("vectorised-tanh"));
  EXPECT_FALSE(has("fast-tanh")) << "it is written";
  EXPECT_FALSE(std::ranges::any_of(unwritten_ideas(toggled_inputs(), research(in).bottlenecks), [](const Idea& idea) {
    return idea.technique.name == "fast-tanh";
  })) << "a toggle applies it";
  EXPECT_FALSE(has("register-owned")) << "it is for another target";
}

TEST(Proposals, ProposedSettingsAreRankedByWhatTheirAuthorSays) {
  ResearchInputs in = inputs({variant("fast", "fast-tanh", 1.0, 1.1)});
  in.variants[0].variant.tunables = {{.name = "K", .values = {1, 2, 4}}};
  in.proposed = {proposed({"toy/fast", {{"K", 4}}}, Prediction{.low = 7, .high = 9, .because = "so"}),
                 proposed({"toy/gone", {{"K", 4}}})};
  const ResearchBrief brief = research(in);
  ASSERT_FALSE(brief.ranked.empty());
  EXPECT_EQ(brief.ranked.front().configuration.label(), "toy/fast[K=4]");
  EXPECT_EQ(brief.ranked.front().origin, Origin::proposer);
  EXPECT_EQ(std::ranges::count(brief.ranked, Configuration{"toy/fast", {{"K", 4}}}, &Candidate::configuration), 1);
}

// toy/mine is a proposal of 1.1x to 1.3x that waits; toy/known is promised to give three times as much.
ResearchInputs with_a_proposal() {
  ResearchInputs in =
      inputs({variant("known", "vectorised-tanh", 3, 4), waiting(variant("mine", "fast-tanh", 1.1, 1.3))});
  in.variants[0].variant.tunables = {{.name = "K", .values = {1, 2, 4}}};
  return in;
}

TEST(Proposals, AreHeardBeforeKnownVariantsAndTheirSettings) {
  ResearchInputs in = with_a_proposal();
  in.scanned = {fixtures::scan("known", "simple", 3)};
  in.scanned.back().configuration.settings = {{"K", 4}};
  const std::vector<std::string> first = labels(research(in));
  ASSERT_EQ(first.size(), 3u) << "with settings of toy/known";
  EXPECT_EQ(first[0], "toy/mine");
  EXPECT_EQ(first[1].substr(0, 9), "toy/known");
  in.variants[1].waits = false;  // judged before, and registered: as any other
  EXPECT_EQ(labels(research(in)).back(), "toy/mine");
}

TEST(Proposals, OfThisCampaignAreHeardBeforeThoseThatWaitFromEarlierOnes) {
  ResearchInputs in = with_a_proposal();
  in.variants.push_back(waiting(variant("newest", "fast-tanh", 0.9, 1.05)));
  EXPECT_EQ(labels(research(in)).front(), "toy/mine") << "both wait, and this one promises more";
  in.proposed = {proposed({"toy/newest", {}})};
  EXPECT_EQ(labels(research(in))[0], "toy/newest");
  EXPECT_EQ(labels(research(in))[1], "toy/mine");
}

TEST(Proposals, MayBeTheDefaultsOfAVariantThatIsRegistered) {
  ResearchInputs in = with_a_proposal();
  in.variants[0].variant.prediction = Prediction{.low = 0.9, .high = 1.05, .because = "so"};
  EXPECT_EQ(labels(research(in)).front(), "toy/mine");
  in.proposed = {proposed({"toy/known", {}})};
  const ResearchBrief brief = research(in);
  EXPECT_EQ(brief.ranked.front().configuration.variant, "toy/known");
  EXPECT_EQ(brief.ranked.front().origin, Origin::proposer);
}

TEST(Proposals, WithoutAPredictionAreHeardBeforeKnownVariantsToo) {
  ResearchInputs in = with_a_proposal();
  in.variants.push_back(waiting(variant("silent", "fast-tanh", 0, 0, "")));
  const std::vector<std::string> all = labels(research(in));
  ASSERT_GT(all.size(), 2u);
  EXPECT_EQ(all[0], "toy/mine");
  EXPECT_EQ(all[1], "toy/silent");
}

TEST(Proposals, SettingsThatWereProposedAreHeardFirstUntilTheyWereJudged) {
  ResearchInputs in = with_a_proposal();
  in.variants.erase(in.variants.begin() + 1);
  in.proposed = {proposed({"toy/known", {{"K", 4}}}, Prediction{.low = 1.05, .high = 1.1, .because = "so"})};
  EXPECT_EQ(labels(research(in)).front(), "toy/known[K=4]");
  in.past = {result(1, "known", "simple", 1.08, Verdict::inconclusive)};
  in.past[0].candidate.settings = {{"K", 4}};
  in.past[0].lower = in.past[0].effect - 0.1;  // its band reaches below 1
  EXPECT_NE(labels(research(in)).front(), "toy/known[K=4]");
}

// The second of two chains of judgements stays below what the proposal is expected to give.
TEST(Proposals, WaitForAKnownVariantOnlyWhereJudgementsPutItClearlyAboveThem) {
  ResearchInputs in = with_a_proposal();
  in.variants[0].variant.tunables.clear();
  in.incumbent = {.variant = "toy/new", .settings = {}};
  in.variants.push_back(variant("new", "reused-state", 1.4, 1.6));
  in.diagnosis.incumbent = in.variants.back().variant;
  in.variants[1].variant.parent = "toy/new";
  const auto first_after = [&](double known) {
    in.past = {result(1, "new", "simple", 1.5, Verdict::accepted),
               result(2, "known", "simple", 1.5 * known, Verdict::accepted)};
    return labels(research(in)).front();
  };
  EXPECT_EQ(first_after(2.0), "toy/known");
  EXPECT_EQ(first_after(1.1), "toy/mine");
}

}  // namespace
}  // namespace apo
