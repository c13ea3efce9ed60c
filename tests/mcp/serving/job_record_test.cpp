// tests/mcp/serving/job_record_test.cpp - when the end of a command is an answer, and that all answers fit the schema.
#include "harness/mcp/serving/job_record.h"

#include <gtest/gtest.h>

#include "harness/mcp/protocol/schema_check.h"
#include "harness/mcp/tools/schemas.h"

namespace apo::mcp {
namespace {

JobEnd ended(const std::string& tool, int exit_code, const std::string& output, const std::string& message = "") {
  return end_of(*find_tool(tool), Json::object(), {.exit_code = exit_code, .output = output, .error = message});
}

void expect_fits(const ToolAnswer& answer) {
  EXPECT_EQ(schema_fault(answer.structured, any_job_schema()), "") << answer.structured;
}

TEST(JobRecord, AWrongKernelIsAnAnswerOfEvaluate) {
  EXPECT_EQ(ended("evaluate", 1, R"({"verdict":"wrong"})").state, JobState::done);
  EXPECT_EQ(ended("evaluate", 3, R"({"verdict":"accepted"})").state, JobState::done);
  EXPECT_EQ(ended("verify", 3, R"({"outcome":"incorrect"})").state, JobState::done);
}

TEST(JobRecord, WhatWasNotDoneFailed) {
  EXPECT_EQ(ended("evaluate", 2, R"({"verdict":"not_judged"})").state, JobState::failed);
  EXPECT_EQ(ended("register", 3, R"({"state":"refused"})").state, JobState::failed);
  EXPECT_EQ(ended("evaluate", 1, "", "apo: unknown family").state, JobState::failed);
  EXPECT_EQ(ended("evaluate", 0, "no document").state, JobState::failed);
}

TEST(JobRecord, AnErrorOfTheCommandIsNoAnswerAlthoughItIsADocument) {
  const JobEnd end =
      ended("evaluate", 1, R"({"error":"unknown family","hint":"","exit_code":1})", "apo: unknown family");
  EXPECT_EQ(end.state, JobState::failed);
  EXPECT_EQ(ended_answer("j1", "evaluate", end).text, "apo: unknown family");
}

TEST(JobRecord, ACancelledJobIsNoErrorForWhoWaits) {
  const ToolAnswer answer = ended_answer("j1", "evaluate", {.state = JobState::cancelled, .message = "cancelled"});
  EXPECT_FALSE(answer.is_error);
  EXPECT_EQ(answer.structured["state"], "cancelled");
  EXPECT_EQ(Json::parse(answer.text), answer.structured);
  expect_fits(answer);
}

TEST(JobRecord, AFailureWithoutADocumentIsReadAsItsMessage) {
  const ToolAnswer answer = ended_answer("j1", "evaluate", ended("evaluate", 1, "", "apo: unknown family"));
  EXPECT_TRUE(answer.is_error);
  EXPECT_EQ(answer.text, "apo: unknown family");
  EXPECT_EQ(answer.structured["exit_code"], 1);
  expect_fits(answer);
}

TEST(JobRecord, AFailureWithADocumentIsReadAsTheDocument) {
  const ToolAnswer answer =
      ended_answer("j1", "register", ended("register", 3, R"({"state":"refused","log":"error: expected ';'"})"));
  EXPECT_TRUE(answer.is_error);
  EXPECT_NE(answer.text.find("expected ';'"), std::string::npos);
  expect_fits(answer);
}

TEST(JobRecord, ACrashOfTheCommandIsNamed) {
  const JobEnd end = end_of(*find_tool("evaluate"), {}, {.signal = 11, .output = "{}", .error = "last words"});
  EXPECT_EQ(end.state, JobState::failed) << "a document that a crash followed proves nothing";
  const JobEnd without = end_of(*find_tool("evaluate"), {}, {.signal = 11, .error = "last words"});
  EXPECT_NE(without.message.find("SIGSEGV"), std::string::npos) << without.message;
  EXPECT_NE(without.message.find("last words"), std::string::npos);
  EXPECT_FALSE(without.exit_code);
  expect_fits(ended_answer("j1", "evaluate", without));
}

TEST(JobRecord, TheEndHasTheShortenedDocument) {
  EXPECT_EQ(ended("verify", 0, R"({"gates":[{"gate":"build","steps":[1,2]}]})").document,
            R"({"gates":[{"gate":"build"}]})");
}

TEST(JobRecord, ARunningJobNamesItsHandle) {
  const ToolAnswer answer = running_answer("j7", "evaluate", 2.5, "round 3");
  EXPECT_FALSE(answer.is_error);
  EXPECT_EQ(answer.structured["state"], "running");
  EXPECT_EQ(answer.structured["job"], "j7");
  EXPECT_EQ(answer.structured["progress"], "round 3");
  EXPECT_EQ(Json::parse(answer.text), answer.structured);
  expect_fits(answer);
}

TEST(JobRecord, AnInterruptedJobSaysWhichExperimentsFinished) {
  JobRow job{.id = 3, .tool = "evaluate"};
  job.experiments = {{.id = 8, .candidate = "copy/a", .state = "finished", .verdict = "reverted"}};
  const ToolAnswer answer = interrupted_answer(job);
  EXPECT_TRUE(answer.is_error);
  EXPECT_EQ(answer.structured["state"], "interrupted");
  EXPECT_EQ(answer.structured["experiments"][0]["id"], 8);
  EXPECT_EQ(answer.structured["experiments"][0]["verdict"], "reverted");
  expect_fits(answer);
  expect_fits(interrupted_answer({.id = 4, .tool = "compare"}));
}

TEST(JobRecord, HandlesAreReadBack) {
  EXPECT_EQ(job_number(job_name(12)), 12);
  for (const std::string name : {"", "j", "12", "j-1", "j1x", "J1", "j1 ", "j99999999999999999999"}) {
    EXPECT_FALSE(job_number(name)) << name;
  }
}

TEST(JobRecord, TheJournalKeepsASourceByItsHash) {
  const std::string kept = kept_arguments({{"family", "copy"}, {"source", "abc"}});
  EXPECT_EQ(kept, R"({"family":"copy","source":{"bytes":3,"sha256":)"
                  R"("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}})");
}

}  // namespace
}  // namespace apo::mcp
