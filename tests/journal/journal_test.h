// tests/journal/journal_test.h - a test with a journal of its own, open for writing.
#pragma once

#include <gtest/gtest.h>

#include "tests/journal/samples.h"

namespace apo::test {

class JournalTest : public ::testing::Test {
 protected:
  Scratch scratch;
  Journal journal = scratch.open();
};

// With what `prepare` registers.
class PreparedTest : public JournalTest {
 protected:
  PreparedTest() { prepare(journal); }
};

}  // namespace apo::test
