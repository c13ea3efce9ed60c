// tests/cli/improve/missing_compiler_test.cpp - a campaign that cannot build is not begun.
#include <gtest/gtest.h>

#include "journal/journal.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

TEST(Run, WithoutACompilerBeginsNoCampaign) {
  const Workplace place;
  const Ran ran = place.apo_with_environment({"run", "copy", "--target", "host", "-q"}, {"PATH=/nowhere"});
  EXPECT_EQ(ran.exit_code, 2) << ran.out;
  EXPECT_NE(ran.err.find("apt-get install g++"), std::string::npos) << ran.err;
  Journal journal = Journal::open(place.path(".apo/journal.db"), Access::read_only);
  EXPECT_TRUE(journal.campaigns().empty());
}

}  // namespace
}  // namespace apo
