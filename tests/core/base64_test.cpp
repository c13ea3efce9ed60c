// tests/core/base64_test.cpp - bytes there and back, and texts that are none.
#include "harness/core/base64.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

TEST(Base64, IsThatOfTheStandard) {  // RFC 4648, section 10
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, BytesComeBackWhateverTheyAre) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) {
    bytes += static_cast<char>(i * 7);
    EXPECT_EQ(bytes_of_base64(base64(bytes)), bytes);
  }
}

TEST(Base64, ATextWithOtherLettersOrALengthThatIsNoneIsRefused) {
  EXPECT_FALSE(bytes_of_base64("Zg="));
  EXPECT_FALSE(bytes_of_base64("Zg\n="));
  EXPECT_FALSE(bytes_of_base64("Z==="));
  EXPECT_FALSE(bytes_of_base64("Zg==Zg=="));
}

}  // namespace
}  // namespace apo
