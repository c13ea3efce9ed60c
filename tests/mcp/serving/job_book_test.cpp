// tests/mcp/serving/job_book_test.cpp - rows of jobs, written beside the thread that serves.
#include "harness/mcp/serving/job_book.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <optional>

#include "journal/database.h"
#include "tests/processes.h"

namespace apo::mcp {
namespace {

class JobBooks : public ::testing::Test {
 protected:
  // Delivers until there is an answer.
  template <class Answer>
  Answer wait_for(const std::optional<Answer>& answer) {
    EXPECT_TRUE(testing::comes_about([&] {
      pollfd one{book_.wake_descriptor(), POLLIN, 0};
      poll(&one, 1, 100);
      book_.deliver();
      return answer.has_value();
    }));
    return answer.value_or(Answer());
  }
  struct Begun {
    std::int64_t id = 0;
    std::string trouble;
  };
  Begun begin() {
    std::optional<Begun> begun;
    book_.begin({.tool = "evaluate", .arguments = "{}"},
                [&](std::int64_t id, const std::string& trouble) { begun = {.id = id, .trouble = trouble}; });
    return wait_for(begun);
  }
  std::string finish(std::int64_t id) {
    std::optional<std::string> trouble;
    book_.finish(id, {.state = JobState::cancelled}, [&](const std::string& what) { trouble = what; });
    return wait_for(trouble);
  }
  struct Loaded {
    JobBook::Found found;
    std::string trouble;
  };
  Loaded load(std::int64_t id) {
    std::optional<Loaded> loaded;
    book_.load(id, [&](const JobBook::Found& found, const std::string& trouble) {
      loaded = {.found = found, .trouble = trouble};
    });
    return wait_for(loaded);
  }
  std::filesystem::path journal() const { return folder_.path() / "sub" / "journal.db"; }

  TemporaryFolder folder_;
  JobBook book_{journal()};
};

TEST_F(JobBooks, AJobIsInTheJournalFromItsBegin) {
  const Begun begun = begin();
  EXPECT_EQ(begun.trouble, "");
  EXPECT_EQ(Journal::open(journal(), Access::read_only).job(begun.id)->tool, "evaluate");
  EXPECT_TRUE(load(begun.id).found.has_server);
  EXPECT_EQ(finish(begun.id), "");
  const Loaded ended = load(begun.id);
  EXPECT_EQ(ended.found.job->end->state, JobState::cancelled);
  EXPECT_TRUE(book_.is_idle());
}

TEST_F(JobBooks, TheJournalIsOpenOnlyWhileJobsRun) {
  const std::int64_t one = begin().id;
  const std::int64_t two = begin().id;
  finish(one);
  EXPECT_TRUE(load(two).found.has_server);
  finish(two);
  std::filesystem::remove_all(journal().parent_path());
  EXPECT_EQ(begin().id, 1) << "of a new journal";
}

TEST_F(JobBooks, TroubleIsWordsForThoseWhoAsk) {
  EXPECT_NE(load(1).trouble.find("there is no journal"), std::string::npos);
  const std::int64_t id = begin().id;
  EXPECT_FALSE(load(id + 1).found.job);
  EXPECT_EQ(load(id + 1).trouble, "");
  finish(id);
  EXPECT_NE(finish(id), "") << "a job ends once";
  std::filesystem::remove_all(journal().parent_path());
  write_file_atomically(journal().parent_path(), "in the way");
  const Begun begun = begin();
  EXPECT_NE(begun.trouble, "");
  EXPECT_EQ(begun.id, 0);
}

TEST_F(JobBooks, WhatWaitsForALockedJournalDelaysNobody) {
  { const Journal created = Journal::open(journal(), Access::read_write); }
  std::optional<Begun> begun;
  {
    Database lock(journal(), Access::read_write);
    lock.execute("BEGIN EXCLUSIVE");
    book_.begin({.tool = "evaluate", .arguments = "{}"},
                [&](std::int64_t id, const std::string& trouble) { begun = {.id = id, .trouble = trouble}; });
    book_.deliver();
    EXPECT_FALSE(begun);
    EXPECT_FALSE(book_.is_idle());
  }
  EXPECT_EQ(wait_for(begun).trouble, "");
  finish(begun->id);
}

}  // namespace
}  // namespace apo::mcp
