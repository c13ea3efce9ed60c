// tests/loop/proposers/proposals_test.cpp - what becomes of a proposed text before it is judged.
#include "harness/loop/proposers/proposals.h"

#include <gtest/gtest.h>

#include "harness/core/error.h"

namespace apo {
namespace {

const std::string kCode = "void copy(const float* x, float* y, int64_t n) {}\n";

Variant incumbent() {
  Variant variant;
  variant.family = "copy";
  variant.name = "simple";
  variant.path = "simple.cpp";
  variant.source =
      "// apo:variant copy/simple\n// apo:target host\n// apo:technique scalar-loop\n// apo:idea First.\n"
      "// apo:parent copy/root\n" +
      kCode;
  return variant;
}

std::string text(const ProposedCandidate& candidate, const std::string& source) {
  return with_metadata(candidate, source, false, incumbent());
}

TEST(ProposalText, WhatWasSaidBesideItBecomesItsBlock) {
  ProposedCandidate candidate{.idea = "Copies more.", .techniques = {"memcpy"}};
  candidate.prediction = Prediction{.low = 1.05, .high = 1.2, .because = "wide stores"};
  EXPECT_EQ(text(candidate, kCode),
            "// apo:technique memcpy\n// apo:idea Copies more.\n"
            "// apo:predict 1.05x..1.2x over parent: wide stores\n// apo:parent copy/simple\n" +
                kCode);
  EXPECT_EQ(with_metadata({.idea = "Copies more."}, "def copy():\n    pass\n", true, incumbent()),
            "# apo:idea Copies more.\n# apo:parent copy/simple\ndef copy():\n    pass\n");
}

TEST(ProposalText, WhatWasCopiedFromTheIncumbentDoesNotHold) {
  EXPECT_EQ(text({}, incumbent().source),
            "// apo:parent copy/simple\n// apo:target host\n// apo:technique scalar-loop\n" + kCode)
      << "name, idea and parent are the incumbent's; target and techniques hold";
}

TEST(ProposalText, ItsOwnBlockHoldsWhereNothingWasSaidBesideIt) {
  const std::string own = "// apo:idea Mine.\n// apo:parent copy/other\n// apo:technique memcpy\n" + kCode;
  EXPECT_EQ(text({.techniques = {"memcpy"}}, own), own);
  EXPECT_EQ(text({.parent = "copy/third", .idea = "Better."}, own),
            "// apo:idea Better.\n// apo:parent copy/third\n// apo:technique memcpy\n" + kCode);
}

TEST(ProposalText, ABlockOfAnotherFamilyIsRefusedWithItsLine) {
  EXPECT_EQ(text({}, "// apo:variant again\n" + kCode), text({}, "// apo:variant copy/again\n" + kCode));
  try {
    text({}, "// apo:idea Mine.\n// apo:variant matmul/again\n" + kCode);
    FAIL() << "it was renamed";
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()),
              "the proposed source:2: 'matmul/again' is of family matmul, and this campaign is of copy");
    EXPECT_EQ(error.hint(), "write 'copy/NAME', or leave the apo:variant line out");
  }
}

TEST(ProposalText, NoWordOfAnAuthorBecomesALineOfItsOwn) {
  ProposedCandidate candidate{.techniques = {"a\n// apo:launch evil grid=1 block=1"}};
  EXPECT_EQ(text(candidate, kCode).find("\n// apo:launch"), std::string::npos);
}

TEST(ProposalText, WhatIsNoTextIsRefused) {
  EXPECT_THROW(text({}, ""), UserError);
  EXPECT_THROW(text({}, std::string("a\0b", 3)), UserError);
  EXPECT_THROW(text({}, "\xff\xfe"), UserError);
}

}  // namespace
}  // namespace apo
