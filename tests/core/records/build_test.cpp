// tests/core/records/build_test.cpp - how a build's resources are printed.
#include "harness/core/records/build.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

TEST(Build, ResourcesInBytesHaveTheirUnitAndCountsHaveNone) {
  const Build build{.resources = {{"registers", 32}, {"shared_bytes", 0}, {"text_bytes", 49152}}, .plan = {}};
  EXPECT_EQ(resources_text(build), "registers 32, shared 0 B, text 48.00 KiB");
  EXPECT_EQ(resources_text({}), "");
}

}  // namespace
}  // namespace apo
