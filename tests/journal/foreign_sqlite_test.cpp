// tests/journal/foreign_sqlite_test.cpp - exports of Nsight Systems, whole, partial and hostile.
#include "journal/foreign_sqlite.h"

#include <gtest/gtest.h>

#include <fstream>

#include "journal/facts/applications.h"
#include "journal/facts/campaigns.h"
#include "tests/journal/samples.h"
#include "tests/text.h"

namespace apo::test {
namespace {

constexpr const char* kNames =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
    "INSERT INTO StringIds VALUES (1, 'scale'), (2, 'scale(float *)'), (3, 'sgemm'), (4, 'sgemm');"
    "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT); INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H200');";
// The columns that this reads, among others that an export has.
constexpr const char* kKernels =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,"
    " contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,"
    " demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, demangledName, shortName) "
    "VALUES"
    " (1000, 1400, 0, 1, 7, 2, 1), (1500, 1600, 0, 1, 7, 2, 1), (1550, 2550, 0, 1, 8, 4, 3), (0, -1, 0, 1, 8, 4, 3);";
constexpr const char* kMemory =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, bytes INTEGER,"
    " copyKind INTEGER); INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (3000, 3100, 0, 4096, 1), (3200, 3300, 0, 64, "
    "2);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, value INTEGER, bytes "
    "INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (3400, 3410, 1, 0, 128);";

class Nsys : public ::testing::Test {
 protected:
  void make(const std::string& sql) const { ASSERT_EQ(attack(path_, sql), ""); }
  std::string error() const {
    return error_of([&] { read_nsys(path_); });
  }
  TemporaryFolder folder_{"apo-nsys-test"};
  std::filesystem::path path_ = folder_.path() / "it's a report.sqlite";
};

TEST_F(Nsys, GivesKernelsCopiesFillsAndGaps) {
  make(std::string(kNames) + kKernels + kMemory);
  const ApplicationProfile profile = read_nsys(path_);
  EXPECT_EQ(profile.source, "nsys");
  EXPECT_EQ(profile.device, "NVIDIA H200");
  const ProcessTimes& process = profile.processes.at(0);
  ASSERT_EQ(process.work.size(), 5U);
  EXPECT_EQ(process.work[0].name, "scale(float *)");
  EXPECT_EQ(process.work[0].calls, 2);
  EXPECT_EQ(process.work[0].total_ns, 500);
  EXPECT_EQ(process.work[0].min_ns, 100);
  EXPECT_EQ(process.work[0].max_ns, 400);
  EXPECT_EQ(process.work[2].name, "memcpy HtoD");
  EXPECT_EQ(process.work[2].bytes, 4096);
  EXPECT_EQ(process.work[4].kind, WorkKind::fill);
  EXPECT_EQ(process.untimed, 1) << "the kernel that ends before it starts";
  ASSERT_EQ(process.devices.size(), 2U);
  EXPECT_EQ(process.devices[0].span_ns(), 2'300);
  EXPECT_EQ(process.devices[0].busy_ns, 1'650) << "400 ns, then 1050 overlapped, then two copies of 100";
}

TEST_F(Nsys, OlderExportsHaveOnlyShortNames) {
  make(std::string(kNames) +
       "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, shortName INT);"
       "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 3, 0, 1), (4, 5, 0, 99);");
  const ApplicationProfile profile = read_nsys(path_);
  ASSERT_EQ(profile.processes.at(0).work.size(), 2U);
  EXPECT_EQ(profile.processes.at(0).work[0].name, "scale");
  EXPECT_EQ(profile.processes.at(0).work[1].name, "(no name)");
}

TEST_F(Nsys, OtherDatabasesAreRefusedWithTheCommandThatMakesOne) {
  make("CREATE TABLE bookmarks (url TEXT);");
  expect_contains(error(), "no table StringIds");
  expect_contains(error(), "nsys export --type sqlite");
}

TEST_F(Nsys, ACaptureWithoutCudaSaysSo) {
  make(kNames);
  expect_contains(error(), "was CUDA traced");
}

TEST_F(Nsys, TablesOfAnotherShapeAreRefused) {
  make(std::string(kNames) + "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (begin INT, end INT, demangledName INT);");
  expect_contains(error(), "no such column");
}

TEST_F(Nsys, AViewIsNotTakenForATable) {
  make(std::string(kNames) +
       "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE r(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM "
       "r)"
       " SELECT start, start + 1 AS end, 0 AS deviceId, 1 AS demangledName FROM r;");
  expect_contains(error(), "no table of kernels");
}

TEST_F(Nsys, TimesBeyondReasonAreRefusedBeforeASumOverflows) {
  make(std::string(kNames) + kKernels +
       "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, demangledName, shortName)"
       " VALUES (0, 9223372036854775807, 0, 1, 7, 2, 1), (0, 9223372036854775807, 0, 1, 7, 2, 1);");
  EXPECT_NE(error(), "");
}

TEST_F(Nsys, DamagedAndMissingFilesAreRefused) {
  EXPECT_NE(error(), "");
  make(std::string(kNames) + kKernels);
  const std::string whole = read_file(path_);
  std::ofstream(path_, std::ios::binary) << whole.substr(0, 5'000);
  EXPECT_NE(error(), "");
  std::ofstream(path_, std::ios::binary) << "SQLite format 3" << std::string(2'000, '\0');
  EXPECT_NE(error(), "");
}

TEST_F(Nsys, TheFileIsNotTouched) {
  make(std::string(kNames) + kKernels);
  const std::string before = read_file(path_);
  read_nsys(path_);
  EXPECT_EQ(read_file(path_), before);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST(Application, ComesBackFromTheJournal) {
  Scratch scratch;
  Journal journal = scratch.open();
  prepare(journal);
  EXPECT_FALSE(newest_application(journal));
  ApplicationProfile profile{.source = "run", .command = kAwkward, .exit_code = 3, .seconds = 1.5, .notes = {kAwkward}};
  profile.metrics = {{.kernel = "k", .name = "dram", .unit = "%", .mean = 80, .samples = 2}};
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
  add_application(journal, {.source = "ncu", .command = "empty"}, {}, "");
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
  EXPECT_EQ(recorded.metrics, profile.metrics);
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
