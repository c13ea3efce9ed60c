// tests/loop/workspace/application_share_test.cpp - a campaign learns from the journal what its kernels are worth to an
// application.
#include <gtest/gtest.h>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/loop/workspace/known.h"
#include "journal/facts/applications.h"
#include "journal/facts/machines.h"

namespace apo {
namespace {

class Listener : public Observer {
 public:
  void say(const std::string& line) override { said += line + "\n"; }
  void progress(const Progress&) override {}
  std::string said;
};

class ApplicationShare : public ::testing::Test {
 protected:
  void add(std::int64_t e88_ns, std::int64_t rest_ns, std::int64_t span_ns) {
    ApplicationSummary summary{.total_ns = e88_ns + rest_ns, .span_ns = span_ns};
    summary.work = {{.work = {.name = "e88_backward_kernel", .calls = 1, .total_ns = e88_ns}},
                    {.work = {.name = "sgemm", .calls = 1, .total_ns = rest_ns}}};
    add_machine(journal_, {.id = "here"});
    add_application(journal_, {.command = "train"}, summary, "here");
  }
  std::string error_of(const std::string& pattern) {
    try {
      application_share(journal_, pattern, listener_);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }
  TemporaryFolder folder_;
  Journal journal_ = Journal::open(folder_.path() / "journal.db", Access::read_write);
  Listener listener_;
};

TEST_F(ApplicationShare, IsOneWhereTheCampaignNamesNoKernels) {
  EXPECT_EQ(application_share(journal_, "", listener_), 1);
  EXPECT_EQ(listener_.said, "");
}

TEST_F(ApplicationShare, ComesFromTheNewestProfileAndCountsIdleTime) {
  add(900, 100, 1'000);
  add(300, 100, 1'200);
  EXPECT_DOUBLE_EQ(application_share(journal_, "E88.*backward", listener_), 0.25);
  EXPECT_NE(listener_.said.find("25 % of the time of 'train'"), std::string::npos) << listener_.said;
  EXPECT_NE(listener_.said.find("1.33x"), std::string::npos) << listener_.said;
}

TEST_F(ApplicationShare, WithoutAProfileOrSuchAKernelIsTheUsersMistake) {
  EXPECT_NE(error_of("e88").find("no profile of one"), std::string::npos);
  add(1, 1, 2);
  EXPECT_NE(error_of("attention").find("nothing in application profile 1"), std::string::npos) << error_of("attention");
}

}  // namespace
}  // namespace apo
