// tests/journal/facts/applications_test.cpp - a profile of an application comes back as it was.
#include "journal/facts/applications.h"

#include <gtest/gtest.h>

#include "journal/facts/campaigns.h"
#include "tests/journal/samples.h"
#include "tests/text.h"

namespace apo::test {
namespace {

TEST(Application, ComesBackFromTheJournal) {
  Scratch scratch;
  Journal journal = scratch.open();
  prepare(journal);
  EXPECT_FALSE(newest_application(journal));
  ApplicationProfile profile{.command = kAwkward, .exit_code = 3, .seconds = 1.5, .notes = {kAwkward}};
  ApplicationSummary summary{.total_ns = 100, .span_ns = 400, .busy_ns = 90, .longest_gap_ns = 50};
  summary.work = {{.work = {.name = kAwkward, .calls = 2, .total_ns = 75, .min_ns = 30, .max_ns = 45},
                   .category = "GEMM",
                   .share = 0.75},
                  {.work = {.kind = WorkKind::copy, .name = "memcpy HtoD", .calls = 1, .total_ns = 25, .bytes = 8},
                   .category = "copies",
                   .share = 0.25}};
  summary.gaps[2] = {.count = 3, .ns = 310};
  summary.ranges = {{.name = "step", .path = "step", .entered = 4, .calls = 3, .total_ns = 90, .own_ns = 20},
                    {.name = kAwkward,
                     .path = std::string("step / ") + kAwkward,
                     .depth = 1,
                     .entered = 4,
                     .calls = 1,
                     .total_ns = 70,
                     .own_ns = 70,
                     .categories = {{.name = "GEMM", .calls = 1, .total_ns = 70}}}};
  const std::int64_t id = add_application(journal, profile, summary, "cpu-1");
  add_application(journal, {.command = "empty"}, {}, "cpu-1");
  for (WorkRow& row : summary.work) {
    row.ceiling = 1 / (1 - row.share);
  }
  const auto read = newest_application(journal);
  ASSERT_TRUE(read) << "the one with GPU time";
  EXPECT_EQ(read->id, id);
  EXPECT_EQ(read->summary.span_ns, 400);
  EXPECT_EQ(read->summary.work, summary.work);
  const RecordedApplication recorded = applications_of(journal, begin_campaign(journal, a_campaign())).back();
  EXPECT_EQ(recorded.command, kAwkward);
  EXPECT_EQ(recorded.notes, profile.notes);
  EXPECT_EQ(recorded.work, summary.work);
  EXPECT_EQ(recorded.kernels, 2);
  summary.ranges[0].share = 0.9;
  summary.ranges[1].share = 0.7;
  EXPECT_EQ(recorded.ranges, summary.ranges);
  EXPECT_TRUE(journal.check_integrity().empty());
  for (const char* table : {"application_work", "application_range", "application_range_category"}) {
    EXPECT_NE(attack(scratch.path, std::string("DELETE FROM ") + table), "") << "facts stay";
  }
}

}  // namespace
}  // namespace apo::test
