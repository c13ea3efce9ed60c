// tests/loop/proposers/ask_proposers_test.cpp - whatever a proposer does, its call comes back, and nothing of it stays.
#include "harness/loop/proposers/ask_proposers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/core/text.h"
#include "tests/processes.h"
#include "tests/text.h"

namespace apo {
namespace {

ProposerCall call_of(const std::string& command, double timeout_s) {
  SilentObserver observer;
  return ask_proposers({.commands = {command}, .timeout_s = timeout_s}, "a brief", observer).front().call;
}

TEST(AskProposers, OneThatNeverAnswersIsEndedWithAllThatItHasStarted) {
  const std::string number = std::to_string(100000 + getpid());
  const ProposerCall call = call_of("sleep " + number + " & sleep " + number, 0.3);
  EXPECT_EQ(call.outcome, ProposerOutcome::timed_out);
  EXPECT_EQ(call.note, "it was ended after 300 ms");
  const auto runs = [&](int pid) {
    return testing::is_running(pid) && testing::process_file(pid, "cmdline").ends_with(number + '\0');
  };
  EXPECT_TRUE(testing::comes_about([&] { return std::ranges::none_of(testing::all_processes(), runs); }));
}

TEST(AskProposers, FaultsHaveTheirOutcomes) {
  const struct {
    const char* command;
    ProposerOutcome outcome;
    const char* note;
  } faults[] = {{"kill -9 $$", ProposerOutcome::failed, "it was ended by SIGKILL"},
                {"echo out of tokens >&2; exit 3", ProposerOutcome::failed, "it ended with exit code 3: out of tokens"},
                {"yes", ProposerOutcome::flooded, "it printed more than 16.00 MiB and was ended"},
                {"cat >/dev/null", ProposerOutcome::answered, "it proposed nothing"}};
  for (const auto& fault : faults) {
    const ProposerCall call = call_of(fault.command, 1000);
    EXPECT_EQ(call.outcome, fault.outcome) << fault.command;
    EXPECT_TRUE(call.note.starts_with(fault.note)) << call.note;
  }
}

}  // namespace
}  // namespace apo
