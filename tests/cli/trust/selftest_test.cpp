// tests/cli/trust/selftest_test.cpp - a small selftest for real, and what its result keeps other commands from
// claiming.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/core/system/machine.h"
#include "harness/evaluate/judge/preset.h"
#include "journal/journal.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

using Json = nlohmann::json;

TEST(SelftestCommand, JudgesIdenticalCodeAndSaysWhatTheMachineResolves) {
  const Workplace place;
  const Ran ran = place.apo({"selftest", "--json", "-q", "--target", "host", "--quick", "--kernels", "spin/chain@s5k",
                             "--parts", "identical", "--comparisons", "1", "--round-time", "21ms"},
                            120);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Json document = only_document(ran);
  const Json& total = document["identical_code"]["total"];
  ASSERT_EQ(total["comparisons"], 1) << document;
  EXPECT_EQ(total["accepted"], 0);  // one accept in some ten thousand would be expected
  EXPECT_NEAR(total["accepted_upper_95"].get<double>(), 0.95, 0.001);
  const Json& kernel = document["kernels"][0];
  EXPECT_EQ(kernel["configuration"], "spin/chain[EXTRA=0]");
  EXPECT_GT(kernel["call_ns"], 1000);
  EXPECT_GT(kernel["levels"]["sample"], 0);
  EXPECT_GT(document["smallest_claim"], 0);
  const Ran rows =
      place.apo({"query", "-q", "--csv", "--sql", "SELECT kind, comparisons, accepted FROM selftest_totals"});
  EXPECT_NE(rows.out.find("aa,1,0"), std::string::npos) << rows.out;
  const Ran none = place.apo({"query"});
  EXPECT_NE(
      none.err.find("0 rows\nthe journal has no experiments\ncomparisons of selftests: 1 (the view selftest_totals "),
      std::string::npos)
      << none.err;
}

TEST(SelftestCommand, MistakesAreNamed) {
  const Workplace place;
  const auto said = [&](const std::vector<std::string>& words) {
    const Ran ran = place.apo(words);
    EXPECT_EQ(ran.exit_code, 1) << ran.out;
    return ran.err;
  };
  EXPECT_NE(said({"selftest", "--parts", "identcal"}).find("did you mean 'identical'"), std::string::npos);
  EXPECT_NE(said({"selftest", "--parts", "known,nose"}).find("did you mean 'noise'"), std::string::npos);
  EXPECT_NE(said({"selftest", "--parts", "known", "--parts", "nose"}).find("did you mean 'noise'"), std::string::npos);
  EXPECT_NE(said({"selftest", "--layout", "odd"}).find("known: random, fixed, both"), std::string::npos);
  EXPECT_NE(said({"selftest", "--target", "host", "--kernels", "copy/cuda_simple"}).find("is for target cuda"),
            std::string::npos);
  EXPECT_NE(said({"selftest", "--target", "host", "--kernels", "copy/simple@n4"}).find("n4k"), std::string::npos);
  for (const char* differences : {"much", "0.25", "0", "1,", "1e9", "nan"}) {
    EXPECT_NE(said({"selftest", "--differences", differences}).find("such as 0.3,1,-1"), std::string::npos)
        << differences;
  }
  for (const char* option : {"--comparisons", "--rounds"}) {
    for (const char* count : {"0", "-1", "many"}) {
      EXPECT_NE(said({"selftest", option, count}).find(option), std::string::npos) << count;
    }
  }
  EXPECT_NE(said({"selftest", "--seconds", "soon"}).find("'soon' is not a duration"), std::string::npos);
  EXPECT_NE(said({"compare", "copy/simple", "copy/memcpy", "--layout", "odd"}).find("known: random, fixed"),
            std::string::npos);
}

// A machine on which identical code once seemed to differ by a factor of e^6.
class NoisyMachine : public ::testing::Test {
 protected:
  void SetUp() override {
    Journal journal = Journal::open(place.path("journal.db"), Access::read_write);
    const Machine machine = describe_host();
    journal.add_machine(machine);
    Selftest selftest{.machine = machine.id, .rule_version = std::string(kRuleVersion)};
    selftest.kernels.push_back({.configuration = {"copy/simple", {}}, .workload = "n1m", .smallest_claim = 6});
    selftest.id = journal.begin_selftest(selftest);
    journal.finish_selftest(selftest);
    std::filesystem::create_directories(place.path("variants/copy"));
    place.write("variants/copy/slow.cpp", replaced(Workplace::variant("slow"), "y[i] = x[i];",
                                                   "for (volatile int k = 0; k < 4; k = k + 1) {}\n    y[i] = x[i];"));
  }
  Ran apo(std::vector<std::string> words) const {
    words.insert(words.end(), {"--journal", "journal.db"});
    return place.apo(words, 120);
  }
  Workplace place;
};

TEST_F(NoisyMachine, CompareRefusesToClaimALargeGain) {
  const Ran ran = apo({"compare", "copy/slow", "copy/simple", "--workload", "n4k", "--cache", "warm", "--judge",
                       "precise", "--skip-correctness", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.err.find("claims below"), std::string::npos) << ran.err;
  const Json judgement = only_document(ran)["judgement"];
  EXPECT_EQ(judgement["verdict"], "inconclusive") << judgement;
  EXPECT_EQ(judgement["reason"], "noisy") << judgement;
}

TEST_F(NoisyMachine, GateCannotTellWithAMarginBelowIt) {
  ASSERT_EQ(apo({"gate", "--store", "baseline.json", "copy/slow", "--workload", "n4k"}).exit_code, 0);
  place.write("variants/copy/slow.cpp", Workplace::variant("slow"));
  const Ran ran = apo({"gate", "--baseline", "baseline.json", "--margin", "50%"});
  EXPECT_EQ(ran.exit_code, 2) << ran.out;
  EXPECT_NE(ran.out.find("smaller than what this machine resolves"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace apo
