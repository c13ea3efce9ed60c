// tests/loop/space/record_space_test.cpp - what a file says of a configuration, and which files a recording goes on
// with.
#include "harness/loop/space/record_space.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/loop/space/kept_space.h"

namespace apo {
namespace {

Experiment timed() {
  Experiment experiment{
      .gates = {{.gate = "build", .seconds = 0.5},
                {.gate = "correctness", .seconds = 0.25},
                {.gate = "sanitizers", .seconds = 0.125},
                {.gate = "timing", .seconds = 1}},
      .rounds = {{.workloads = {{.workload = "n4k", .candidate_median_ns = 2000}}},
                 {.workloads = {{.workload = "n4k", .candidate_median_ns = 9000}}, .void_why = "noise"}},
      .judgement = Judgement{.reason = Reason::ranked},
      .started_at = "2026-11-24T14:00:00Z"};
  experiment.judgement->effect = std::log(1.25);
  experiment.judgement->lower = std::log(1.2);
  experiment.judgement->upper = std::log(1.3);
  experiment.judgement->rounds = 6;
  experiment.judgement->seconds = 2;
  experiment.judgement->candidate_ns = 2000;
  return experiment;
}

Experiment failed_at(const std::string& gate, Outcome outcome) {
  Experiment experiment{.gates = {{.gate = gate, .outcome = outcome, .evidence = "why"}},
                        .judgement = Judgement{.verdict = Verdict::reverted, .reason = Reason::gate_failed},
                        .outcome = outcome};
  if (gate == "sanitizers") {
    experiment.gates.insert(experiment.gates.begin(), {.gate = "correctness"});
  }
  return experiment;
}

TEST(SpaceResult, OfATimedConfigurationHasTimesInMilliseconds) {
  const T4Configuration configuration = to_t4({{"K", 64}});
  ASSERT_TRUE(is_measured(timed()));
  const T4Result result = result_of(timed(), configuration);
  EXPECT_EQ(result.configuration, configuration);
  EXPECT_EQ(result.invalidity, Invalidity::correct);
  EXPECT_EQ(result.correctness, 1);
  EXPECT_DOUBLE_EQ(result.times.compilation, 500);
  EXPECT_DOUBLE_EQ(result.times.validation, 375);
  EXPECT_DOUBLE_EQ(result.times.benchmark, 1000);
  EXPECT_DOUBLE_EQ(result.times.framework, 125);
  ASSERT_EQ(result.times.runtimes.size(), 1U) << "a void round does not count";
  EXPECT_DOUBLE_EQ(result.times.runtimes[0], 0.002);
  ASSERT_EQ(result.measurements.size(), 4U);
  EXPECT_EQ(result.measurements[0].name, "time");
  EXPECT_DOUBLE_EQ(result.measurements[0].value, 0.002);
  EXPECT_EQ(result.measurements[0].unit, "ms");
  EXPECT_DOUBLE_EQ(result.measurements[1].value, 1.25);
  EXPECT_EQ(result.reason, "");
}

TEST(SpaceResult, OfAConfigurationThatFailsSaysHowAndWhy) {
  struct Case {
    const char* gate;
    Outcome outcome;
    Invalidity invalidity;
    double correctness;
  };
  for (const Case& one : {Case{"build", Outcome::build_failed, Invalidity::compile, 0},
                          Case{"correctness", Outcome::incorrect, Invalidity::correctness, 0},
                          Case{"correctness", Outcome::timed_out, Invalidity::timeout, 0},
                          Case{"correctness", Outcome::faulted, Invalidity::runtime, 0},
                          Case{"sanitizers", Outcome::faulted, Invalidity::runtime, 1},
                          Case{"metadata", Outcome::refused, Invalidity::constraints, 0}}) {
    const Experiment experiment = failed_at(one.gate, one.outcome);
    ASSERT_TRUE(is_measured(experiment)) << one.gate;
    const T4Result result = result_of(experiment, {});
    EXPECT_EQ(result.invalidity, one.invalidity) << one.gate;
    EXPECT_EQ(result.correctness, one.correctness) << one.gate;
    EXPECT_EQ(result.reason, std::string(one.gate) + ": why");
    EXPECT_TRUE(result.measurements.empty());
  }
}

TEST(SpaceResult, AFailureOfTheMachineOrOfTheReferenceIsNoResult) {
  EXPECT_FALSE(is_measured(failed_at("timing", Outcome::unstable_clock)));
  Experiment reference = failed_at("timing", Outcome::faulted);
  reference.judgement->reason = Reason::interrupted;
  EXPECT_FALSE(is_measured(reference));
  Experiment untimed = timed();
  untimed.judgement->rounds = 0;
  untimed.judgement->reason = Reason::interrupted;
  EXPECT_FALSE(is_measured(untimed));
}

class KeptSpace : public ::testing::Test {
 protected:
  KeptSpace() {
    variant_.family = "copy";
    variant_.name = "parallel";
    variant_.tunables = {{.name = "K", .values = {1, 2}}};
  }
  T4Origin origin() const {
    return {.variant = "copy/parallel",
            .source_hash = "h",
            .workload = "n4k",
            .machine = "m",
            .cache = "cold",
            .reference = ""};
  }
  std::string error_of(const T4File& file) const {
    write_file_atomically(path(), to_text(file));
    try {
      static_cast<void>(kept_space(path(), origin(), variant_, {{{"K", 1}}, {{"K", 2}}}));
    } catch (const UserError& error) {
      return error.what() + std::string(" | ") + error.hint();
    }
    return "";
  }
  std::filesystem::path path() const { return folder_.path() / "space.json"; }
  T4File file_of(const T4Configuration& configuration) const {
    return {.origin = origin(), .results = {{.configuration = configuration}}};
  }

  TemporaryFolder folder_;
  Variant variant_;
};

TEST_F(KeptSpace, WithoutAFileIsEmpty) {
  EXPECT_TRUE(kept_space(path(), origin(), variant_, {}).results.empty());
}

TEST_F(KeptSpace, GoesOnWithTheFilesResultsAndReference) {
  T4File file = file_of({{"K", std::int64_t{2}}});
  file.origin->reference = "copy/parallel[K=2]";
  file.origin->seed = 12345;
  write_file_atomically(path(), to_text(file));
  EXPECT_EQ(kept_space(path(), origin(), variant_, {{{"K", 1}}, {{"K", 2}}}), file);
}

TEST_F(KeptSpace, AFileHasOneRecordingAtATime) {
  {
    const LockFile first = only_recording_into(path());
    try {
      static_cast<void>(only_recording_into(path()));
      ADD_FAILURE() << "a second recording began";
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("another 'apo space' is recording into"), std::string::npos);
      EXPECT_NE(std::string(error.hint()).find("--output"), std::string::npos);
    }
    EXPECT_NO_THROW(static_cast<void>(only_recording_into(folder_.path() / "other.json")));
  }
  EXPECT_NO_THROW(static_cast<void>(only_recording_into(path()))) << "the first one has ended";
}

TEST_F(KeptSpace, AFileOfAnotherSpaceIsAnError) {
  const T4File file = file_of({{"K", std::int64_t{1}}});
  const auto with = [&](std::string T4Origin::*member) {
    T4File other = file;
    (*other.origin).*member = "another";
    return error_of(other);
  };
  EXPECT_EQ(error_of(file), "");
  EXPECT_NE(with(&T4Origin::variant).find("holds a space of variant 'another', and 'copy/parallel' was asked for"),
            std::string::npos);
  EXPECT_NE(with(&T4Origin::workload).find("workload 'another'"), std::string::npos);
  EXPECT_NE(with(&T4Origin::machine).find("machine 'another'"), std::string::npos);
  EXPECT_NE(with(&T4Origin::cache).find("caches 'another'"), std::string::npos);
  EXPECT_NE(with(&T4Origin::source_hash).find("another text of copy/parallel"), std::string::npos);
  T4File foreign = file;
  foreign.origin.reset();
  EXPECT_NE(error_of(foreign).find("written by another program"), std::string::npos);
}

TEST_F(KeptSpace, AParameterOfAnotherVariantIsAnError) {
  EXPECT_NE(error_of(file_of({{"k", std::int64_t{1}}})).find("copy/parallel has no tunable 'k'"), std::string::npos);
  EXPECT_NE(error_of(file_of({{"K", 1.5}})).find("has no tunable 'K' with such a value, in the result K=1.5"),
            std::string::npos);
  EXPECT_NE(error_of(file_of({{"K", std::int64_t{3}}})).find("K=3 is no legal configuration"), std::string::npos);
}

}  // namespace
}  // namespace apo
