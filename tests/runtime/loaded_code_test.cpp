// tests/runtime/loaded_code_test.cpp - what the driver loaded against what was built, without a GPU.
#include <gtest/gtest.h>

#include <stdexcept>

#include "harness/core/hash.h"
#include "harness/core/system/files.h"
#include "harness/runtime/runtime.h"

namespace apo {
namespace {

const std::string kBuilt =
    "\x7f"
    "ELF code=A names=1";

// The machine code of these is what stands between "code=" and the blank behind it.
std::string code_of(std::string_view image) {
  const auto begin = image.find("code=");
  if (begin == std::string_view::npos) {
    throw std::runtime_error("no cubin");
  }
  return std::string(image.substr(begin, image.find(' ', begin) - begin));
}

TEST(LoadedCode, TheSameBytesAreTheSame) {
  EXPECT_FALSE(compare_loaded({kBuilt, kBuilt}, kBuilt, {}));
}

TEST(LoadedCode, TheSameMachineCodeInAnotherWrappingPasses) {
  const std::string other =
      "\x7f"
      "ELF code=A names=2";
  EXPECT_FALSE(compare_loaded({other}, kBuilt, code_of));
  EXPECT_TRUE(compare_loaded({other}, kBuilt, {})) << "nobody can tell";
}

TEST(LoadedCode, OtherMachineCodeIsAFaultWithBothHashes) {
  const std::string other =
      "\x7f"
      "ELF code=B names=1";
  const auto failure = compare_loaded({kBuilt, other}, kBuilt, code_of);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::faulted);
  for (const std::string& hash : {sha256(other).substr(0, 12), sha256(kBuilt).substr(0, 12)}) {
    EXPECT_NE(failure->evidence.find(hash), std::string::npos) << failure->evidence;
  }
}

TEST(LoadedCode, CodeThatTheDriverCompiledItselfIsNamedAsThat) {
  const auto failure = compare_loaded({kBuilt}, ".version 7.0 // code=A names=1", code_of);
  EXPECT_FALSE(failure) << "the same machine code, if the text had any";
  const auto compiled = compare_loaded({kBuilt}, ".version 7.0", code_of);
  ASSERT_TRUE(compiled);
  EXPECT_NE(compiled->evidence.find("it compiled that itself"), std::string::npos) << compiled->evidence;
}

TEST(LoadedCode, AFileThatChangedAfterTheBuildIsNotLoaded) {
  const TemporaryFolder folder("apo-object");
  Build build{.object_path = (folder.path() / "variant.cubin").string(), .object_hash = sha256(kBuilt)};
  build.plan.launches = {{.kernel = "k"}};
  write_file_atomically(build.object_path, kBuilt);
  EXPECT_FALSE(check_object(build));
  write_file_atomically(build.object_path, kBuilt + " ");
  const auto failure = check_object(build);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::faulted);
  EXPECT_NE(failure->evidence.find("is not what was built"), std::string::npos) << failure->evidence;
}

}  // namespace
}  // namespace apo
